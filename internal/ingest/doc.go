// Package ingest stores runs: it finds which runs of some files a history has already, stores the
// others, and copies runs from one history into another.
//
// A run is the contents of its files, so neither its name nor its path has to be the same. Runs of
// one call that are the same, such as a folder and its tar, wait for one another. Several runs are
// read at a time, and a cluster finishes many at a time. The package prints nothing: messages go to
// a logger, and results are returned.
package ingest
