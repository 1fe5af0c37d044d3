package hist

import "math"

// ConfidenceInterval returns bounds of the percentile q (0 … 1) of the latencies that these requests are a sample of,
// with a confidence such as 0.95. The bounds are the latencies of two requests. The binomial distribution gives their
// ranks, for any distribution of latencies (order statistics; in its normal approximation n*q ∓ z*sqrt(n*q*(1-q)),
// Conover, Practical Nonparametric Statistics, 3.2). It returns false if there are too few requests, for p99 fewer than
// some 600, or if a bound lies in the open bin.
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
