// Package workload groups runs that are comparable because their settings are the same, such as the runs of a
// benchmark that is repeated every night. It makes series of numbers over these runs, and finds changes in them.
package workload
