// Package compact makes a history small: it joins the windows of runs to longer ones.
//
// The documents of the longer windows are a new version of the run, which is not shown before it is
// finished. They are stored, read back and compared with those of the version before. Only then
// does the new version become the current one, and the store removes the other. After an
// interruption the same call stores the same documents again and does the rest.
package compact
