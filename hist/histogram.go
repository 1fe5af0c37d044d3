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

// AddWeight adds n requests of bin i of layout l, which may make h's layout coarser.
func (h *Histogram) AddWeight(l Layout, i int, n float64) {
	if l == h.layout && h.used {
		h.AddAt(i, n)
		return
	}
	h.accept(l)
	p := h.path(l)
	p.spread(i, n)
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
			h.spreadBins(l, bins)
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
			h.spreadAll(other)
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
	out.spreadAll(h)
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

// path is how the bins of one layout come into those of a histogram of another.
type path struct {
	to       *Histogram
	sameUnit bool
	isFiner  bool    // the bins that come are not wider
	nests    bool    // each lies within one of the histogram's
	shift    int     // which is that of its index divided by 2^shift, at most the last one
	open     int     // the histogram's last bin
	opening  int     // the last of those that come
	edges    []int64 // of the bins that come
	ends     []int64 // of the histogram's
}

func (h *Histogram) path(l Layout) path {
	p := path{
		to: h, shift: h.layout.Coarseness() - l.Coarseness(), sameUnit: l.fio2 == h.layout.fio2,
		open: h.layout.Len() - 1, opening: l.Len() - 1, edges: l.edges(), ends: h.layout.edges()[1:],
	}
	p.isFiner = p.shift >= 0
	p.nests = p.isFiner && p.sameUnit && h.layout.more <= l.more
	return p
}

// spreadBins adds a row's bins, of another layout.
func (h *Histogram) spreadBins(l Layout, bins []Bin) {
	p := h.path(l)
	if !p.nests {
		for _, b := range bins {
			p.spread(int(b.Index), float64(b.Count))
		}
		return
	}
	h.cover(p.at(int(bins[0].Index)), p.at(int(bins[len(bins)-1].Index))+1)
	for _, b := range bins {
		h.counts[p.at(int(b.Index))] += float64(b.Count)
	}
}

// spreadAll adds the requests of other, of another layout.
func (h *Histogram) spreadAll(other *Histogram) {
	if other.low == other.high {
		return
	}
	p := h.path(other.layout)
	if !p.nests {
		for i, n := range other.All() {
			p.spread(i, n)
		}
		return
	}
	h.cover(p.at(other.low), p.at(other.high-1)+1)
	for i, n := range other.counts[other.low:other.high] {
		h.counts[p.at(other.low+i)] += n
	}
}

// at is the bin in which bin i lies, if it lies in one.
func (p *path) at(i int) int { return min(i>>p.shift, p.open) }

// spread adds n requests of bin i. A bin that lies within one of the histogram's goes
// there whole; else each takes the share that it overlaps. What is in an open bin stays in
// one: it may be of any latency above.
func (p *path) spread(i int, n float64) {
	h, opens := p.to, p.isFiner && i == p.opening
	switch {
	case n == 0:
		return
	case p.nests || p.isFiner && p.sameUnit && !opens:
		h.AddAt(p.at(i), n)
		return
	case opens:
		h.rebinned = true
		h.AddAt(p.open, n)
		return
	}
	h.rebinned = true
	low, high := p.edges[i], p.edges[i+1]
	first, last := h.layout.Index(low), h.layout.Index(high-1)
	width, given := float64(high-low), 0.0
	for j := first; j < last; j++ {
		upTo := min(quantize(n*float64(p.ends[j]-low)/width), n)
		h.AddAt(j, upTo-given)
		given = upTo
	}
	h.AddAt(last, n-given)
}

// quantize rounds a share of requests to a multiple of 2^-20: sums of such are exact
// up to 2^33, so that the order of merging does not matter. It is the sum of the shares
// so far that is rounded: then none is negative, and those of coarser bins are the sums
// of finer ones.
func quantize(n float64) float64 { return math.Round(n*(1<<20)) / (1 << 20) }

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
