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
// smaller than the caller wants, or if their interval includes a ratio of 1. A number may be known only between two bounds, such as
// "17 s or more". A level between these costs it nothing, and another one its distance from the nearer bound. Each size then has the
// bounds that follow, and a change counts if both of them agree.
//
// trend_test.go measures false alarms and the share of changes that are found.
package trend

import (
	"math"
	"slices"
)

// Value is a number in a series, which lies between Low and High. If it is known, these are equal. High is +Inf if there is no upper
// bound.
type Value struct{ Low, High float64 }

// Known returns a number that is known.
func Known(n float64) Value { return Value{n, n} }

// IsKnown reports whether the number is known.
func (v Value) IsKnown() bool { return v.Low == v.High }

// Middle returns the number, or the middle of its bounds, or the lower bound if there is no other.
func (v Value) Middle() float64 {
	if math.IsInf(v.High, 1) {
		return v.Low
	}
	return (v.Low + v.High) / 2
}

// from returns how far x is from the nearer bound, or 0 if it is between the two.
func (v Value) from(x float64) float64 { return max(v.Low-x, x-v.High, 0) }

// Change is a place at which the level of a series changed.
type Change struct {
	At        int   // index of the first number of the new level
	Before    Value // median of the level before, and of the level after
	After     Value
	Ratio     Value   // After / Before: 1.1 is 10 % more
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
// numbers that are not positive. The times between the numbers do not matter.
func Detect(series []Value, least float64) []Change {
	var x []Value // logarithms
	var at []int  // their indices in the series
	for i, v := range series {
		if v.Low > 0 && !math.IsInf(v.Low, 1) {
			x, at = append(x, Value{math.Log(v.Low), math.Log(v.High)}), append(at, i)
		}
	}
	starts := levels(x, deviation(x), price)
	changes := measure(x, starts, least)
	for i := range changes {
		changes[i].At = at[changes[i].At]
	}
	return changes
}

// Visible returns the smallest change, as a share, that [Detect] finds in a series if its last [LeastLevel] numbers have it. Then
// smaller changes are not ruled out by finding none. It is +Inf if the series is too short for a change.
func Visible(series []Value) float64 {
	var x []Value
	for _, v := range series {
		if v.Low > 0 && !math.IsInf(v.Low, 1) {
			x = append(x, Value{math.Log(v.Low), math.Log(v.High)})
		}
	}
	n := float64(len(x))
	if len(x) < 2*LeastLevel {
		return math.Inf(1)
	}
	// A step of height h in the last k of n numbers costs k*(n-k)/n*h² if no change of level explains it.
	const k = LeastLevel
	return math.Expm1(deviation(x) * math.Sqrt(price*n/(k*(n-k))))
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

// steps returns the absolute differences between numbers with a distance of apart. Those between two numbers without an upper bound
// are not known, and left out.
func steps(x []Value, apart int) (all []Value) {
	for i := apart; i < len(x); i++ {
		if a, b := x[i], x[i-apart]; !math.IsInf(a.High, 1) || !math.IsInf(b.High, 1) {
			all = append(all, Known(math.Abs(a.Middle()-b.Middle())))
		}
	}
	return all
}

// spread returns the standard deviation of differences. It is computed from their median, which is 0.6745 standard
// deviations for a normal distribution.
func spread(steps []Value) float64 { return Median(steps).Low / 0.6745 }

// variance returns the variance of differences without outliers. It uses all other differences, because it then
// varies less than the square of their spread.
func variance(steps []Value) float64 {
	sum, n, most := 0.0, 0.0, outlier*spread(steps)
	for _, s := range steps {
		if s.Low <= most {
			sum, n = sum+s.Low*s.Low, n+1
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
	first := x[0].Low
	for _, v := range x {
		for near := -4; near <= 4; near++ {
			places[int(math.Round((v.Low-first)/step))+near] = true
			if !v.IsKnown() && !math.IsInf(v.High, 1) {
				places[int(math.Round((v.High-first)/step))+near] = true
			}
		}
	}
	grid := make([]float64, 0, len(places))
	for place := range places {
		grid = append(grid, first+float64(place)*step)
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
			d := v.from(level) / noise
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

// Median returns the middle of some numbers, or 0 if there are none.
func Median(x []Value) Value {
	if len(x) == 0 {
		return Value{}
	}
	middle := func(of func(Value) float64) float64 {
		list := make([]float64, len(x))
		for i, v := range x {
			list[i] = of(v)
		}
		slices.Sort(list)
		return (list[(len(list)-1)/2] + list[len(list)/2]) / 2
	}
	low := middle(func(v Value) float64 { return v.Low })
	if areKnown(x) {
		return Known(low)
	}
	return Value{low, middle(func(v Value) float64 { return v.High })}
}

// areKnown reports whether all numbers are known. Then their upper bounds need not be sorted, too.
func areKnown(x []Value) bool {
	return !slices.ContainsFunc(x, func(v Value) bool { return !v.IsKnown() })
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
			is := ratio.from(0)
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

func exp(v Value) Value { return Value{math.Exp(v.Low), math.Exp(v.High)} }

// mostCompared is how many numbers on each side of a change are used to measure its size.
const mostCompared = 200

// ratios returns the median of the differences between two groups of logarithms, and its 99 % confidence interval.
// For groups that are too small for an interval, the smallest and the largest difference are its ends.
func ratios(before, after []Value) (middle Value, low, high float64) {
	before, after = before[max(len(before)-mostCompared, 0):], after[:min(len(after), mostCompared)]
	m, n := float64(len(before)), float64(len(after))
	lows, highs := make([]float64, 0, len(before)*len(after)), make([]float64, 0, len(before)*len(after))
	for _, a := range after {
		for _, b := range before {
			lows, highs = append(lows, a.Low-b.High), append(highs, a.High-b.Low)
		}
	}
	slices.Sort(lows)
	if areKnown(before) && areKnown(after) {
		highs = lows
	} else {
		slices.Sort(highs)
	}
	const z = 2.576
	last := len(lows) - 1
	k := int(math.Floor(m*n/2 - z*math.Sqrt(m*n*(m+n+1)/12)))
	k = min(max(k, 0), last)
	middle = Value{(lows[last/2] + lows[(last+1)/2]) / 2, (highs[last/2] + highs[(last+1)/2]) / 2}
	return middle, lows[k], highs[last-k]
}
