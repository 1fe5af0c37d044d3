// Package window has the type Window: the requests of one direction in a cluster, on a host or in a job, between two
// times. Windows are read from logs or from the history (internal/query). Objectives, comparisons, heat maps,
// exports and reports are computed from them. So files and the history give the same answers.
package window
