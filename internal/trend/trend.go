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
// trend_test.go measures false alarms and the share of changes that are found.
package trend

import (
	"cmp"
	"math"
	"slices"
)

// Value is a number in a series, or a lower bound of one.
type Value struct {
	N       float64
	IsBound bool // the true number is N or more
}

// Change is a place at which the level of a series changed.
type Change struct {
	At        int   // index of the first number of the new level
	Before    Value // median of the level before, and of the level after
	After     Value
	Ratio     Value   // After / Before: 1.1 is 10 % more. As a bound: at least N if N is above 1, at most N if below
	Low, High float64 // 99 % confidence interval of the ratio; 0 and +Inf mean that an end is not known
}

// outlier is a distance from the level in standard deviations. Numbers farther away cost no more. With normal noise,
// 0.3 % of the numbers are farther away than 3.
const outlier = 3

// LeastLevel is the smallest number of values in a level: fewer are outliers. So a series with a change has at least
// twice as many.
const LeastLevel = 3

// price is the cost of a change of level: more than that of two outliers, less than that of three.
const price = 2.2 * outlier * outlier

// Detect finds the changes in a series by at least least, a share: 0.05 finds changes of 5 % or more. It ignores
// numbers that are not positive. The times between the numbers do not matter. Between two bounds it finds no change,
// because either number may be the larger one.
func Detect(series []Value, least float64) []Change {
	var x []Value // logarithms
	var at []int  // their indices in the series
	for i, v := range series {
		if v.N > 0 && !math.IsInf(v.N, 1) {
			x, at = append(x, Value{math.Log(v.N), v.IsBound}), append(at, i)
		}
	}
	starts := levels(x, deviation(x), price)
	changes := measure(x, starts, least)
	for i := range changes {
		changes[i].At = at[changes[i].At]
	}
	return changes
}

// minNoise is the smallest standard deviation that noise is assumed to have: 0.5 %, because neighbouring numbers may
// be in one bin of a histogram.
const minNoise = 0.005

// deviation returns the standard deviation that the noise of a series has for sums of many numbers. It is computed
// from differences between numbers, because changes of level hardly affect these.
func deviation(x []Value) float64 {
	one, two := steps(x, 1), steps(x, 2)
	noise := spread(one) / math.Sqrt2
	if n := float64(len(x)); n >= 20 && noise > 0 {
		// If the noise of neighbouring numbers has the correlation r, the variances of the differences are 2(1-r) and
		// 2(1-r²) times that of the noise. Sums then vary as if the variance were (1+r)/(1-r) times as large. A short
		// series does not determine r well, and a high r by chance would hide large changes. So r is limited.
		r := min(max(variance(two)/variance(one)-1, 0), 0.9*n/(n+15))
		noise *= math.Sqrt(1+r) / (1 - r)
	}
	return max(noise, minNoise)
}

// steps returns the absolute differences between numbers with a distance of apart. Differences between two bounds
// are not known, and left out.
func steps(x []Value, apart int) (all []Value) {
	for i := apart; i < len(x); i++ {
		if !x[i].IsBound || !x[i-apart].IsBound {
			all = append(all, Value{N: math.Abs(x[i].N - x[i-apart].N)})
		}
	}
	return all
}

// spread returns the standard deviation of differences. It is computed from their median, which is 0.6745 standard
// deviations for a normal distribution.
func spread(steps []Value) float64 { return Median(steps).N / 0.6745 }

// variance returns the variance of differences without outliers. It uses all other differences, because it then
// varies less than the square of their spread.
func variance(steps []Value) float64 {
	sum, n, most := 0.0, 0.0, outlier*spread(steps)
	for _, s := range steps {
		if s.N <= most {
			sum, n = sum+s.N*s.N, n+1
		}
	}
	return sum / max(n, 1)
}

// levels returns the starts of the levels with the lowest cost. The first start is 0.
func levels(x []Value, noise, price float64) []int {
	if len(x) == 0 {
		return nil
	}
	step := noise / 4 // between the levels that are tried, which are near the numbers
	places := map[int]bool{}
	for _, v := range x {
		for near := -4; near <= 4; near++ {
			places[int(math.Round((v.N-x[0].N)/step))+near] = true
		}
	}
	grid := make([]float64, 0, len(places))
	for place := range places {
		grid = append(grid, x[0].N+float64(place)*step)
	}
	slices.Sort(grid)
	cost := make([]float64, len(grid)) // lowest cost of the numbers so far, if the last one has this level
	from := make([][]int32, len(x))    // by number and level: the start of that level
	best := 0.0                        // lowest cost over all levels before this number
	for i, v := range x {
		from[i] = make([]int32, len(grid))
		next, nextLevel := math.Inf(1), 0
		for l, level := range grid {
			start := int32(i)
			if i > 0 && cost[l] <= best+price {
				start = from[i-1][l]
			} else if i > 0 {
				cost[l] = best + price
			}
			from[i][l] = start
			d := (v.N - level) / noise
			if cost[l] += min(d*d, outlier*outlier); cost[l] < next {
				next, nextLevel = cost[l], l
			}
		}
		best = next
		from[i] = append(from[i], from[i][nextLevel]) // start of the level with the lowest cost
	}
	var starts []int
	for i := len(x) - 1; i >= 0; {
		start := int(from[i][len(grid)])
		starts = append(starts, start)
		i = start - 1
	}
	slices.Reverse(starts)
	return starts
}

// Median returns the middle of some numbers, or 0 if there are none. It is a bound if a number of the smaller half
// is one, because that number may be larger.
func Median(x []Value) Value {
	if len(x) == 0 {
		return Value{}
	}
	s := slices.SortedFunc(slices.Values(x), func(a, b Value) int { return cmp.Compare(a.N, b.N) })
	isBound := slices.ContainsFunc(s[:len(s)/2+1], func(v Value) bool { return v.IsBound })
	return Value{(s[(len(s)-1)/2].N + s[len(s)/2].N) / 2, isBound}
}

// measure returns the changes between levels that are large enough. If one is too small, its two levels become one,
// and the changes beside it are measured again. The smallest change is tested first.
func measure(x []Value, starts []int, least float64) []Change {
	for {
		var changes []Change
		smallest, size := -1, math.Log1p(max(least, 0))
		for i := 1; i < len(starts); i++ {
			end := len(x)
			if i+1 < len(starts) {
				end = starts[i+1]
			}
			before, after := x[starts[i-1]:starts[i]], x[starts[i]:end]
			ratio, low, high := ratios(before, after)
			changes = append(changes, Change{
				At: starts[i], Before: exp(Median(before)), After: exp(Median(after)),
				Ratio: exp(ratio), Low: math.Exp(low), High: math.Exp(high),
			})
			is := math.Abs(ratio.N)
			if low <= 0 && high >= 0 {
				is = 0
			}
			if is < size {
				smallest, size = i, is
			}
		}
		if smallest < 0 {
			return changes
		}
		starts = slices.Delete(starts, smallest, smallest+1)
	}
}

func exp(v Value) Value { return Value{math.Exp(v.N), v.IsBound} }

// mostCompared is how many numbers on each side of a change are used to measure its size.
const mostCompared = 200

// ratios returns the median of the differences between two groups of logarithms, and its 99 % confidence interval.
// For groups that are too small for an interval, the smallest and the largest difference are its ends. A difference
// with a bound has no upper or no lower end. If the median depends on such differences, it is the end that is nearer
// to 0.
func ratios(before, after []Value) (middle Value, low, high float64) {
	before, after = before[max(len(before)-mostCompared, 0):], after[:min(len(after), mostCompared)]
	m, n := float64(len(before)), float64(len(after))
	lows := make([]float64, 0, len(before)*len(after))
	hasBounds := false
	for _, a := range after {
		for _, b := range before {
			lows = append(lows, a.N-b.highest())
			hasBounds = hasBounds || a.IsBound || b.IsBound
		}
	}
	highs := lows
	if hasBounds {
		highs = make([]float64, 0, len(lows))
		for _, a := range after {
			for _, b := range before {
				highs = append(highs, a.highest()-b.N)
			}
		}
		slices.Sort(highs)
	}
	slices.Sort(lows)
	const z = 2.576
	last := len(lows) - 1
	k := int(math.Floor(m*n/2 - z*math.Sqrt(m*n*(m+n+1)/12)))
	k = min(max(k, 0), last)
	least, most := (lows[last/2]+lows[(last+1)/2])/2, (highs[last/2]+highs[(last+1)/2])/2
	middle = Value{least, least != most}
	if most < 0 {
		middle.N = most
	}
	return middle, lows[k], highs[last-k]
}

// highest returns the largest value that the number can have.
func (v Value) highest() float64 {
	if v.IsBound {
		return math.Inf(1)
	}
	return v.N
}
