package fiotest

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// AnyDirection makes the exact functions count requests of all directions.
const AnyDirection = -1

// Answer is the exact distribution of a window.
type Answer struct {
	// Requests is how many requests have a part in the window. Weight is the sum of their parts; if only completions
	// count, it is the same number.
	Requests int
	Weight   float64
	// Min and Max are the extreme latencies; zero without requests.
	Min, Max time.Duration
	// Quantiles are the wanted latencies, in the order of the arguments; zero without requests.
	Quantiles []time.Duration
}

// weighed is a latency and its weight.
type weighed struct {
	latency time.Duration
	weight  float64
}

// slack keeps a rank that is a whole number (0.999 of 1000) from becoming slightly larger in binary.
const slack = 1e-12

// Exact returns the distribution of the requests that completed in (from, to]. Quantile q (0 … 1) is the smallest
// latency whose cumulative count is at least q times their number (nearest rank).
func Exact(all []Completion, direction int, from, to time.Duration, q ...float64) Answer {
	return answer(all, direction, q, func(c Completion) float64 { return completed(c, from, to) })
}

// ExactInflightLong returns the distribution of the requests that were in flight in [from, to). A request of latency
// L that completed at c counts with the share of [c-L, c] inside the window. A request that took at most the length
// of the window counts fully in the window in which it completed. Quantile q (0 … 1) is the smallest latency whose
// cumulative weight is at least q times the total weight.
func ExactInflightLong(all []Completion, direction int, from, to time.Duration, q ...float64) Answer {
	return answer(all, direction, q, func(c Completion) float64 {
		if c.Latency <= to-from {
			return completed(c, from, to)
		}
		inside := min(c.Time, to) - max(c.Time-c.Latency, from)
		return max(0, float64(inside)/float64(c.Latency))
	})
}

func completed(c Completion, from, to time.Duration) float64 {
	if c.Time > from && c.Time <= to {
		return 1
	}
	return 0
}

func answer(all []Completion, direction int, q []float64, weigh func(Completion) float64) Answer {
	var parts []weighed
	a := Answer{Quantiles: make([]time.Duration, len(q))}
	for _, c := range all {
		if direction != AnyDirection && c.Direction != direction {
			continue
		}
		if w := weigh(c); w > 0 {
			parts = append(parts, weighed{c.Latency, w})
			a.Weight += w
		}
	}
	if len(parts) == 0 {
		return a
	}
	slices.SortFunc(parts, func(x, y weighed) int { return cmp.Compare(x.latency, y.latency) })
	a.Requests = len(parts)
	a.Min, a.Max = parts[0].latency, parts[len(parts)-1].latency
	for i, want := range q {
		a.Quantiles[i] = quantile(parts, want*a.Weight*(1-slack))
	}
	return a
}

// quantile returns the first latency at which the cumulative weight reaches need. It sums with error compensation,
// so that the order of many small shares does not change the answer.
func quantile(parts []weighed, need float64) time.Duration {
	var sum, lost float64
	for _, p := range parts {
		next := sum + p.weight
		if math.Abs(sum) >= p.weight {
			lost += (sum - next) + p.weight
		} else {
			lost += (p.weight - next) + sum
		}
		sum = next
		if sum+lost >= need {
			return p.latency
		}
	}
	return parts[len(parts)-1].latency
}
