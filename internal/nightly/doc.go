// Package nightly remembers the results of an ingest, so that the next one reads only what changed. A file counts as
// unchanged if its size and times are the same, and a run if the history also has the whole same version.
//
// The state of a history is a file in a folder of the user on this machine, because it is about files of this
// machine. It contains no numbers of runs. If it is lost, damaged or written by another build of fio2es, the next
// ingest reads all files again.
//
// Each run has a key. It is a hash of what the archive says about the run, of the settings that its documents depend
// on, of the program, and of its files on disk: their names, sizes, modification times, change times and inodes. If
// a run's key is remembered, and the history still has all documents of the version of that time and of no other, the
// run has not changed. The clocks
// of file systems are coarse: a file that was changed less than two seconds before it was listed could change again
// without a trace. So its runs are not remembered.
package nightly
