// Package trend finds the changes in a series of numbers, such as the p99 of a benchmark that runs
// every night, and says how large they are.
//
// A series is taken as a level that stays the same until it changes, plus noise, on a scale of
// ratios. The levels are those that cost least: each number costs the square of its distance from
// the level, in standard deviations of the noise, but at most [outlier] squared, and each change of
// level costs [price]. So one or two numbers that are far off never are a change, however far, and
// three are. The bounded cost is the biweight loss of Fearnhead and Rigaill, "Changepoint Detection
// in the Presence of Outliers", JASA 114 (2019). Since levels are on a grid here, the cheapest ones
// are found exactly by dynamic programming, in a time that grows with the length of the series
// times the number of levels.
//
// The size of a change is the median of the ratios between numbers after and before it (Hodges and
// Lehmann 1963), with the interval that the Wilcoxon rank-sum test gives: neither needs the noise to
// be normal. Changes smaller than the caller asks for, or whose interval includes none, are not
// reported. A number may be a bound, "17 s or more". Each size then has the bounds that follow, and a
// change between two bounds is none.
//
// detect_test.go measures false alarms and what is found.
package trend
