package hist

import "math"

// To returns the histogram in another layout. The result is exact if l is of the same fio version and not finer. If l
// has more groups, no request may be in the open bin. In all other cases requests are spread in proportion to the
// overlap of bins, and the result is [Histogram.Rebinned]. Requests of the open bin stay in the open bin. If l has more
// groups, their latency then has no lower bound either. [Layout.Merged] never returns such a layout.
func (h *Histogram) To(l Layout) *Histogram {
	out := New(l)
	out.rebinned = h.rebinned
	out.convertAll(h)
	return out
}

// AddWeights adds weights of bins of layout l. The bins must be in range.
func (h *Histogram) AddWeights(l Layout, weights []Weight) {
	if len(weights) == 0 {
		return
	}
	if h.accept(l); l != h.layout {
		for _, w := range weights {
			h.convert(l, w.Index, w.Count)
		}
		return
	}
	for _, w := range weights {
		h.AddAt(w.Index, w.Count)
	}
}

func (h *Histogram) convertAll(other *Histogram) {
	for i, n := range other.All() {
		h.convert(other.layout, i, n)
	}
}

// convert adds n requests of bin i of layout l. If the bin lies within one bin of h, all requests are added there.
// Otherwise they are divided among the bins that overlap it.
func (h *Histogram) convert(l Layout, i int, n float64) {
	to := h.layout
	shift := to.Coarseness() - l.Coarseness()
	opens := l.Open(i)
	switch {
	case n == 0:
		return
	case l.NestsIn(to), shift >= 0 && l.fio2 == to.fio2 && !opens:
		h.AddAt(min(i>>shift, to.Len()-1), n)
		return
	}
	h.rebinned = true
	if shift >= 0 && opens { // any latency above the low edge
		h.AddAt(to.Len()-1, n)
		return
	}
	low, high := l.Bounds(i)
	ends := to.edges()[1:]
	first, last := to.Index(low), to.Index(high-1)
	width, given := float64(high-low), 0.0
	for j := first; j < last; j++ {
		upTo := min(quantize(n*float64(ends[j]-low)/width), n)
		h.AddAt(j, upTo-given)
		given = upTo
	}
	h.AddAt(last, n-given)
}

// quantize rounds a share of requests to a multiple of 2^-20. Sums of such multiples are exact up to 2^33, so the order
// of merging does not matter. convert rounds the sum of the shares so far, not each share. So no share is negative, and
// shares of coarser bins are sums of finer ones.
func quantize(n float64) float64 { return math.Round(n*(1<<20)) / (1 << 20) }
