// Package sqlite is the embedded history: one file, a database of SQLite. A document is
// compressed and has a checksum, and each Put and each Finish is one transaction.
package sqlite
