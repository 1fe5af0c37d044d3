// Package es is the client for Elasticsearch 8.6 and later, and for Kibana. It has connections, retries, the bulk
// protocol, and errors that say what to do. It does not know the meaning of documents, and it neither logs nor
// prints.
//
// A [Client] sends requests with [Client.Do]: the types of go-elasticsearch (esapi), and any [Request]. It retries
// requests that can be sent twice without harm, while the server cannot be reached, is overloaded, or has full
// disks. It does so for up to [Config].GiveUpAfter, and reports it to [Config].Waiting. Bulk requests
// ([Client.Bulk]) are sent once, because only the caller knows which documents are left.
//
// Every answer has a size limit. Every request ends with its context or after [Config].Timeout. No error, text or
// dump shows a password or an API key.
package es
