// Package plan decides from evidence what is known of a run before its rows are read: which files belong together, what
// the rows of each job are read from, when each job ran, and how surely. It opens no file: package pipeline gathers the
// evidence and reads the rows afterwards.
//
// Times in a log are milliseconds, of a clock that the plan finds out. Times of jobs are absolute.
package plan
