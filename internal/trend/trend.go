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

func (v Value) low() float64  { return v.Low }
func (v Value) high() float64 { return v.High }

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
// numbers that are not positive. The times between the numbers do not matter. visible is the smallest change, as a share, that Detect
// finds if the last [LeastLevel] numbers have it: smaller changes are not ruled out by finding none. It is +Inf if the series is too
// short for a change.
func Detect(series []Value, least float64) (changes []Change, visible float64) {
	x := make([]Value, 0, len(series)) // logarithms
	at := make([]int, 0, len(series))  // their indices in the series
	for i, v := range series {
		if v.Low > 0 && !math.IsInf(v.Low, 1) {
			low := math.Log(v.Low)
			high := low
			if !v.IsKnown() {
				high = math.Log(v.High)
			}
			x, at = append(x, Value{low, high}), append(at, i)
		}
	}
	noise := deviation(x)
	changes = measure(x, levels(x, noise, price), least)
	for i := range changes {
		changes[i].At = at[changes[i].At]
	}
	n := float64(len(x))
	if len(x) < 2*LeastLevel {
		return changes, math.Inf(1)
	}
	// A step of height h in the last k of n numbers costs k*(n-k)/n*h² if no change of level explains it.
	const k = LeastLevel
	return changes, math.Expm1(noise * math.Sqrt(price*n/(k*(n-k))))
}

// minNoise is the smallest standard deviation that noise is assumed to have: 0.5 %, because neighbouring numbers may
// be in one bin of a histogram.
const minNoise = 0.005

// deviation returns the standard deviation that the noise of a series has for sums of many numbers. It is computed
// from differences between numbers, because changes of level hardly affect these.
func deviation(x []Value) float64 {
	one, two := steps(x, 1), steps(x, 2)
	noise := spread(slices.Clone(one)) / math.Sqrt2
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
func steps(x []Value, apart int) []float64 {
	all := make([]float64, 0, len(x))
	for i := apart; i < len(x); i++ {
		if a, b := x[i], x[i-apart]; !math.IsInf(a.High, 1) || !math.IsInf(b.High, 1) {
			all = append(all, math.Abs(a.Middle()-b.Middle()))
		}
	}
	return all
}

// spread returns the standard deviation of differences, which it puts into another order. It is computed from their median, which is
// 0.6745 standard deviations for a normal distribution.
func spread(steps []float64) float64 { return median(steps) / 0.6745 }

// variance returns the variance of differences without outliers. It uses all other differences, because it then
// varies less than the square of their spread.
func variance(steps []float64) float64 {
	sum, n, most := 0.0, 0.0, outlier*spread(slices.Clone(steps))
	for _, s := range steps {
		if s <= most {
			sum, n = sum+s*s, n+1
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
	first := x[0].Low
	places := make([]int, 0, len(x))
	for _, v := range x {
		places = append(places, int(math.Round((v.Low-first)/step)))
		if !v.IsKnown() && !math.IsInf(v.High, 1) {
			places = append(places, int(math.Round((v.High-first)/step)))
		}
	}
	slices.Sort(places)
	var grid []float64
	next := math.MinInt // place of the next level
	for _, place := range places {
		for next = max(next, place-4); next <= place+4; next++ {
			grid = append(grid, first+float64(next)*step)
		}
	}
	cost := make([]float64, len(grid)) // lowest cost of the numbers so far, if the last one has this level
	start := make([]int, len(grid))    // where that level then starts
	lowest := make([]int, len(x))      // by number: where the level with the lowest cost starts
	best := 0.0                        // lowest cost over all levels before this number
	for i, v := range x {
		most := best + price
		isKnown, lowestCost := v.IsKnown(), math.Inf(1)
		for l, level := range grid {
			c := cost[l]
			if c > most {
				c, start[l] = most, i
			}
			d := math.Abs(v.Low - level)
			if !isKnown {
				d = v.from(level)
			}
			d = min(d/noise, outlier) // no branch, which could not be predicted
			c += d * d
			if cost[l] = c; c < lowestCost {
				lowestCost, lowest[i] = c, start[l]
			}
		}
		best = lowestCost
	}
	var starts []int
	for i := len(x) - 1; i >= 0; i = lowest[i] - 1 {
		starts = append(starts, lowest[i])
	}
	slices.Reverse(starts)
	return starts
}

// Median returns the middle of some numbers, or 0 if there are none.
func Median(x []Value) Value {
	list := make([]float64, len(x))
	middle := func(of func(Value) float64) float64 {
		for i, v := range x {
			list[i] = of(v)
		}
		return median(list)
	}
	low := middle(func(v Value) float64 { return v.Low })
	if areKnown(x) {
		return Known(low)
	}
	return Value{low, middle(func(v Value) float64 { return v.High })}
}

// median returns the middle of some numbers, or 0 if there are none. It divides the list as [nth] does.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	middle := (len(list) - 1) / 2
	low := nth(list, middle)
	if len(list)%2 == 1 {
		return low
	}
	return (low + slices.Min(list[middle+1:])) / 2
}

// nth returns the number that is at an index if a list is sorted. It divides the list there: no number before is larger, and none after is
// smaller. Sorting all takes several times as long.
func nth(list []float64, index int) float64 {
	const few = 16
	low, high := 0, len(list)
	for high-low > few {
		a, b, c := list[low], list[low+(high-low)/2], list[high-1]
		pivot := max(min(a, b), min(max(a, b), c)) // their middle
		i, k := low, high-1
		for i <= k {
			for list[i] < pivot {
				i++
			}
			for list[k] > pivot {
				k--
			}
			if i <= k {
				list[i], list[k] = list[k], list[i]
				i, k = i+1, k-1
			}
		}
		switch {
		case index <= k:
			high = k + 1
		case index >= i:
			low = i
		default:
			return list[index]
		}
	}
	slices.Sort(list[low:high])
	return list[index]
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
	lows := differences{sorted(after, Value.low), sorted(before, Value.high)}
	highs, middle := lows, Known(lows.median())
	if !areKnown(before) || !areKnown(after) {
		highs = differences{sorted(after, Value.high), sorted(before, Value.low)}
		middle.High = highs.median()
	}
	const z = 2.576
	last := len(before)*len(after) - 1
	k := int(math.Floor(m*n/2 - z*math.Sqrt(m*n*(m+n+1)/12)))
	k = min(max(k, 0), last/2)
	return middle, lows.nth(k), highs.nth(last - k)
}

// differences are those between each number of a list and each of another one. Both lists are sorted, so that the differences need not be
// made: of 200 numbers each they are 40,000.
type differences struct{ of, from []float64 }

func sorted(list []Value, bound func(Value) float64) (numbers []float64) {
	for _, v := range list {
		numbers = append(numbers, bound(v))
	}
	slices.Sort(numbers)
	return numbers
}

func (d differences) median() float64 {
	n := len(d.of) * len(d.from)
	if n%2 == 1 {
		return d.nth(n / 2)
	}
	return (d.nth(n/2-1) + d.nth(n/2)) / 2
}

// nth returns the difference that is at an index if all are sorted: the lowest number that more differences do not exceed.
func (d differences) nth(index int) float64 {
	low, high := place(d.of[0]-d.from[len(d.from)-1]), place(d.of[len(d.of)-1]-d.from[0])
	for low < high {
		middle := low + (high-low)/2
		most, n, k := number(middle), 0, 0
		for _, x := range d.of {
			for k < len(d.from) && x-d.from[k] > most {
				k++
			}
			n += len(d.from) - k
		}
		if n > index {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return number(low)
}

// place returns the place of a number among all of its type, and number the number of a place.
func place(x float64) uint64 {
	b := math.Float64bits(x)
	if b>>63 == 1 {
		return ^b
	}
	return b | 1<<63
}

func number(place uint64) float64 {
	if place>>63 == 0 {
		return math.Float64frombits(^place)
	}
	return math.Float64frombits(place &^ (1 << 63))
}
