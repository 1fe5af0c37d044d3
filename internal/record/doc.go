// Package record runs fio so that its run can be stored. It adds a histogram log and a json+ report, and asks fio for a report at each
// whole second if this costs little. Their files are in a separate folder. fio's output goes where the user wants it.
// Record adds options, but changes none that the user set, so the workload stays the same.
//
// A small file beside the folder of a run exists until the run is stored. Through it, later commands find
// interrupted runs.
package record
