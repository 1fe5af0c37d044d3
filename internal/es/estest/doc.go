// Package estest is a stand-in for Elasticsearch, in the process of a test: it
// answers what fio2es asks as a real 8.6.1 was recorded to answer, keeps the documents,
// and fails where the test says so. It has no mappings, one kind of query, and no users.
//
// [Server.Start] listens on the loopback interface; [Server.Pipe] makes connections in
// memory, which is what testing/synctest needs.
package estest
