// Package ingest stores runs. It finds which runs of some files a history already has, stores the others, and copies
// runs from one history to another.
//
// A run is the contents of its files, so its name and its path do not matter. Equal runs of one call, such as a
// folder and its tar, wait for one another. Several runs are read at the same time, and a cluster finishes many at
// the same time. The package prints nothing. Messages go to a logger, and results are returned.
package ingest
