// Package pipeline turns archives and logs into documents. It is the only package that uses
// all stages, which run one way:
//
//	source     finds files in folders and archives and unpacks them
//	cbt        finds the files of each run and its configuration
//	fiolog     parses logs and reports
//	align      puts rows onto common windows, weights and merges them
//	mapping    makes documents
//
// [Open] finds runs, [Read] makes documents of one, [Ingest] stores them.
package pipeline
