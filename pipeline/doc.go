// Package pipeline turns archives and logs into documents. It is the only package that uses
// all stages, which run one way:
//
//	source     finds files in folders and archives and unpacks them
//	cbt        finds the files of each run and its configuration
//	fiolog     parses logs and reports
//	plan       decides which rows are used and when each job ran; opens no file
//	align      puts rows onto common windows, weights and merges them
//	mapping    makes documents of windows that are stored
//
// [Open] finds runs, [Read] makes windows of one, [Ingest] stores their documents.
package pipeline
