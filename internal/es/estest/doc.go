// Package estest is a stand-in for Elasticsearch in the process of a test. It keeps documents, and its answers
// follow recorded answers of Elasticsearch 8.6.1. Tests can make requests fail with [Server.Script]. It is strict:
// an unknown query, parameter or key is an error. As in a real cluster, searches see documents only after a refresh.
// It has no users.
//
// [Server.Start] listens on the loopback interface. [Server.Pipe] makes connections in memory, which
// testing/synctest needs.
package estest
