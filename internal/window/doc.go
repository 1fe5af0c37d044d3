// Package window has the window: what one direction of a cluster, a host or a job did between two
// times. Windows are read from logs or from the history (internal/query), and objectives,
// comparisons, heat maps, exports and reports are computed from them. So one type is enough, and
// the same answer comes from files and from the history.
package window
