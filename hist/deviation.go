package hist

import "math"

// Deviation is [Histogram.StdDev] with the bound of its error, which takes a hundred
// times as long. An empty histogram answers NaN.
//
// The deviation is least if all requests lie as close to one latency m as their bins
// allow: at m, or at the edge of their bin that is next to m, where m is the mean of these
// latencies. It is at most the root of min over c of E[max((low-c)², (high-c)²)]: any c bounds
// the variance. Requests at the edges further from the best c reach that bound; where both
// edges are equally far, some lie at each.
func (h *Histogram) Deviation() Answer {
	total := h.Total()
	if total <= 0 {
		nan := math.NaN()
		return Answer{Value: nan, Low: nan, High: nan}
	}
	a := Answer{Value: h.StdDev()}
	first, last := h.Min().Low, 0.0
	type box struct{ low, high, n float64 }
	var boxes []box
	for i, n := range h.All() {
		end := h.inside(i, 1)
		boxes = append(boxes, box{end.Low, end.High, n})
		last, a.Open = end.High, a.Open || end.Open
	}
	near := func(b box, m float64) float64 { return min(max(m, b.low), b.high) }
	far := func(b box, c float64) float64 {
		if c > (b.low+b.high)/2 {
			return b.low
		}
		return b.high
	}
	for _, bound := range []struct {
		to *float64
		at func(box, float64) float64
	}{{&a.Low, near}, {&a.High, far}} {
		// As m grows, the mean of these latencies grows less than m.
		from, to := first, last
		for range 64 {
			m, sum := (from+to)/2, 0.0
			for _, b := range boxes {
				sum += b.n * bound.at(b, m)
			}
			if sum > m*total {
				from = m
			} else {
				to = m
			}
		}
		m, squares := (from+to)/2, 0.0
		for _, b := range boxes {
			d := bound.at(b, m) - m
			squares += b.n * d * d
		}
		*bound.to = math.Sqrt(squares / total)
	}
	return a
}
