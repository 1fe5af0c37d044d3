// Package history keeps runs and reads them back. [Store] is what the commands need
// of a history, few verbs. [SQLite] is the embedded one, a single file, and [Elastic]
// the one in an Elasticsearch cluster. Answers (percentiles, comparisons, pictures) are
// computed from what a store gives, not by the store, hence they are the same to the
// digit on every one; package historytest holds the suite that each implementation must
// pass.
//
// # Versions
//
// A run that is read again replaces itself. Interval documents belong to a version of
// their run (run.ingest); [Store.Finish] makes one version the run's, at one stroke,
// and removes the others. Readers see finished versions only, and never two of them:
// an interrupted ingest is invisible, and repeating it writes the same documents.
package history
