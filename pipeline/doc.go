// Package pipeline turns archives and logs into documents. It is the one package that
// knows all rooms of the road, which run one way:
//
//	source     where bytes come from: files, folders, archives, compressed or not
//	cbt        which of them make up a run, and how it was configured
//	fiolog     what a line means
//	align      when it happened: common windows, weights, merging
//	mapping    documents
//	sink       where they go
//
// [Open] finds runs, [Read] makes documents of one, [Ingest] stores them.
package pipeline
