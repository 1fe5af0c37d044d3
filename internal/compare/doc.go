// Package compare tells whether one run differs from another by more than its own ups and
// downs: the change of a metric with a confidence interval. It computes from windows
// (who reads them, and what becomes of the answer, is for commands), and every answer is
// the same every time. Latencies are nanoseconds, times milliseconds, changes shares: 0.1
// is ten percent more.
//
// # Why not of single requests
//
// Requests that are served in the same second wait behind one another, and slow seconds
// follow slow ones. Order statistics and resampled requests take each of them for a
// witness of its own, and are far too sure: of two runs of the same test, TestCoverage
// finds most to differ that way.
//
// # The block bootstrap
//
// So a run is cut into blocks, up to 30, of four windows and more that follow one another
// (fewer where it has fewer than 40), and what is drawn with replacement are blocks
// (Künsch, The Jackknife and the Bootstrap for General Stationary Observations, Annals of
// Statistics 17(3), 1989; here with blocks that do not overlap). Within them, what hangs
// together stays together. Several runs of a side are repetitions: as many of them are
// drawn, with replacement, and then blocks of each, so that it counts how much repetitions
// differ (TestRepetitions).
//
// Of each of 1,000 replicates or more, all metrics are computed anew, on both sides; the
// interval lies between two quantiles of the logarithm of their ratio. Quantiles of a
// bootstrap are too close where there are few blocks. For k blocks those are taken that
// make it as wide as Student's t would, with the sample's variance put right
// (Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician
// 69(4), 2015):
//
//	alpha'/2 = Phi(-sqrt(k/(k-1)) * t(1-alpha/2, k-1))
//
// where k is that of the side with fewer. With fewer than 8, there is no interval. What
// hangs together for longer than a block does is not in it.
package compare
