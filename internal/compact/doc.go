// Package compact makes a history smaller: it joins the windows of runs to longer ones.
//
// The documents of the longer windows are a new version of the run, which is not shown before it is finished. When all
// of them are stored, the new version becomes current, and the store removes the other one. After an interruption, the
// same call stores the same documents again and does the rest.
package compact
