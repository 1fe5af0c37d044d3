// Package workload groups runs that are comparable because their settings are the same: the runs of
// one benchmark that is repeated every night. It has the series of a number over these runs, and the
// changes in it.
package workload
