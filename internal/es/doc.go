// Package es is the client for Elasticsearch 8.6 and later: connections, errors
// that people can act on, and the bulk protocol. Whoever sends or reads documents goes
// through it; what the documents mean is none of its business, and it neither logs nor
// prints.
//
// A [Client] sends requests with [Client.Do]: those that go-elasticsearch has types for (esapi),
// and any [Request]. What can be sent twice without harm is sent
// again while the server cannot be reached, is overloaded, or has full disks, as long as
// [Config].GiveUpAfter says; [Config].Waiting hears of it. Bulk requests ([Client.Bulk]) are
// sent once, because their caller knows which documents are left.
//
// Every answer is read up to a limit, every request ends with its context or after
// [Config].Timeout, and no error, text or dump shows a password or API key.
package es
