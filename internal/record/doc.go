// Package record runs fio so that its run can be stored: with a histogram log and a json+ report in a folder of their
// own, reports each second where they cost little, and the output where the user wants it. It adds options and changes
// none that the user set, so the workload stays as it is. A small file beside the folders names each run that is not
// stored yet. It leads later commands to runs that were interrupted.
package record
