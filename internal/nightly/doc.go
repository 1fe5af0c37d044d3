// Package nightly remembers what an ingest found, so the next one reads only what changed. For an unchanged file it
// needs the size and times, for its run the version in the history.
//
// The state of a history is a file in a folder of the user, on this machine, because it is about files of this machine.
// It has no numbers. If it is lost, damaged or of another build of the program, the next ingest reads all files again.
//
// Each run has a key. It is a hash of all that the archive says about the run, of the settings that its documents
// depend on, of the program, and of the name, size, modification time, change time and inode of each of its files on
// disk. So a run whose key is remembered has not changed, if the history still has the version that it had then. The
// clocks of file systems are coarse: a file that was changed in the two seconds before it was listed could change again
// without a trace. So its runs are not remembered.
package nightly
