package hist

import "math"

// ConfidenceInterval returns bounds of the percentile q (0 … 1), in nanoseconds, with a confidence such as 0.95. It
// takes the requests as a sample. The bounds are the latencies of two requests, whose ranks follow from the binomial
// distribution (order statistics). So they do not depend on the distribution of latencies. The formula is the normal
// approximation n*q ∓ z*sqrt(n*q*(1-q)), from Conover, Practical Nonparametric Statistics, 3.2. ConfidenceInterval
// returns false if there are too few requests (for p99 about 600), or if a bound is in the open bin.
func (h *Histogram) ConfidenceInterval(q, confidence float64) (low, high float64, ok bool) {
	n := math.Floor(h.Total())
	z := math.Sqrt2 * math.Erfinv(confidence)
	reach := z * math.Sqrt(n*q*(1-q))
	first, last := math.Floor(n*q-reach), math.Ceil(n*q+reach)+1
	if !(first >= 1 && last <= n) {
		return 0, 0, false
	}
	ends := h.Percentiles(first/n, last/n)
	return ends[0].Value, ends[1].Value, !ends[1].Open
}
