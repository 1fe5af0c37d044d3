// Package nightly remembers what an ingest found, so that the next one reads only what changed: of files that did not
// change it needs their sizes and times, and of their runs the versions that the history has.
//
// The state of a history is a file in a folder of the user, on this machine, because it is about files of this machine.
// It has no numbers. If it is lost, damaged or of another build of the program, the next ingest reads all files again.
//
// What is remembered of a run has a key: a hash of all that the archive says about the run, of the settings that its
// documents depend on, of the program, and of the name, size, modification time, change time and inode of each of its
// files on disk. So a run whose key is remembered is as it was, if the history still has the version that it had then.
// A file that was changed in the two seconds before it was listed could change again without a trace, since clocks of
// file systems are coarse: its runs are not remembered.
package nightly
