package trend

import (
	"math"
	"slices"
)

// measure returns the changes between levels that are large enough. Where one is not, the levels
// are one, and those beside it are measured again, the smallest change first.
func measure(x []float64, starts []int, least float64) []Change {
	for {
		var changes []Change
		smallest, size := -1, math.Log1p(max(least, 0))
		for i := 1; i < len(starts); i++ {
			before, after := x[starts[i-1]:starts[i]], x[starts[i]:endOf(starts, i, len(x))]
			ratio, low, high := ratios(before, after)
			changes = append(changes, Change{
				At: starts[i], Before: math.Exp(Median(before)), After: math.Exp(Median(after)),
				Ratio: math.Exp(ratio), Low: math.Exp(low), High: math.Exp(high),
			})
			is := math.Abs(ratio)
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

// mostCompared is how many numbers on each side of a change its size is measured with.
const mostCompared = 200

// ratios are the median of the differences between two groups of logarithms, and the bounds that
// it lies within with a confidence of 99 %. Groups that are too small for that have the smallest
// and largest difference as bounds.
func ratios(before, after []float64) (middle, low, high float64) {
	before, after = before[max(len(before)-mostCompared, 0):], after[:min(len(after), mostCompared)]
	m, n := float64(len(before)), float64(len(after))
	all := make([]float64, 0, len(before)*len(after))
	for _, a := range after {
		for _, b := range before {
			all = append(all, a-b)
		}
	}
	slices.Sort(all)
	const z = 2.576
	k := int(math.Floor(m*n/2 - z*math.Sqrt(m*n*(m+n+1)/12)))
	k = min(max(k, 0), len(all)-1)
	return (all[(len(all)-1)/2] + all[len(all)/2]) / 2, all[k], all[len(all)-1-k]
}
