// Package compare decides whether one run differs from another by more than its own variation over
// time: it computes the change of each metric, a confidence interval and a verdict. It computes from
// windows, and gives the same answer every time. Latencies are nanoseconds, times milliseconds,
// changes shares: 0.1 is ten percent more.
//
// # Why not single requests
//
// Requests of the same second wait behind one another, and slow seconds follow slow ones. Order
// statistics and resampled requests count each request as independent, so their intervals are far
// too narrow: most pairs of runs of the same test would differ (TestCoverage).
//
// # The block bootstrap
//
// So a run is cut into up to 30 blocks of at least four windows that follow one another (of fewer
// windows where it has fewer than 40), and blocks are drawn with replacement (Künsch, The Jackknife
// and the Bootstrap for General Stationary Observations, Annals of Statistics 17(3), 1989; here the
// blocks do not overlap). A block keeps the correlation of its windows. Several runs of a side are
// repetitions: as many runs are drawn, with replacement, and then blocks of each, so the variation
// between repetitions counts (TestRepetitions).
//
// All metrics are computed for both sides of each of 1,000 replicates or more. The interval lies
// between two quantiles of the logarithm of their ratio. Quantiles of a bootstrap are too close to
// each other if there are few blocks. For k blocks, those quantiles are taken that make the interval
// as wide as Student's t does, with the variance of the sample corrected (Hesterberg, What Teachers
// Should Know About the Bootstrap, The American Statistician 69(4), 2015):
//
//	alpha'/2 = Phi(-sqrt(k/(k-1)) * t(1-alpha/2, k-1))
//
// Here k is that of the side with fewer blocks. Below 8 blocks there is no interval.
//
// Where ups and downs last longer than a block, blocks that follow one another are alike, and means of independent
// ones differ too little. If r is the correlation of neighbouring blocks, and that of blocks farther from each other r², r³
// and so on, the variance of a mean is larger by (1+r)/(1-r) (Bartlett, Some Aspects of the Time-Correlation Problem, Journal of
// the Royal Statistical Society 98(3), 1935). So the replicates of a side are stretched by its root, metric by metric.
//
// # Percentiles between two groups of latencies
//
// Where a percentile lies in a gap, such as between hits and misses of a cache, it jumps from one group
// to the other with the blocks that are drawn. The interval is right, and too wide to say anything. Then
// the shares of requests above the percentile of either side decide, because their distributions are
// smooth. They do not where the two distributions cross in the range in which the percentile may lie.
// The interval stays, and ends at no change. An interval from the shares alone (that of the quantile
// shift of Woodruff) is narrower, and contains the truth in as little as half of the cases where the
// groups of the two sides differ, so it is not used (TestGap).
package compare
