// Package query finds runs and their windows: in files, which are read now, or in the history. All
// commands that answer take its windows ([window.Window]), so files and the history give the same
// answers. Which of a run's windows are wanted is a [Query].
//
//	files, archives --Open--+
//	                        +--> Found --> Run --Read--> windows, then the run's document
//	the history --Lookup----+
//
// It prints nothing. What a reader has to know, such as files that were skipped, goes to the log.
package query
