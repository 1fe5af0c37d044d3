// Package es is the client for Elasticsearch 8.6 and later, and for Kibana: connections, errors
// that people can act on, retries, and the bulk protocol. It knows nothing of what documents
// mean, and it neither logs nor prints.
//
// A [Client] sends requests with [Client.Do]: the types of go-elasticsearch (esapi), and any
// [Request]. It retries requests that can be sent twice without harm while the server cannot
// be reached, is overloaded, or has full disks, for up to [Config].GiveUpAfter, and reports
// this to [Config].Waiting. Bulk requests ([Client.Bulk]) are sent once, because only their
// caller knows which documents are left.
//
// Every answer is read up to a limit, every request ends with its context or after
// [Config].Timeout, and no error, text or dump shows a password or API key.
package es
