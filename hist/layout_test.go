package hist_test

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
)

// columns are the lengths of the rows that fio can write, by coarseness.
var columns = map[bool][]int{
	false: {1856, 928, 464, 232, 116, 58, 29},
	true:  {1216, 608, 304, 152, 76, 38, 19},
}

// allLayouts are the 14 layouts that fio can write.
func allLayouts() []hist.Layout {
	var out []hist.Layout
	for c := range 7 {
		out = append(out, hist.Fio3(c), hist.Fio2(c))
	}
	return out
}

// walkEdges finds the edges of a layout's bins by laying bin after bin: two groups
// of 64 bins of one unit each, then 64 of each next power of two.
func walkEdges(l hist.Layout) []int64 {
	groups, width := 29, int64(1)
	if l.Fio2() {
		groups, width = 19, 1000
	}
	fine := []int64{0}
	for g := range groups {
		if g >= 2 {
			width *= 2
		}
		for range 64 {
			fine = append(fine, fine[len(fine)-1]+width)
		}
	}
	var edges []int64
	for i := 0; i < len(fine); i += 1 << l.Coarseness() {
		edges = append(edges, fine[i])
	}
	return edges
}

// walkIndex is the bin of a latency by search in the edges.
func walkIndex(edges []int64, ns int64) int {
	above := sort.Search(len(edges), func(i int) bool { return edges[i] > ns })
	return min(max(above-1, 0), len(edges)-2)
}

// platIdxToVal is fio's function of that name, computed as its C does.
func platIdxToVal(idx uint) uint64 {
	const platBits, platVal = 6, 64
	if idx < platVal<<1 {
		return uint64(idx)
	}
	errorBits := (idx >> platBits) - 1
	base := uint64(1) << (errorBits + platBits)
	k := idx % platVal
	return base + uint64((float64(k)+0.5)*float64(uint64(1)<<errorBits))
}

// latency draws latencies evenly over the orders of magnitude, up to 137 s: well
// into the open bin.
func latency() *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 {
		return rapid.Int64Range(0, 1<<rapid.IntRange(0, 37).Draw(t, "bits")).Draw(t, "ns")
	})
}

func TestForColumns(t *testing.T) {
	for fio2, ns := range columns {
		for c, n := range ns {
			t.Run(fmt.Sprint(n), func(t *testing.T) {
				l, err := hist.ForColumns(n)
				if err != nil {
					t.Fatal(err)
				}
				if l.Fio2() != fio2 || l.Coarseness() != c || l.Len() != n {
					t.Errorf("got %v with %d bins, want fio2=%v, coarseness %d", l, l.Len(), fio2, c)
				}
			})
		}
	}
	for _, n := range []int{-1856, -1, 0, 1, 5, 14, 28, 30, 1215, 1217, 1536, 1849, 1855, 1857, 3712} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			if l, err := hist.ForColumns(n); !errors.Is(err, hist.ErrColumns) {
				t.Errorf("got %v, %v, want ErrColumns", l, err)
			}
		})
	}
}

func TestLayoutNames(t *testing.T) {
	if got, want := hist.Fio3(2).String(), "fio 3, coarseness 2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := hist.Fio2(0).String(), "fio 2, coarseness 0"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if (hist.Layout{}) != hist.Fio3(0) {
		t.Error("the zero layout is not fio 3's finest")
	}
	if hist.MaxColumns != hist.Fio3(0).Len() {
		t.Errorf("MaxColumns is %d, fio 3 has %d bins", hist.MaxColumns, hist.Fio3(0).Len())
	}
}

func TestLayoutRefusesCoarseness(t *testing.T) {
	for _, c := range []int{-1, 7, 300} {
		for name, build := range map[string]func(int) hist.Layout{"fio 3": hist.Fio3, "fio 2": hist.Fio2} {
			t.Run(fmt.Sprint(name, " ", c), func(t *testing.T) {
				defer func() {
					if recover() == nil {
						t.Error("no panic")
					}
				}()
				build(c)
			})
		}
	}
}

// TestBounds compares all bins with the walk, which has no gap by construction, and
// takes the bin's index back from its lowest and highest latency.
func TestBounds(t *testing.T) {
	for _, l := range allLayouts() {
		t.Run(l.String(), func(t *testing.T) {
			edges := walkEdges(l)
			if len(edges) != l.Len()+1 {
				t.Fatalf("%d bins, want %d", l.Len(), len(edges)-1)
			}
			for i := range l.Len() {
				low, high := l.Bounds(i)
				if low != edges[i] || high != edges[i+1] {
					t.Fatalf("bin %d is [%d, %d), want [%d, %d)", i, low, high, edges[i], edges[i+1])
				}
				for _, ns := range []int64{low, (low + high) / 2, high - 1} {
					if got := l.Index(ns); got != i {
						t.Fatalf("%d ns is in bin %d, want %d", ns, got, i)
					}
				}
				if want := (float64(low) + float64(high-1)) / 2; l.Middle(i) != want {
					t.Fatalf("middle of bin %d is %v, want %v", i, l.Middle(i), want)
				}
				if open := i == len(edges)-2; l.Open(i) != open {
					t.Fatalf("bin %d: Open is %v", i, l.Open(i))
				}
			}
		})
	}
}

// TestBoundsOfFacts has the numbers of the package's table and of fio's stat.c.
func TestBoundsOfFacts(t *testing.T) {
	for _, c := range []struct {
		layout    hist.Layout
		bin       int
		low, high int64
	}{
		{hist.Fio3(0), 0, 0, 1},
		{hist.Fio3(0), 127, 127, 128},
		{hist.Fio3(0), 128, 128, 130},
		{hist.Fio3(0), 191, 254, 256},
		{hist.Fio3(0), 192, 256, 260},
		{hist.Fio3(0), 1792, 1 << 33, 1<<33 + 1<<27},
		{hist.Fio3(0), 1855, 1<<34 - 1<<27, 1 << 34},
		{hist.Fio3(6), 0, 0, 64},
		{hist.Fio3(6), 28, 1 << 33, 1 << 34},
		{hist.Fio2(0), 1, 1000, 2000},
		{hist.Fio2(0), 1215, (1<<24 - 1<<17) * 1000, 1 << 24 * 1000},
	} {
		low, high := c.layout.Bounds(c.bin)
		if low != c.low || high != c.high {
			t.Errorf("%v, bin %d: got [%d, %d), want [%d, %d)", c.layout, c.bin, low, high, c.low, c.high)
		}
	}
}

func TestCoarseBinsAreUnions(t *testing.T) {
	for _, l := range allLayouts() {
		fine := hist.Fio3(0)
		if l.Fio2() {
			fine = hist.Fio2(0)
		}
		step := 1 << l.Coarseness()
		for j := range l.Len() {
			low, high := l.Bounds(j)
			first, _ := fine.Bounds(j * step)
			_, last := fine.Bounds((j+1)*step - 1)
			if low != first || high != last {
				t.Fatalf("%v, bin %d is [%d, %d), its fine bins [%d, %d)", l, j, low, high, first, last)
			}
		}
	}
}

func TestIndexBeyondTheAxis(t *testing.T) {
	for _, l := range allLayouts() {
		for _, ns := range []int64{math.MinInt64, -1, 0} {
			if got := l.Index(ns); got != 0 {
				t.Errorf("%v: %d ns is in bin %d, want 0", l, ns, got)
			}
		}
		_, end := l.Bounds(l.Len() - 1)
		for _, ns := range []int64{end, end + 1, math.MaxInt64} {
			if got := l.Index(ns); got != l.Len()-1 {
				t.Errorf("%v: %d ns is in bin %d, want the last one", l, ns, got)
			}
		}
	}
}

func TestIndexEqualsWalk(t *testing.T) {
	for _, l := range allLayouts() {
		t.Run(l.String(), func(t *testing.T) {
			edges := walkEdges(l)
			rapid.Check(t, func(t *rapid.T) {
				ns := latency().Draw(t, "latency")
				if got, want := l.Index(ns), walkIndex(edges, ns); got != want {
					t.Fatalf("%d ns is in bin %d, want %d", ns, got, want)
				}
			})
			for _, edge := range edges {
				for ns := edge - 1; ns <= edge+1; ns++ {
					if got, want := l.Index(ns), walkIndex(edges, ns); got != want {
						t.Fatalf("%d ns is in bin %d, want %d", ns, got, want)
					}
				}
			}
		})
	}
}

func TestRepresentative(t *testing.T) {
	for _, l := range allLayouts() {
		unit := int64(1)
		if l.Fio2() {
			unit = 1000
		}
		for i := range l.Len() {
			// The fine bin that begins at the coarse one's middle; at coarseness 0
			// the bin itself.
			fine := i<<l.Coarseness() + 1<<l.Coarseness()/2
			got := l.Representative(i)
			if want := int64(platIdxToVal(uint(fine))) * unit; got != want {
				t.Fatalf("%v, bin %d: got %d, want %d", l, i, got, want)
			}
			if low, high := l.Bounds(i); got < low || got >= high {
				t.Fatalf("%v, bin %d: %d is not in [%d, %d)", l, i, got, low, high)
			}
		}
	}
}

func TestRelativeError(t *testing.T) {
	for _, l := range allLayouts() {
		bound, worst := l.RelativeError(), 0.0
		if want := math.Ldexp(1, l.Coarseness()) / 128; bound != want {
			t.Errorf("%v: bound %v, want %v", l, bound, want)
		}
		exact := int64(128)
		if l.Fio2() {
			exact *= 1000
		}
		for i := range l.Len() {
			low, high := l.Bounds(i)
			if low < exact {
				continue
			}
			for _, x := range []float64{float64(low), float64(high - 1)} {
				off := math.Abs(x-l.Middle(i)) / x
				if off > bound {
					t.Fatalf("%v, bin %d: the middle is off by %v at %v, bound %v", l, i, off, x, bound)
				}
				worst = max(worst, off)
			}
		}
		if worst < 0.9*bound {
			t.Errorf("%v: bound %v is never come near to, worst %v", l, bound, worst)
		}
	}
}
