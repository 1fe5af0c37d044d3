package assign

import "github.com/fio2es/fio2es/hist"

// Options are the settings of users that decide which rows are read.
type Options struct {
	Title       string    // of the run, in messages
	Completions bool      // logs of completions come before histogram logs
	Bins        hist.Hint // what the user says about the bins and the unit of logs
}

// Assignment is which jobs an execution had, and what was found out of what its fios printed.
type Assignment struct {
	Outputs  []*Output
	Entries  []*Entry // of the jobs, in these outputs
	Jobs     []*Job   // in the order of their logs and reports
	Averages []Log    // in place of rows
}

// assigner is an assignment in the making. Its methods are the steps.
type assigner struct {
	*Assignment
	ev       *Evidence
	opt      Options
	problems *Remarks
	needs    map[Need]bool
}
