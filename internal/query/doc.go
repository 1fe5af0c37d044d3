// Package query finds runs and reads their windows: from files, or from the history. All commands
// that answer take its windows ([window.Window]), so files and the history give the same answers. A
// [Query] says which windows of a run are wanted.
//
//	files, archives --Open---+
//	                         +--> Run --Read--> windows, and the run's document
//	the history --Lookup-----+
//
// It prints nothing. After Read, a [Run] has the messages for the user, such as files that were
// skipped or documents that are missing.
package query
