// Package align says when it happened: it puts the rows of many jobs' logs, each with
// times of its own, onto common windows, weights them and merges them.
//
// Its input are [Stream]s of [Row]s: so many requests of each latency completed in an
// interval of time. Its output are [Window]s in time order, one for each window, key
// (cluster, host, job) and direction. Times are milliseconds since the run's start.
// It does no I/O of its own and holds no more than the windows that rows to come can
// still reach.
//
// # Rows and windows
//
// A row says only that its requests completed somewhere in (start, end]. A window that
// follows the rows is exact; one cut across them is a guess, in which completions are
// taken as uniform over the row. Rows end a few milliseconds late (fio writes one with
// the first completion after the interval is over), so times within [Options.Tolerance]
// of a window's edge are taken as the edge: such a row stays whole.
//
// # Weighting
//
// A request of latency L that completed at c was in the system over [c-L, c].
// [InFlight] weighting counts it in each window by the share of that life spent there.
// With c uniform over the row, the time of presence is the sum of two uniform
// variables, whose density is a trapezoid and whose distribution function is piecewise
// quadratic: the share of a window is a difference of two values of it. There is no
// sampling. Requests no longer than a window are left where they completed, unless
// [Options.SpreadAll]: few of them cross an edge, and whole counts stay whole.
package align
