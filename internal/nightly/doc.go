// Package nightly remembers the results of an ingest, so that the next one reads only what changed. What it remembers
// are memos: texts by key in a table of the embedded history, or of a file of the user if the history is in a cluster.
// They contain no numbers of runs. If they are lost, or another build of fio2es wrote them, the next ingest reads all
// files again.
//
// The key of a run is a hash of what the archive says about the run, of the settings that its documents depend on, of
// the program, and of its files on disk: their names, sizes, modification times, change times and inodes. If there is a
// memo with this key, and the history still has all documents of the version that the memo names and of no other, the
// run has not changed. The clocks of file systems are coarse: a file that was changed less than two seconds before it
// was listed could change again without a trace. So its runs are not remembered.
package nightly
