// Package history keeps runs and reads them back. [Store] is what the commands need of a
// history. Package sqlite is the embedded one, a single file, and package elastic the one in
// an Elasticsearch cluster. Answers (percentiles, comparisons, pictures) are computed from the
// documents that a store returns, not by the store, so they are the same to the digit from
// every store. Package historytest has the tests that each store must pass.
//
// # Versions
//
// A run that is ingested again replaces itself. Interval documents belong to a version of
// their run (run.ingest). [Store.Finish] makes one version the current one and removes the
// others. Readers see finished versions only, and never two of one run. An interrupted ingest
// is invisible, and repeating it writes the same documents.
package history
