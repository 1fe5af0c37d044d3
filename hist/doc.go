// Package hist is fio's latency histogram: the geometry of its bins, merging,
// percentiles and percentile ranks, each with the bound of its error.
//
// All of fio2es uses it, and other Go programs may import it: it needs only the standard
// library, does no I/O, and keeps only the edges of the bins of each layout. Latencies are
// nanoseconds everywhere, also for logs of fio 2, which counts microseconds.
//
// # Bins
//
// A bin is an interval of latency [low, high), never a point. fio 3 has 29 groups
// of 64 bins; the first two groups are exact, and each further group doubles the
// width of its bins:
//
//	group  bins         width   latencies
//	0, 1   0 … 127      1 ns    0 … 127 ns
//	2      128 … 191    2 ns    128 … 255 ns
//	3      192 … 255    4 ns    256 … 511 ns
//	…
//	28     1792 … 1855  2^27 ns 8.59 … 17.18 s, and all above
//
// So a latency is known to 1/64 of itself at worst, and its bin's middle is off by
// 1/128 at most (0.78 %). log_hist_coarseness k joins 2^k neighbours: bin j of the
// coarse layout is exactly the bins j*2^k … (j+1)*2^k-1 of the fine one:
//
//	coarseness 0   | 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
//	coarseness 1   |   0   |   1   |   2   |   3   |
//	coarseness 2   |       0       |       1       |
//
// So histograms of different coarseness merge into the coarsest of them without
// splitting a count. fio 2 has 19 groups of microseconds. Its bins do not nest in
// those of fio 3, so such a merge spreads counts in proportion and reports it
// ([Histogram.Rebinned]).
//
// The last bin is open: it has all requests slower than its low edge. An answer in
// it is that edge "or more": it has no upper bound ([Answer.Open]).
//
// # More groups
//
// Some users rebuild fio with more groups (FIO_IO_U_PLAT_GROUP_NR in stat.h), so that slower
// requests have bins of their own. n groups of nanoseconds reach to 2^(n+5) ns,
// n groups of microseconds to 2^(n+5) µs (24: 9 minutes). A layout may have 17 to 64 groups
// ([NewLayout]). [Resolve] finds the layout of a log by its number of columns and by fio's
// report. The first bins of two such layouts are the same.
//
// Histograms of different numbers of groups merge exactly into the smaller number. The open
// bin of the smaller layout has all slower requests, so the open bin of the merged layout has
// those of both. Merging stays commutative and associative, because the result depends on the
// layouts alone. The price: after merging with a histogram of a usual fio, latencies above
// 17.18 s are only "17.18 s or more". n groups of microseconds end at about the same latency
// as n+10 groups of nanoseconds.
//
// An int64 of nanoseconds ends at 292 years. Edges beyond it are taken as its end, and no
// latency is in a later bin ([Layout.Real]).
//
// # Percentiles
//
// The percentile q of N requests is the latency of the request of rank ceil(q*N).
// The n requests of a bin count as evenly spread, the i-th at (i-0.5)/n of the way
// from the bin's lowest to its highest latency. With i/n, a bin with one request would
// give its upper edge as the answer (0.6 % too much at p99.9 of fio's finest bins).
// [Histogram.Percentile] is this rule, [Histogram.CountWithin] its inverse, and
// [Histogram.FioPercentile] what fio itself prints.
//
// The geometry is that of plat_val_to_idx and plat_idx_to_val in fio's stat.c.
package hist
