// Package follow keeps a history in step with folders to which fio and CBT write: it stores runs
// that are over, and follows live ones, whose periodic reports have new windows each second.
//
// It looks through the folders at intervals. A run whose files no longer change is over, and is
// stored by package ingest. A live run has its own session, which reads it. When a run is over, what
// its files say replaces what the session stored. The package prints nothing: messages go to a
// logger, windows to a function.
package follow
