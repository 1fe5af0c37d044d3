// Package align puts the rows of many jobs' logs, each with its own times, onto common
// windows of time, weights them and merges them.
//
// The input are [Stream]s of [Row]s: requests by latency that completed in an interval of
// time. The output are [Window]s in time order, one for each window, key (cluster, host,
// job) and direction. Times are milliseconds since the run's start. The package does no I/O
// and keeps only the windows that later rows can still reach.
//
// # Rows and windows
//
// The requests of a row completed somewhere in (start, end]. A window that follows the rows
// is exact. A window that is cut across rows is an estimate: it takes completions as uniform
// over the row. Rows end a few milliseconds late, because fio writes a row with the first
// completion after the interval. So a time within [Options.Tolerance] of a window's edge
// counts as the edge, and such a row stays whole.
//
// # Weighting
//
// A request of latency L that completed at c was in the system over [c-L, c].
// [InFlight] weighting counts it in each window by the share of that life spent there.
// With c uniform over the row, the time of presence is the sum of two uniform
// variables. Its density is a trapezoid and its distribution function piecewise
// quadratic. The share of a window is a difference of two values of that function; there is
// no sampling. Requests no longer than a window count where they completed, unless
// [Options.SpreadAll] is set: few of them cross an edge, and whole counts stay whole.
package align
