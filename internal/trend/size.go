package trend

import (
	"math"
	"slices"
)

// measure returns the changes between levels that are large enough. If one is too small, its two levels become one,
// and the changes beside it are measured again. The smallest change is tested first.
func measure(x []Value, starts []int, least float64) []Change {
	for {
		var changes []Change
		smallest, size := -1, math.Log1p(max(least, 0))
		for i := 1; i < len(starts); i++ {
			before, after := x[starts[i-1]:starts[i]], x[starts[i]:endOf(starts, i, len(x))]
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
