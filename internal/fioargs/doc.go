// Package fioargs reads command lines and job files of fio as fio does, as far as logs and reports depend on them:
// which jobs there are, which options are in effect in each, and where each was written. It runs nothing, and it
// does not check what fio itself refuses.
package fioargs
