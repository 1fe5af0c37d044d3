package hist

import (
	"errors"
	"math"
	"slices"
)

// ErrLayout means that no fio counts in such bins.
var ErrLayout = errors.New("not a layout of fio's histograms")

// MaxCount is the largest count of a bin that is exact: a float64 has 53 bits.
const MaxCount = 1 << 53

// Bin is one bin of a row of a log, with the whole requests that fio counted.
type Bin struct {
	Index uint32 // in the row's layout
	Count uint64 // requests; never 0 in the rows that this module makes
}

// Weight is one bin of a histogram. Weights are whole numbers unless requests were spread over several intervals. Whole
// weights are exact up to [MaxCount].
type Weight struct {
	Index int
	Count float64
}

// Histogram counts requests by latency. It stores the range of bins in use in a flat array, because its
// main work is to merge many rows. The zero value is empty and takes the layout of the first requests that are added. A
// Histogram is not safe for concurrent use.
type Histogram struct {
	layout   Layout
	rebinned bool
	used     bool // the layout is set
	low      int  // bins outside [low, high) are zero
	high     int
	base     int       // the bin of counts[0]
	counts   []float64 // has the bins from low to high, and more that are zero
}

// New makes an empty histogram of a layout.
func New(l Layout) *Histogram { return &Histogram{layout: l, used: true} }

// Layout is the geometry of the bins.
func (h *Histogram) Layout() Layout { return h.layout }

// Rebinned reports whether requests were spread over bins of another layout, such as from fio 2 to fio 3. The error of
// an answer is then up to one bin of fio 2.
func (h *Histogram) Rebinned() bool { return h.rebinned }

// Reset empties the histogram and keeps its layout and memory.
func (h *Histogram) Reset() {
	clear(h.inUse())
	h.low, h.high, h.rebinned = h.base, h.base, false
}

// inUse returns the bins of the range in use.
func (h *Histogram) inUse() []float64 { return h.counts[h.low-h.base : h.high-h.base] }

// AddAt adds n requests to bin i of the histogram's own layout.
func (h *Histogram) AddAt(i int, n float64) {
	if n == 0 {
		return
	}
	h.cover(i, i+1)
	h.counts[i-h.base] += n
}

// AddLatency adds n requests of a latency of ns nanoseconds.
func (h *Histogram) AddLatency(ns int64, n float64) {
	h.used = true
	h.AddAt(h.layout.Index(ns), n)
}

// AddBins adds the bins of a row. They must be in range and ascending. Counts above [MaxCount] are rounded.
func (h *Histogram) AddBins(l Layout, bins []Bin) {
	if len(bins) == 0 {
		return
	}
	if h.accept(l); l != h.layout {
		for _, b := range bins {
			h.convert(l, int(b.Index), float64(b.Count))
		}
		return
	}
	h.cover(int(bins[0].Index), int(bins[len(bins)-1].Index)+1)
	counts, base := h.counts, uint32(h.base)
	for _, b := range bins {
		if i := b.Index - base; int(i) < len(counts) { // always true; it saves a bounds check and a panic
			counts[i] += float64(b.Count)
		}
	}
}

// Merge adds all of other to h. The result has the layout [Layout.Merged] of the two, even if one of them is empty. If
// one is the zero value, the result has the layout of the other. Merging is commutative and associative, and exact for
// whole counts of one fio version. The exception is fio 2 in several layouts beside fio 3: there the result depends on
// the order of merging.
func (h *Histogram) Merge(other *Histogram) {
	if !other.used {
		return
	}
	h.rebinned = h.rebinned || other.rebinned
	if h.accept(other.layout); other.layout != h.layout {
		for i, n := range other.All() {
			h.convert(other.layout, i, n)
		}
		return
	}
	first := h.low == h.high
	h.cover(other.low, other.high)
	src := other.inUse()
	dst := h.counts[other.low-h.base:][:len(src)]
	if first { // copying does not read new memory: see grow
		copy(dst, src)
		return
	}
	for i, n := range src {
		dst[i] += n
	}
}

// Subtract subtracts other, which must have the same layout. It returns false and leaves h unchanged if the layouts
// differ or a bin would become negative.
func (h *Histogram) Subtract(other *Histogram) bool {
	if other.IsEmpty() {
		return true
	}
	if h.layout != other.layout {
		return false
	}
	for i := other.low; i < other.high; i++ {
		if n := other.counts[i-other.base]; n > 0 && (i < h.low || i >= h.high || n > h.counts[i-h.base]) {
			return false
		}
	}
	for i := max(other.low, h.low); i < min(other.high, h.high); i++ {
		h.counts[i-h.base] -= other.counts[i-other.base]
	}
	return true
}

// Clone returns a copy that shares no memory with h.
func (h *Histogram) Clone() *Histogram {
	c := *h
	c.base, c.counts = h.low, slices.Clone(h.inUse())
	return &c
}

// All iterates over the index and the count of each bin that is not zero, in ascending order.
func (h *Histogram) All() func(yield func(int, float64) bool) {
	return func(yield func(int, float64) bool) {
		for i, n := range h.inUse() {
			if n != 0 && !yield(h.low+i, n) {
				return
			}
		}
	}
}

// Weights returns the bins that are not zero, in ascending order.
func (h *Histogram) Weights() []Weight {
	var out []Weight
	for i, n := range h.All() {
		out = append(out, Weight{i, n})
	}
	return out
}

// Bins returns the bins that are not zero, in ascending order. All counts must be whole.
func (h *Histogram) Bins() []Bin {
	var out []Bin
	for i, n := range h.All() {
		out = append(out, Bin{Index: uint32(i), Count: uint64(n)})
	}
	return out
}

// Total returns the number of requests.
func (h *Histogram) Total() float64 {
	sum := 0.0
	for _, n := range h.inUse() {
		sum += n
	}
	return sum
}

// IsEmpty reports whether the histogram has no request.
func (h *Histogram) IsEmpty() bool {
	for _, n := range h.inUse() {
		if n != 0 {
			return false
		}
	}
	return true
}

// accept prepares h for requests of layout l. An unused histogram takes l. Otherwise h changes to the merged layout,
// which may be coarser.
func (h *Histogram) accept(l Layout) {
	switch {
	case !h.used:
		h.layout, h.used = l, true
	case l == h.layout:
	default:
		if m := h.layout.Merged(l); m != h.layout {
			*h = *h.To(m)
		}
	}
}

// cover extends the range in use by [low, high).
func (h *Histogram) cover(low, high int) {
	h.used = true
	if low < h.base || high > h.base+len(h.counts) {
		h.grow(low, high)
	}
	if h.low == h.high {
		h.low, h.high = low, high
		return
	}
	h.low, h.high = min(h.low, low), max(h.high, high)
}

// grow makes room for [low, high). The bins of most histograms lie within a third of those of their layout.
func (h *Histogram) grow(low, high int) {
	step := 64
	if len(h.counts) > 0 { // it grows, so more may follow
		step, low, high = 256, min(low, h.base), max(high, h.base+len(h.counts))
	}
	low, high = low/step*step, min((high+step-1)/step*step, h.layout.Len())
	counts := make([]float64, high-low)
	clear(counts) // without it, adding reads a new page of memory before the write, which costs two page faults
	if h.low < h.high {
		copy(counts[h.low-low:], h.inUse())
	} else {
		h.low, h.high = low, low
	}
	h.base, h.counts = low, counts
}

// To returns the histogram in another layout. The result is exact if l is of the same fio version and not finer. If l
// has more groups, no request may be in the open bin. In all other cases requests are spread in proportion to the
// overlap of bins, and the result is [Histogram.Rebinned]. Requests of the open bin stay in the open bin. If l has more
// groups, their latency then has no lower bound either. [Layout.Merged] never returns such a layout.
func (h *Histogram) To(l Layout) *Histogram {
	out := New(l)
	out.rebinned = h.rebinned
	for i, n := range h.All() {
		out.convert(h.layout, i, n)
	}
	return out
}

// Coarser returns the histogram in the layout [Layout.Coarser], exactly. It is h itself if h has it.
func (h *Histogram) Coarser(c int) *Histogram {
	if l := h.layout.Coarser(c); l != h.layout && h.used {
		return h.To(l)
	}
	return h
}

// AddWeights adds weights of bins of layout l. The bins must be in range and ascending.
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
	h.cover(weights[0].Index, weights[len(weights)-1].Index+1)
	for _, w := range weights {
		h.counts[w.Index-h.base] += w.Count
	}
}

// AddBetween adds n requests whose latencies are somewhere in [low, high) nanoseconds, with low < high: a bin of another
// program's histogram. Within one bin of h it is exact. Otherwise each bin that overlaps [low, high) gets a whole
// number of requests in proportion, and h is [Histogram.Rebinned]. The requests of a rank stay in bins that overlap theirs,
// so an answer of h differs from the truth by no more than from one end of these bins to the other. n is at most
// [MaxCount].
func (h *Histogram) AddBetween(low, high float64, n uint64) {
	whole := func(ns float64) int64 { // the lowest of the whole nanosecond
		if ns >= math.MaxInt64 {
			return math.MaxInt64
		}
		return int64(max(ns, 0))
	}
	first := h.layout.Index(whole(low))
	last := max(first, h.layout.Index(whole(math.Ceil(high)-1)))
	h.rebinned = h.rebinned || first < last
	given := 0.0
	for j := first; j < last; j++ { // the sum of the shares so far is rounded, so the rest is never negative
		_, end := h.layout.Bounds(j)
		upTo := max(given, math.Round(float64(n)*min((float64(end)-low)/(high-low), 1)))
		h.AddAt(j, upTo-given)
		given = upTo
	}
	h.AddAt(last, float64(n)-given)
}

// convert adds n requests of bin i of layout l. If the bin lies within one bin of h, all requests are added there.
// Otherwise they are divided among the bins that overlap it.
func (h *Histogram) convert(l Layout, i int, n float64) {
	to := h.layout
	shift := to.Coarseness() - l.Coarseness()
	isOpen := l.Open(i)
	switch {
	case n == 0:
		return
	case shift >= 0 && l.fio2 == to.fio2 && (!isOpen || l.more >= to.more):
		h.AddAt(min(i>>shift, to.Len()-1), n)
		return
	}
	h.rebinned = true
	if shift >= 0 && isOpen { // any latency above the low edge
		h.AddAt(to.Len()-1, n)
		return
	}
	low, high := l.Bounds(i)
	ends := to.edges()[1:]
	first, last := to.Index(low), to.Index(high-1)
	width, given := float64(high-low), 0.0
	for j := first; j < last; j++ {
		// Shares are multiples of 2^-20. Sums of such multiples are exact up to 2^33, so the order of merging does not
		// matter. The sum of the shares so far is rounded, not each share. So no share is negative, and shares of coarser
		// bins are sums of finer ones.
		const step = 1 << 20
		upTo := min(math.Round(n*float64(ends[j]-low)/width*step)/step, n)
		h.AddAt(j, upTo-given)
		given = upTo
	}
	h.AddAt(last, n-given)
}
