package hist_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
)

// TestAddBetween puts latencies into the bins of another histogram, with any edges, and these into bins of fio: no request
// is lost, and the request of each rank is in a bin that overlaps the bin that it came from.
func TestAddBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.OneOf(layouts(false), layouts(true)).Draw(t, "layout")
		edges := rapid.SliceOfNDistinct(rapid.Float64Range(0, 1e12), 2, 40, rapid.ID[float64]).Draw(t, "edges")
		slices.Sort(edges)
		h, total := hist.New(l), 0.0
		counts := make([]uint64, len(edges)-1)
		for i := range counts {
			counts[i] = rapid.OneOf(rapid.Uint64Range(0, 3), rapid.Uint64Range(0, 1<<40)).Draw(t, "count")
			total += float64(counts[i])
			h.AddBetween(edges[i], edges[i+1], counts[i])
		}
		if h.Total() != total {
			t.Fatalf("%v requests, want %v", h.Total(), total)
		}
		var got []hist.Weight
		for i, n := range h.All() {
			if n < 0 || n != math.Trunc(n) {
				t.Fatalf("bin %d has %v", i, n)
			}
			got = append(got, hist.Weight{Index: i, Count: n})
		}
		for i, n := range counts { // both are in order of latency
			for left := float64(n); left > 0; {
				low, high := l.Bounds(got[0].Index)
				if float64(low) >= edges[i+1] || float64(high) <= edges[i] && !l.Open(got[0].Index) {
					t.Fatalf("requests of %v … %v are in bin %d … %d", edges[i], edges[i+1], low, high)
				}
				taken := min(left, got[0].Count)
				left -= taken
				if got[0].Count -= taken; got[0].Count == 0 {
					got = got[1:]
				}
			}
		}
	})
}

// TestAddBetweenNested: what lies within one bin stays whole; what does not says so, and one request goes to the middle.
func TestAddBetweenNested(t *testing.T) {
	for _, c := range []struct {
		layout       hist.Layout
		low, high    float64
		n            uint64
		want         []hist.Bin
		wantRebinned bool
	}{
		{hist.Fio3(0), 130, 132, 7, []hist.Bin{{Index: 129, Count: 7}}, false},
		{hist.Fio3(0), 126.8, 126.9, 7, []hist.Bin{{Index: 126, Count: 7}}, false},
		{hist.Fio3(0), 126, 130, 4, []hist.Bin{{Index: 126, Count: 1}, {Index: 127, Count: 1}, {Index: 128, Count: 2}}, true},
		{hist.Fio3(0), 126, 130, 1, []hist.Bin{{Index: 127, Count: 1}}, true},
		{hist.Fio2(0), 5000, 6000, 3, []hist.Bin{{Index: 5, Count: 3}}, false},
		{hist.Fio3(0), -5, 1, 3, []hist.Bin{{Index: 0, Count: 3}}, false},
		{hist.Fio3(0), 9e18, math.Inf(1), 3, []hist.Bin{{Index: 1855, Count: 3}}, false},
	} {
		h := hist.New(c.layout)
		h.AddBetween(c.low, c.high, c.n)
		if !slices.Equal(h.Bins(), c.want) || h.Rebinned() != c.wantRebinned {
			t.Errorf("%d in %v … %v: %v, rebinned %v, want %v, %v", c.n, c.low, c.high, h.Bins(), h.Rebinned(), c.want, c.wantRebinned)
		}
	}
}
