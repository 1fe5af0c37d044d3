// Package fioargs knows what options of fio mean, for everything that affects logs and reports. It parses command lines
// and job files as fio does: which jobs there are, which options are in effect in each, and where each option was written.
// One builder makes the sections of both: of a command that is to run, and of a job file that is beside the results of a
// run. The values of options (values.go) are the same in both and in reports: sizes, times, modes, defaults, and which
// options decide what is measured. It runs nothing. It does not check what fio itself refuses.
package fioargs
