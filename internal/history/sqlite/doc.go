// Package sqlite is the embedded history: one file, an SQLite database. Each document is compressed and has a
// checksum. Each Put and each Finish is one transaction.
package sqlite
