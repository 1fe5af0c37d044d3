// Package history stores runs and reads them. [Store] is the interface that commands use. Package sqlite is the
// embedded history, a single file. Package elastic is the history in an Elasticsearch cluster. Answers (percentiles,
// comparisons, pictures) are computed from the documents that a store returns, not by the store. So every store
// gives the same answers, to the digit. All stores must pass the tests of package historytest.
//
// # Versions
//
// A run that is ingested again replaces itself. Interval documents belong to a version of their run (run.ingest).
// [Store.Finish] makes one version current and removes the others. Readers see only finished versions, and never two
// versions of one run. An interrupted ingest is invisible; repeating it writes the same documents.
package history
