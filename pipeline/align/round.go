package align

import (
	"cmp"
	"math"
	"slices"

	"github.com/fio2es/fio2es/hist"
)

// rounder makes whole counts of one series' weights. Each bin is rounded by its
// cumulative sum over time, n_k = round(S_k) - round(S_(k-1)): never negative, never
// drifting, and over a run the total is exactly the number of requests.
//
// Where re-binning (of fio 2 beside fio 3) leaves fractions in the bins for good, these
// would never add up: there the sum of all bins is kept whole, too.
type rounder struct {
	layout    hist.Layout
	carry     []float64 // S_k - round(S_k) of each bin, in [-0.5, 0.5) unless re-binned
	rebinned  bool
	completed float64
	usual     int // bins of a window, as of the last one
}

// bins are the whole counts of a window's weights: ascending, no zeros. They are never
// nil: that no request rounds to none is an answer, too.
func (r *rounder) bins(h *hist.Histogram) []hist.Bin {
	r.adopt(h)
	out := make([]hist.Bin, 0, r.usual+r.usual/8)
	for i, weight := range h.All() {
		sum := r.carry[i] + weight
		if n := math.Floor(sum + 0.5); n > 0 {
			out = append(out, hist.Bin{Index: uint32(i), Count: uint64(n)})
			sum -= n
		}
		r.carry[i] = sum
	}
	if r.rebinned {
		out = r.balance(out)
	}
	r.usual = len(out)
	return out
}

// adopt goes over to the layout of h, which is never finer than those before it.
func (r *rounder) adopt(h *hist.Histogram) {
	r.rebinned = r.rebinned || h.Rebinned()
	if r.carry != nil && r.layout == h.Layout() {
		return
	}
	was, carry := r.layout, r.carry
	r.layout = h.Layout()
	r.carry = make([]float64, r.layout.Len())
	for i, c := range carry {
		low, _ := was.Bounds(i)
		r.carry[r.layout.Index(low)] += c
	}
}

// balance gives requests that are missing over all bins to those that are owed most,
// and takes those that are too many from the bins that were given most.
func (r *rounder) balance(bins []hist.Bin) []hist.Bin {
	owed := 0.0
	for _, c := range r.carry {
		owed += c
	}
	for ; owed >= 0.5; owed-- {
		most := 0
		for i, c := range r.carry {
			if c > r.carry[most] {
				most = i
			}
		}
		r.carry[most]--
		at, found := slices.BinarySearchFunc(bins, uint32(most), func(b hist.Bin, i uint32) int { return cmp.Compare(b.Index, i) })
		if !found {
			bins = slices.Insert(bins, at, hist.Bin{Index: uint32(most)})
		}
		bins[at].Count++
	}
	for ; owed < -0.5 && len(bins) > 0; owed++ {
		least := 0
		for at, b := range bins {
			if r.carry[b.Index] < r.carry[bins[least].Index] {
				least = at
			}
		}
		r.carry[bins[least].Index]++
		if bins[least].Count--; bins[least].Count == 0 {
			bins = slices.Delete(bins, least, least+1)
		}
	}
	return bins
}

// count is the same for the number of completions.
func (r *rounder) count(completed float64) int64 {
	sum := r.completed + completed
	n := math.Floor(sum + 0.5)
	r.completed = sum - n
	return int64(n)
}
