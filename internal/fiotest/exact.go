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
	// Requests is how many requests have a part in it, Weight the sum of their
	// parts; they are the same where only completions count.
	Requests int
	Weight   float64
	// Min and Max are the extreme latencies; zero without requests.
	Min, Max time.Duration
	// Quantiles are the latencies asked for, in the order asked; zero without
	// requests.
	Quantiles []time.Duration
}

// weighed is a latency and how much it counts.
type weighed struct {
	latency time.Duration
	weight  float64
}

// slack keeps a rank that is whole on paper (0.999 of 1000) from becoming a
// little more in binary.
const slack = 1e-12

// Exact answers for the requests that completed in (from, to]: quantile q is
// the smallest latency whose cumulative count is at least q times their number
// (nearest rank). q lies within 0 and 1.
func Exact(all []Completion, direction int, from, to time.Duration, q ...float64) Answer {
	return answer(all, direction, q, func(c Completion) float64 { return completed(c, from, to) })
}

// ExactInflightLong answers for the requests that were under way in [from, to). A
// request of latency L that completed at c counts by the share of its life
// [c-L, c] inside the window; one that took no longer than the window counts
// whole, in the window where it completed. Quantile q is the smallest latency
// whose cumulative weight is at least q times the whole weight.
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

// quantile returns the first latency at which the cumulative weight reaches
// need. Weights are summed with the error carried along, so that the order of
// many small shares does not move the answer.
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
