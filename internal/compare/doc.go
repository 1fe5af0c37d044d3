// Package compare decides whether two runs differ by more than the variation within each of them. It computes the
// change of each metric, a confidence interval and a verdict from windows. The same windows always give the same
// answer. Latencies are in nanoseconds and times in milliseconds. Changes are shares: 0.1 is ten percent more.
//
// # Why not single requests
//
// Requests of the same second wait behind one another, and slow seconds follow slow ones. Order statistics and
// resampled requests count each request as independent, so their intervals are far too narrow: most pairs of runs of
// the same test would differ (TestCoverage).
//
// # The block bootstrap
//
// So a run is cut into up to 30 blocks. Each has at least four consecutive windows; if the run has fewer than 40
// windows, blocks may be shorter. Blocks are drawn with replacement (Künsch, The Jackknife and the Bootstrap for
// General Stationary Observations, Annals of Statistics 17(3), 1989; here the blocks do not overlap). A block keeps
// the correlation of its windows. Several runs of a side are repetitions of a test: first as many runs are drawn,
// with replacement, and then blocks of each run. So the variation between repetitions counts (TestRepetitions).
//
// All metrics are computed for both sides of each of 1,000 replicates or more. The interval lies between two
// quantiles of the logarithm of their ratio. If there are few blocks, quantiles of a bootstrap are too close to each
// other. So for k blocks, other quantiles are taken. With them the interval is as wide as one by Student's t, and
// the variance of the sample is corrected (Hesterberg, What Teachers Should Know About the Bootstrap, The American
// Statistician 69(4), 2015):
//
//	alpha'/2 = Phi(-sqrt(k/(k-1)) * t(1-alpha/2, k-1))
//
// Here k is the number of blocks of the side with fewer blocks. Below 8 blocks there is no interval.
//
// If ups and downs last longer than a block, consecutive blocks are alike, and means of independently drawn blocks
// differ too little. Let r be the correlation of neighbouring blocks; blocks farther apart have r², r³ and so on.
// Then the variance of a mean is larger by (1+r)/(1-r) (Bartlett, Some Aspects of the Time-Correlation Problem,
// Journal of the Royal Statistical Society 98(3), 1935). So the replicates of a side are stretched by the square
// root of this, separately for each metric.
//
// # Percentiles between two groups of latencies
//
// A percentile may lie in a gap, for example between hits and misses of a cache. Then it jumps from one group to the
// other, depending on the blocks that are drawn. The interval is right, but too wide to be useful. So the shares of
// requests above the percentile of either side decide, because shares do not jump. They do not decide if the two
// distributions cross in the range in which the percentile may lie. The interval stays, but ends at 0. An interval
// from the shares alone (that of the quantile shift of Woodruff) is narrower, but is not used: if the groups of the
// two sides differ, it contains the truth in as little as half of the cases (TestGap).
package compare
