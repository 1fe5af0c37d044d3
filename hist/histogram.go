package hist

import (
	"errors"
	"fmt"
	"math"
	"slices"
)

// The ways in which a histogram can be wrong.
var (
	ErrIndex    = errors.New("bin index out of range or not ascending")
	ErrCount    = errors.New("count is negative or not a number")
	ErrTooLarge = errors.New("count above 2^53, more than any device can serve")
	ErrLayout   = errors.New("not a layout of fio's histograms")
)

// MaxCount is the largest count a bin can hold without losing single requests.
const MaxCount = 1 << 53

// Bin is one bin of a log's row: whole requests, as fio counted them.
type Bin struct {
	Index uint32 // in the row's layout
	Count uint64 // requests; never 0 in the rows that this module makes
}

// Weight is one bin of a histogram. Weights are whole unless requests were spread
// over several intervals; whole ones are exact up to [MaxCount].
type Weight struct {
	Index int
	Count float64
}

// Histogram is how many requests had which latency. It is sparse and dense at once:
// a flat array of which only the used range is ever looked at, because merging many
// rows into one is what it does most. The zero value is empty and takes the layout
// of what is first added. It is not safe for concurrent use.
type Histogram struct {
	layout   Layout
	rebinned bool
	used     bool // the layout is set
	low      int  // the bins in [low, high) may be other than zero
	high     int
	counts   []float64 // nil or layout.Len() long
}

// New makes an empty histogram of a layout.
func New(l Layout) *Histogram { return &Histogram{layout: l, used: true} }

// FromWeights makes a histogram from its non-zero bins, ascending by index.
// It fails with [ErrIndex], [ErrCount] or [ErrTooLarge].
func FromWeights(l Layout, bins []Weight) (*Histogram, error) {
	h := New(l)
	last := -1
	for _, b := range bins {
		if b.Index <= last || b.Index >= l.Len() {
			return nil, fmt.Errorf("bin %d: %w", b.Index, ErrIndex)
		}
		if !(b.Count >= 0) {
			return nil, fmt.Errorf("bin %d: %w", b.Index, ErrCount)
		}
		if b.Count > MaxCount {
			return nil, fmt.Errorf("bin %d: %w", b.Index, ErrTooLarge)
		}
		last = b.Index
		h.AddAt(b.Index, b.Count)
	}
	return h, nil
}

// Layout is the geometry of the bins.
func (h *Histogram) Layout() Layout { return h.layout }

// Rebinned tells that counts of fio 2 were spread over bins of fio 3 in proportion,
// so that answers may be off by a bin of fio 2 instead of one of fio 3.
func (h *Histogram) Rebinned() bool { return h.rebinned }

// Reset empties the histogram and keeps its layout and memory.
func (h *Histogram) Reset() {
	clear(h.counts[h.low:h.high])
	h.low, h.high, h.rebinned = 0, 0, false
}

// AddAt adds n requests to bin i of the histogram's own layout.
func (h *Histogram) AddAt(i int, n float64) {
	if n == 0 {
		return
	}
	h.cover(i, i+1)
	h.counts[i] += n
}

// AddLatency adds n requests of a latency of ns nanoseconds.
func (h *Histogram) AddLatency(ns int64, n float64) {
	h.used = true
	h.AddAt(h.layout.Index(ns), n)
}

// AddBins adds a row's bins, which must be in range and ascending. Counts above
// [MaxCount] lose their last digits; [CheckBins] finds them.
func (h *Histogram) AddBins(l Layout, bins []Bin) {
	if len(bins) == 0 {
		return
	}
	if l != h.layout || !h.used {
		if h.accept(l); l != h.layout {
			c := Convert(l, h.layout)
			c.addBins(h, bins)
			return
		}
	}
	h.cover(int(bins[0].Index), int(bins[len(bins)-1].Index)+1)
	counts := h.counts
	for _, b := range bins {
		if int(b.Index) < len(counts) { // always: spares a bounds check and a panic
			counts[b.Index] += float64(b.Count)
		}
	}
}

// CheckBins tells what is wrong with a row's bins, if anything: [ErrIndex] or
// [ErrTooLarge]. The position of the bin comes with it.
func CheckBins(l Layout, bins []Bin) (int, error) {
	last := -1
	for i, b := range bins {
		switch {
		case int(b.Index) <= last || int(b.Index) >= l.Len():
			return i, ErrIndex
		case b.Count > MaxCount:
			return i, ErrTooLarge
		}
		last = int(b.Index)
	}
	return -1, nil
}

// Merge adds all of other to h. The result has the layout [Layout.Merged] of the two, also
// when one is empty (but for the zero value, which has none). Merging is commutative
// and associative, and exact for whole counts of one fio version. One exception: fio 2
// of several layouts beside fio 3, where it matters which were joined first.
func (h *Histogram) Merge(other *Histogram) {
	if !other.used {
		return
	}
	h.rebinned = h.rebinned || other.rebinned
	if other.layout != h.layout || !h.used {
		if h.accept(other.layout); other.layout != h.layout {
			c := Convert(other.layout, h.layout)
			c.addAll(h, other)
			return
		}
	}
	first := h.low == h.high
	h.cover(other.low, other.high)
	dst := h.counts[other.low:other.high]
	if first { // new memory is better not read before it is written
		copy(dst, other.counts[other.low:other.high])
		return
	}
	for i, n := range other.counts[other.low:other.high] {
		dst[i] += n
	}
}

// Subtract takes other, of the same layout, from h. It reports false, and leaves h as
// it was, when a bin would become negative or the layouts differ.
func (h *Histogram) Subtract(other *Histogram) bool {
	if other.IsEmpty() {
		return true
	}
	if h.layout != other.layout {
		return false
	}
	for i := other.low; i < other.high; i++ {
		if other.counts[i] > h.at(i) {
			return false
		}
	}
	for i := max(other.low, h.low); i < min(other.high, h.high); i++ {
		h.counts[i] -= other.counts[i]
	}
	return true
}

// To is the histogram in another layout. It is exact where the other one is of the same
// fio version and not finer, and has no more groups, or no request is in the open bin.
// Else requests are spread in proportion to the bins' overlap, and the result is Rebinned.
// What is in the open bin stays in one, and with more groups its latency is then not
// bounded from below either: [Layout.Merged] never leads there.
func (h *Histogram) To(l Layout) *Histogram {
	out := New(l)
	out.rebinned = h.rebinned
	c := Convert(h.layout, l)
	c.addAll(out, h)
	return out
}

// Clone is a copy that shares nothing with h.
func (h *Histogram) Clone() *Histogram {
	c := *h
	c.counts = slices.Clone(h.counts)
	return &c
}

// All are the bins that are not zero, ascending: index and count.
func (h *Histogram) All() func(yield func(int, float64) bool) {
	return func(yield func(int, float64) bool) {
		for i := h.low; i < h.high; i++ {
			if n := h.counts[i]; n != 0 && !yield(i, n) {
				return
			}
		}
	}
}

// Weights are the bins that are not zero, ascending.
func (h *Histogram) Weights() []Weight {
	var out []Weight
	for i, n := range h.All() {
		out = append(out, Weight{i, n})
	}
	return out
}

// Total is the number of requests.
func (h *Histogram) Total() float64 {
	sum := 0.0
	for _, n := range h.counts[h.low:h.high] {
		sum += n
	}
	return sum
}

// IsEmpty tells whether there is no request in it.
func (h *Histogram) IsEmpty() bool {
	for _, n := range h.counts[h.low:h.high] {
		if n != 0 {
			return false
		}
	}
	return true
}

// accept makes room for what has layout l: the first one sets the histogram's own,
// others may make it coarser.
func (h *Histogram) accept(l Layout) {
	if !h.used {
		h.layout, h.used = l, true
		return
	}
	if m := h.layout.Merged(l); m != h.layout {
		*h = *h.To(m)
	}
}

// cover makes [low, high) part of the range that is looked at.
func (h *Histogram) cover(low, high int) {
	h.used = true
	if h.counts == nil {
		h.counts = make([]float64, h.layout.Len())
	}
	if h.low == h.high {
		h.low, h.high = low, high
		return
	}
	h.low, h.high = min(h.low, low), max(h.high, high)
}

func (h *Histogram) at(i int) float64 {
	if i < h.low || i >= h.high {
		return 0
	}
	return h.counts[i]
}

// isWhole tells whether x is a whole number, as sums of whole counts are.
func isWhole(x float64) bool { return x == math.Trunc(x) }
