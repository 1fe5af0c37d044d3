// Package trend finds the changes in a series of numbers, such as the p99 of a benchmark that runs every night, and
// their sizes.
//
// The model is a level that stays the same until it changes, plus noise, on a scale of ratios. The result is the
// levels with the lowest cost. Each number costs the square of its distance from the level, in standard deviations
// of the noise, but at most [outlier] squared. Each change of level costs [price]. So one or two numbers that are
// far away are never a change, at any distance, and three are. The bounded cost is the biweight loss of Fearnhead
// and Rigaill, "Changepoint Detection in the Presence of Outliers", JASA 114 (2019). Here the levels are on a grid,
// so dynamic programming finds the exact optimum. Its time grows with the length of the series times the number of
// levels.
//
// The size of a change is the median of the ratios between numbers after and before it (Hodges and Lehmann 1963),
// with the interval of the Wilcoxon rank-sum test. Neither needs normal noise. Changes are not reported if they are
// smaller than the caller wants, or if their interval includes a ratio of 1. A number may be a bound, "17 s or
// more". Then each size has the bounds that follow, and a change between two bounds is not reported.
//
// detect_test.go measures false alarms and the share of changes that are found.
package trend
