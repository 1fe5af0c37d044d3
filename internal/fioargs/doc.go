// Package fioargs parses command lines and job files of fio as fio does, for everything that affects logs and
// reports: which jobs there are, which options are in effect in each, and where each option was written. It runs
// nothing. It does not check what fio itself refuses.
package fioargs
