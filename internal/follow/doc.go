// Package follow keeps a history up to date with folders to which fio and CBT write. It stores runs that are over,
// and follows live ones, whose periodic reports have new windows each second.
//
// It looks through the folders at intervals. If the files of a run no longer change, the run is over, and package
// ingest stores it. Each live run has a session that reads it. When the run is over, it is read from its files once
// more, and that version replaces the one that the session stored. The package prints nothing. Messages go to a
// logger, and windows to a function.
package follow
