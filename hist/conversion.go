package hist

import "math"

// Conversion is how the bins of one layout come into a histogram of another. It is made
// once for many bins.
type Conversion struct {
	from, to Layout
	sameUnit bool
	isFiner  bool    // the bins that come are not wider
	nests    bool    // each lies within one of the other layout
	shift    int     // which is that of its index divided by 2^shift, at most the last one
	open     int     // the last bin of the other layout
	opening  int     // the last of those that come
	edges    []int64 // of the bins that come
	ends     []int64 // of the other layout's
}

// Convert makes the conversion of bins of one layout into another, by the rules of
// [Histogram.To].
func Convert(from, to Layout) Conversion {
	c := Conversion{
		from: from, to: to, shift: to.Coarseness() - from.Coarseness(), sameUnit: from.fio2 == to.fio2,
		open: to.Len() - 1, opening: from.Len() - 1, edges: from.edges(), ends: to.edges()[1:],
	}
	c.isFiner = c.shift >= 0
	c.nests = from.NestsIn(to)
	return c
}

// Is reports whether it is the conversion from one layout to another.
func (c *Conversion) Is(from, to Layout) bool { return c.from == from && c.to == to && c.edges != nil }

// Add adds n requests of bin i to h, which has the layout that the conversion leads to.
func (c *Conversion) Add(h *Histogram, i int, n float64) {
	if c.nests {
		h.AddAt(c.at(i), n)
		return
	}
	c.spread(h, i, n)
}

// at is the bin in which bin i lies, if it lies in one.
func (c *Conversion) at(i int) int { return min(i>>c.shift, c.open) }

// addBins adds a row's bins.
func (c *Conversion) addBins(h *Histogram, bins []Bin) {
	if !c.nests {
		for _, b := range bins {
			c.spread(h, int(b.Index), float64(b.Count))
		}
		return
	}
	h.cover(c.at(int(bins[0].Index)), c.at(int(bins[len(bins)-1].Index))+1)
	for _, b := range bins {
		h.counts[c.at(int(b.Index))] += float64(b.Count)
	}
}

// addAll adds the requests of other.
func (c *Conversion) addAll(h, other *Histogram) {
	if other.low == other.high {
		return
	}
	if !c.nests {
		for i, n := range other.All() {
			c.spread(h, i, n)
		}
		return
	}
	h.cover(c.at(other.low), c.at(other.high-1)+1)
	for i, n := range other.counts[other.low:other.high] {
		h.counts[c.at(other.low+i)] += n
	}
}

// spread adds n requests of bin i. A bin that lies within one of the histogram's goes
// there whole; else each takes the share that it overlaps. What is in an open bin stays in
// one: it may be of any latency above.
func (c *Conversion) spread(h *Histogram, i int, n float64) {
	opens := c.isFiner && i == c.opening
	switch {
	case n == 0:
		return
	case c.isFiner && c.sameUnit && !opens:
		h.AddAt(c.at(i), n)
		return
	case opens:
		h.rebinned = true
		h.AddAt(c.open, n)
		return
	}
	h.rebinned = true
	low, high := c.edges[i], c.edges[i+1]
	first, last := c.to.Index(low), c.to.Index(high-1)
	width, given := float64(high-low), 0.0
	for j := first; j < last; j++ {
		upTo := min(quantize(n*float64(c.ends[j]-low)/width), n)
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
