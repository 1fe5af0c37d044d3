package trend

import (
	"cmp"
	"math"
	"slices"
)

// Value is a number of a series.
type Value struct {
	N       float64
	IsBound bool // the number is N or more
}

// Change is a place where the level of a series changed.
type Change struct {
	At        int   // the first number of the new level
	Before    Value // the median of the level before, and after
	After     Value
	Ratio     Value   // after / before: 1.1 is 10 % more. If it is a bound: at least N above 1, at most N below 1
	Low, High float64 // between them the ratio lies with a confidence of 99 %; 0 and +Inf are not known
}

// outlier is the distance from its level, in standard deviations, beyond which a number costs no more. With normal
// noise, 0.3 % of the numbers are beyond 3.
const outlier = 3

// LeastLevel is the least length of a level: fewer numbers are outliers. So a series with a change has at least twice
// as many.
const LeastLevel = 3

// price is what a change of level costs: more than two outliers do, and less than three.
const price = 2.2 * outlier * outlier

// Detect finds the changes in a series of at least least, a share: 0.05 finds changes by 5 % or
// more. Numbers that are not positive are left out. The times between the numbers do not matter.
// Between two bounds no change is found, because either number may be the larger one.
func Detect(series []Value, least float64) []Change {
	var x []Value // logarithms
	var at []int  // their places in the series
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

// minNoise is the least standard deviation that is taken for the noise: 0.5 %, because neighbouring
// numbers may be in one bin of a histogram.
const minNoise = 0.005

// deviation is the standard deviation that the noise of a series has for sums of many numbers. It
// comes from differences between numbers, which changes of level hardly affect.
func deviation(x []Value) float64 {
	one, two := steps(x, 1), steps(x, 2)
	noise := spread(one) / math.Sqrt2
	if n := float64(len(x)); n >= 20 && noise > 0 {
		// If the noise of a number is like that of the one before, with a correlation of r, the
		// variances of the differences are 2(1-r) and 2(1-r²) of that of the noise, and sums vary
		// as if the variance were (1+r)/(1-r) times as large. A short series says little about r:
		// a high one that is there by chance would hide large changes.
		r := min(max(variance(two)/variance(one)-1, 0), 0.9*n/(n+15))
		noise *= math.Sqrt(1+r) / (1 - r)
	}
	return max(noise, minNoise)
}

// steps are the differences, without their signs, between the numbers of a series that are so many apart. Between two
// bounds the difference is not known.
func steps(x []Value, apart int) (all []Value) {
	for i := apart; i < len(x); i++ {
		if !x[i].IsBound || !x[i-apart].IsBound {
			all = append(all, Value{N: math.Abs(x[i].N - x[i-apart].N)})
		}
	}
	return all
}

// spread is the standard deviation of differences, from their median: of a normal distribution that is 0.6745.
func spread(steps []Value) float64 { return Median(steps).N / 0.6745 }

// variance is that of differences without outliers, from all others: it varies less than the square of their spread.
func variance(steps []Value) float64 {
	sum, n, most := 0.0, 0.0, outlier*spread(steps)
	for _, s := range steps {
		if s.N <= most {
			sum, n = sum+sq(s.N), n+1
		}
	}
	return sum / max(n, 1)
}

func sq(x float64) float64 { return x * x }

// levels are the starts of the levels that cost least; the first is 0.
func levels(x []Value, noise, price float64) []int {
	if len(x) == 0 {
		return nil
	}
	grid := gridOf(x, noise)
	cost := make([]float64, len(grid)) // of the numbers so far, if the last is of a level
	from := make([][]int32, len(x))    // for each number and level: where the level started
	best := 0.0                        // the cheapest of all levels before the number
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
		from[i] = append(from[i], from[i][nextLevel]) // where the cheapest level of this number started
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

// gridOf are the levels that are tried: a quarter of the noise apart, where there are numbers.
func gridOf(x []Value, noise float64) []float64 {
	step := noise / 4
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
	return grid
}

// endOf is the end of the i-th level.
func endOf(starts []int, i, n int) int {
	if i+1 < len(starts) {
		return starts[i+1]
	}
	return n
}

// Median is the middle of some numbers, 0 of none. It is a bound if one of the smaller half is,
// because that may be larger.
func Median(x []Value) Value {
	if len(x) == 0 {
		return Value{}
	}
	s := slices.SortedFunc(slices.Values(x), func(a, b Value) int { return cmp.Compare(a.N, b.N) })
	isBound := slices.ContainsFunc(s[:len(s)/2+1], func(v Value) bool { return v.IsBound })
	return Value{(s[(len(s)-1)/2].N + s[len(s)/2].N) / 2, isBound}
}
