// Package fioargs parses command lines and job files of fio as fio does, for everything that affects logs and
// reports: which jobs there are, which options are in effect in each, and where each option was written. One builder makes
// the sections of both: of a command that is to run, and of a job file that is beside the results of a run. It runs
// nothing. It does not check what fio itself refuses.
package fioargs
