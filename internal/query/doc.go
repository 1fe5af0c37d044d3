// Package query finds runs and reads their windows, from files or from the history. All commands that answer
// questions take [window.Window] values from here, so files and the history give the same answers. A [Query] says
// which windows of a run are wanted.
//
//	files, archives --Open---+
//	                         +--> Run --Read--> windows, and the run document
//	the history --Lookup-----+
//
// The package prints nothing. After Read, a [Run] has the messages for the user, for example about skipped files or
// missing documents.
package query
