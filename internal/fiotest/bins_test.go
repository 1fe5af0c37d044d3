package fiotest

import "testing"

func TestBinBounds(t *testing.T) {
	// Computed by hand from fio's stat.c: index, lower edge, upper edge.
	fio3 := []struct {
		i      int
		lo, hi uint64
	}{
		{0, 0, 1},
		{127, 127, 128},
		{128, 128, 130},
		{191, 254, 256},
		{192, 256, 260},
		{1855, 127 << 27, 1 << 34},
		{-1, 0, 0},
		{1856, 0, 0},
	}
	for _, c := range fio3 {
		if lo, hi := bounds(edges3, c.i); lo != c.lo || hi != c.hi {
			t.Errorf("bounds(%d) = %d, %d; want %d, %d", c.i, lo, hi, c.lo, c.hi)
		}
	}
	if lo, hi := BinBounds2(1215); lo != 127<<17 || hi != 1<<24 {
		t.Errorf("BinBounds2(1215) = %d, %d", lo, hi)
	}
}

func TestBinIsInverse(t *testing.T) {
	layouts := map[string]struct {
		n     int
		edges []uint64
	}{"fio3": {29 * 64, edges3}, "fio2": {Bins2, edges2}}
	for name, l := range layouts {
		t.Run(name, func(t *testing.T) {
			var end uint64
			for i := range l.n {
				lo, hi := bounds(l.edges, i)
				if lo != end || hi <= lo {
					t.Fatalf("bin %d is [%d, %d) after %d", i, lo, hi, end)
				}
				if find(l.edges, lo) != i || find(l.edges, hi-1) != i {
					t.Fatalf("edges of bin %d fall into %d and %d", i, find(l.edges, lo), find(l.edges, hi-1))
				}
				end = hi
			}
			if got := find(l.edges, end); got != l.n-1 {
				t.Errorf("a latency beyond the layout falls into %d", got)
			}
			if got := find(l.edges, 1<<64-1); got != l.n-1 {
				t.Errorf("the longest latency falls into %d", got)
			}
		})
	}
}

// TestMiddle: names of bins in real json+ reports, which are fio's middles.
func TestMiddle(t *testing.T) {
	for _, want := range []uint64{3696, 3728, 27008, 89600, 1019904, 35389440} {
		if got := middle(edges3, find(edges3, want)); got != want {
			t.Errorf("the middle of the bin of %d is %d", want, got)
		}
	}
}
