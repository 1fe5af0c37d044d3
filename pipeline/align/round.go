package align

import (
	"cmp"
	"math"
	"slices"

	"github.com/fio2es/fio2es/hist"
)

// rounder turns the weights of one series into whole counts and keeps two sums right. The sum of each bin over time is
// exact, so over a run the count of a bin is the number of its requests. In each window, the sum of all bins up to each
// bin is right within a few requests, because percentiles depend on this sum. If each bin were rounded alone, many bins
// with a few tenths of a request would become zero in one window and twice their weight in another.
//
// What a bin is due is its weight over time less its counts so far. The rounder rounds this down or up, and up if this
// brings the sum of all bins so far closer to their weights. So the counts of a bin differ from its weights by less than
// one request. When all requests of a bin have come, they do not differ.
//
// Re-binning of fio 2 beside fio 3 leaves fractions in bins that never add up to whole requests. There the sum of all
// bins stays whole, too.
type rounder struct {
	layout    hist.Layout
	carry     []float64 // what each bin is still due, in (-1, 1) unless re-binned
	owed      float64   // the sum of carry
	rebinned  bool
	completed float64
	usual     int // number of bins of the window before, and an eighth more
}

// bins returns the whole counts of a window's weights, ascending and without zeros. The
// result is never nil: if no request rounds to one, it is empty.
func (r *rounder) bins(h *hist.Histogram) []hist.Bin {
	r.rebinned = r.rebinned || h.Rebinned()
	if r.carry == nil || r.layout != h.Layout() { // never finer than the layouts before
		was, carry := r.layout, r.carry
		r.layout = h.Layout()
		r.carry = make([]float64, r.layout.Len())
		for i, c := range carry {
			low, _ := was.Bounds(i)
			r.carry[r.layout.Index(low)] += c
		}
	}
	out := make([]hist.Bin, 0, r.usual)
	for i, weight := range h.All() {
		due := r.carry[i] + weight
		n := max(math.Floor(due), 0)
		if r.owed += weight; due > n && r.owed-n >= 0.5 {
			n++
		}
		r.owed -= n
		r.carry[i] = due - n
		if n > 0 {
			out = append(out, hist.Bin{Index: uint32(i), Count: uint64(n)})
		}
	}
	// Missing requests are added to the bins that are due most, and surplus requests are removed from those that are due
	// least.
	for ; r.rebinned && r.owed >= 0.5; r.owed-- {
		most := 0
		for i, c := range r.carry {
			if c > r.carry[most] {
				most = i
			}
		}
		r.carry[most]--
		byIndex := func(b hist.Bin, i uint32) int { return cmp.Compare(b.Index, i) }
		at, found := slices.BinarySearchFunc(out, uint32(most), byIndex)
		if !found {
			out = slices.Insert(out, at, hist.Bin{Index: uint32(most)})
		}
		out[at].Count++
	}
	for ; r.rebinned && r.owed < -0.5 && len(out) > 0; r.owed++ {
		least := 0
		for at, b := range out {
			if r.carry[b.Index] < r.carry[out[least].Index] {
				least = at
			}
		}
		r.carry[out[least].Index]++
		if out[least].Count--; out[least].Count == 0 {
			out = slices.Delete(out, least, least+1)
		}
	}
	r.usual = len(out) + len(out)/8
	return out
}

// count rounds the number of completions in the same way.
func (r *rounder) count(completed float64) int64 {
	sum := r.completed + completed
	n := math.Floor(sum + 0.5)
	r.completed = sum - n
	return int64(n)
}
