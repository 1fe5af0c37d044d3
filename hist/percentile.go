package hist

import (
	"math"
	"math/big"
)

// Answer is a latency in nanoseconds with the bounds of its error. The exact value, computed from the raw completions,
// lies in [Low, High].
type Answer struct {
	Value float64
	Low   float64
	High  float64
	Open  bool // in the last bin: the latency is Value (= Low) or more; ignore High
}

// Percentile returns the latency of the request of rank ceil(q*N), with q in 0 … 1, by the rule of the package comment.
// For fractional weights the rank is interpolated between the ranks for the whole numbers around N, so it is
// continuous. The answer is NaN if the histogram is empty or q is NaN.
func (h *Histogram) Percentile(q float64) Answer { return h.Percentiles(q)[0] }

// Percentiles returns several percentiles. It needs only one pass if qs are ascending.
func (h *Histogram) Percentiles(qs ...float64) []Answer {
	out := make([]Answer, 0, len(qs))
	total := h.Total()
	whole := math.Floor(total)
	bin, before := h.low, 0.0 // the requests in all bins before bin
	at := math.Inf(-1)
	for _, q := range qs {
		if total <= 0 || math.IsNaN(q) {
			nan := math.NaN()
			out = append(out, Answer{Value: nan, Low: nan, High: nan})
			continue
		}
		// The request of rank q. Request i covers (i-1, i], and its place p is the middle, i-0.5.
		p := total / 2
		if total > 1 {
			q = min(max(q, 0), 1)
			rank := wholeRank(q, whole)
			if f := total - whole; f > 0 {
				rank = (1-f)*rank + f*wholeRank(q, whole+1)
			}
			p = min(max(rank, 1), total) - 0.5
		}
		if !(p >= at) { // not ascending: restart
			bin, before = h.low, 0
		}
		at = p
		for bin < h.high-1 && before+h.counts[bin-h.base] <= p {
			before += h.counts[bin-h.base]
			bin++
		}
		for h.counts[bin-h.base] == 0 && bin > h.low { // rounding moved p past the last request
			bin--
			before -= h.counts[bin-h.base]
		}
		out = append(out, h.inside(bin, (p-before)/h.counts[bin-h.base]))
	}
	return out
}

// wholeRank returns ceil(q*n), at least 1. A product that exceeds a whole number only by rounding counts as that
// number: 0.999 of 1000 is 999, not 1000.
func wholeRank(q, n float64) float64 {
	x := q * n
	if r := math.Round(x); math.Abs(x-r) <= 4e-16*n {
		return max(r, 1)
	}
	return max(math.Ceil(x), 1)
}

// inside returns the latency at the share t (0 … 1) of bin i. Of the last bin only the lowest latency is known.
func (h *Histogram) inside(i int, t float64) Answer {
	low, high := h.layout.Bounds(i)
	lo, hi := float64(low), float64(high-1)
	if h.layout.Open(i) {
		return Answer{Value: lo, Low: lo, High: hi, Open: true}
	}
	t = min(max(t, 0), 1)
	return Answer{Value: lo + t*(hi-lo), Low: lo, High: hi}
}

// PercentileAmong returns between which latencies the percentile q (0 … 1) lies of the histogram's requests and of more others, of
// which only the fastest and the slowest possible latency is known, in nanoseconds. Low is the percentile if all others are as fast
// as can be, and High if all are as slow. High is +Inf if it lies in the open bin or among others without a slowest one. Value is
// NaN, unless both are equal. The histogram must not be empty.
func (h *Histogram) PercentileAmong(q, more, fastest, slowest float64) Answer {
	total := math.Floor(h.Total())
	rank := wholeRank(min(max(q, 0), 1), total+more)
	at := func(rank float64) Answer { return h.Percentile(rank / total) }
	a := Answer{Value: math.NaN(), Low: fastest, High: slowest}
	if rank > more {
		a.Low = max(at(rank-more).Value, fastest)
	}
	if rank <= total {
		high := at(rank)
		if a.High = min(high.Value, slowest); high.Open {
			a.High = slowest
		}
	}
	if a.Low == a.High {
		a.Value = a.Low
	}
	return a
}

// ConfidenceInterval returns bounds of the percentile q (0 … 1), in nanoseconds, with a confidence such as 0.95. It
// takes the requests as a sample. The bounds are the latencies of two requests, whose ranks follow from the binomial
// distribution (order statistics). So they do not depend on the distribution of latencies. The formula is the normal
// approximation n*q ∓ z*sqrt(n*q*(1-q)), from Conover, Practical Nonparametric Statistics, 3.2. With many requests the
// ranks are within a bin; then only the interval from low.Low to high.High, the edges of bins, has the confidence.
// ConfidenceInterval returns false if there are too few requests (for p99 about 600), or if a bound is in the open bin.
func (h *Histogram) ConfidenceInterval(q, confidence float64) (low, high Answer, ok bool) {
	n := math.Floor(h.Total())
	z := math.Sqrt2 * math.Erfinv(confidence)
	reach := z * math.Sqrt(n*q*(1-q))
	first, last := math.Floor(n*q-reach), math.Ceil(n*q+reach)+1
	if !(first >= 1 && last <= n) {
		return Answer{}, Answer{}, false
	}
	ends := h.Percentiles(first/n, last/n)
	return ends[0], ends[1], !ends[1].Open
}

// CountWithin returns the number of requests that took at most ns nanoseconds. It is the inverse of Percentile, by the
// same rule within a bin. The exact number is between low and high.
func (h *Histogram) CountWithin(ns float64) (count, low, high float64) {
	edges, open := h.layout.edges(), h.layout.Len()-1
	for i := h.low; i < h.high; i++ {
		n := h.counts[i-h.base]
		switch first, last := float64(edges[i]), float64(edges[i+1]-1); {
		case ns < first:
			return count, count, count
		case ns >= last && i != open:
			count += n
		case i == open:
			// In an open bin the latencies of requests are unknown.
			return count, count, count + n
		default:
			return count + n*(ns-first)/(last-first), count, count + n
		}
	}
	return count, count, count
}

// Min returns the estimated lowest latency, which is the percentile 0. No request was faster than its Low, even if the
// weight of the lowest bin is too small for a rank.
func (h *Histogram) Min() Answer {
	a := h.Percentile(0)
	for i := range h.All() {
		a.Low = h.inside(i, 0).Low
		break
	}
	return a
}

// Max returns the estimated highest latency, which is the percentile 1. No other percentile is higher. No request was
// slower than its High, unless it is Open.
func (h *Histogram) Max() Answer {
	a := h.Percentile(1)
	for i := h.high - 1; i >= h.low; i-- {
		if h.counts[i-h.base] != 0 {
			end := h.inside(i, 1)
			a.High, a.Open = end.High, end.Open
			break
		}
	}
	return a
}

// Mean returns the mean latency, computed from the middles of the bins. The true mean lies in [Low, High].
func (h *Histogram) Mean() Answer {
	total, a := h.Total(), Answer{}
	edges := h.layout.edges()[h.low:] // slices in place of All: each window of a log asks for mean and deviation
	for i, n := range h.inUse() {
		a.Value += n * middle(edges[i], edges[i+1])
		a.Low += n * float64(edges[i])
		a.High += n * float64(edges[i+1]-1)
	}
	a.Value, a.Low, a.High = a.Value/total, a.Low/total, a.High/total
	a.Open = h.high == h.layout.Len() && h.high > h.low && h.counts[h.high-1-h.base] != 0
	return a
}

// Deviation returns the standard deviation from the mean in nanoseconds. It is that of all requests, not of a sample. The
// requests of each bin count as evenly spread.
func (h *Histogram) Deviation(mean float64) float64 {
	sum, edges := 0.0, h.layout.edges()[h.low:]
	for i, n := range h.inUse() {
		width, d := float64(edges[i+1]-1-edges[i]), middle(edges[i], edges[i+1])-mean
		sum += n * (d*d + width*width/12)
	}
	return math.Sqrt(sum / h.Total())
}

// FioPercentile returns what fio prints for the percentile f (0 … 100), in nanoseconds. This is fio's value of the
// first bin at which the count reaches f/100*N. It returns false if the histogram is empty or f is not a number.
//
// fio (calc_clat_percentiles in stat.c) computes the limit in long double from the double nearest to f, so 99.95 is a
// little more than 99.95. fio is built with -ffast-math, so the limit is f * (N * 0.01). A product with a 64-bit
// mantissa gives the same result.
func (h *Histogram) FioPercentile(f float64) (int64, bool) {
	if h.IsEmpty() || math.IsNaN(f) {
		return 0, false
	}
	limit := new(big.Float).SetPrec(64).Quo(big.NewFloat(1), big.NewFloat(100))
	limit.Mul(limit, big.NewFloat(h.Total()))
	limit.Mul(limit, big.NewFloat(f))
	sum, last := 0.0, 0
	for i, n := range h.All() {
		sum += n
		last = i
		if big.NewFloat(sum).Cmp(limit) >= 0 {
			break
		}
	}
	return h.layout.Representative(last), true
}
