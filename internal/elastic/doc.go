// Package elastic is the client for Elasticsearch 8.6 and later: connections, errors
// that people can act on, and the bulk protocol. Whoever sends or reads documents goes
// through it; what the documents mean is none of its business, and it neither logs nor
// prints.
//
// A [Client] sends requests of esapi, or plain ones of its own ([Request]), with
// [Client.Do]. What can be sent twice without harm is sent again when the server cannot
// be reached or is overloaded; bulk requests ([Client.Bulk]) are sent once, because
// their caller knows which documents are left.
//
// Every answer is read up to a limit, every request ends with its context or after
// [Config].Timeout, and no error, text or dump shows a password or API key.
package elastic
