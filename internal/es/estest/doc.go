// Package estest is a stand-in for Elasticsearch, in the process of a test: it
// answers what fio2es asks as a real 8.6.1 was recorded to answer, keeps the documents,
// and fails where the test says so. It is strict: queries, parameters and keys that it does not
// know are errors. As with a real one, documents are found only after a refresh. It has no users.
//
// [Server.Start] listens on the loopback interface; [Server.Pipe] makes connections in
// memory, which is what testing/synctest needs.
package estest
