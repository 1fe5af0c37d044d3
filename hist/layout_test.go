package hist_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
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

// everyLayout are the layouts of all fios that can be built.
func everyLayout(t testing.TB) []hist.Layout {
	var out []hist.Layout
	for groups := hist.MinGroups; groups <= hist.MaxGroups; groups++ {
		for c := range 7 {
			for _, unit := range []hist.Unit{hist.Nanoseconds, hist.Microseconds} {
				out = append(out, newLayout(t, unit, groups, c))
			}
		}
	}
	return out
}

// fataler is a test, of testing or of rapid.
type fataler interface {
	Helper()
	Fatal(args ...any)
}

func newLayout(t fataler, unit hist.Unit, groups, coarseness int) hist.Layout {
	t.Helper()
	l, err := hist.NewLayout(unit, groups, coarseness)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// walkEdges finds the edges of a layout's bins by laying bin after bin: two groups
// of 64 bins of one unit each, then 64 of each next power of two. No edge is beyond 2^63-1.
func walkEdges(l hist.Layout) []int64 {
	width, most := big.NewInt(1), big.NewInt(math.MaxInt64)
	if l.Unit() == hist.Microseconds {
		width.SetInt64(1000)
	}
	at := new(big.Int)
	fine := []int64{0}
	for g := range l.Groups() {
		if g >= 2 {
			width.Lsh(width, 1)
		}
		for range 64 {
			if at.Add(at, width); at.Cmp(most) > 0 {
				fine = append(fine, math.MaxInt64)
			} else {
				fine = append(fine, at.Int64())
			}
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
func latency() *rapid.Generator[int64] { return latencyUpTo(37) }

func latencyUpTo(bits int) *rapid.Generator[int64] {
	return rapid.Custom(func(t *rapid.T) int64 {
		return rapid.Int64Range(0, 1<<rapid.IntRange(0, bits).Draw(t, "bits")).Draw(t, "ns")
	})
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
	if got, want := newLayout(t, hist.Microseconds, 24, 1).String(), "fio 2 with 24 groups, coarseness 1"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if newLayout(t, hist.Nanoseconds, 29, 3) != hist.Fio3(3) || newLayout(t, hist.Microseconds, 19, 3) != hist.Fio2(3) {
		t.Error("the usual layouts are not those of fio 2 and 3")
	}
	if most := newLayout(t, hist.Nanoseconds, hist.MaxGroups, 0).Len(); hist.MaxColumns != most {
		t.Errorf("MaxColumns is %d, the largest layout has %d bins", hist.MaxColumns, most)
	}
}

func TestNewLayoutRefuses(t *testing.T) {
	for _, c := range []struct {
		unit               hist.Unit
		groups, coarseness int
	}{
		{hist.UnknownUnit, 29, 0}, {3, 29, 0}, {hist.Nanoseconds, 16, 0}, {hist.Nanoseconds, 65, 0}, {hist.Nanoseconds, -1, 0},
		{hist.Microseconds, 24, -1}, {hist.Microseconds, 24, 7}, {hist.Microseconds, 1 << 40, 0},
	} {
		if l, err := hist.NewLayout(c.unit, c.groups, c.coarseness); !errors.Is(err, hist.ErrLayout) {
			t.Errorf("%+v: got %v, %v", c, l, err)
		}
	}
}

// TestMergedIsNoFiner: the layout of a merged histogram has an open bin that has all of
// each part's, and no bin narrower than those of a part, but between fio 2 and fio 3.
func TestMergedIsNoFiner(t *testing.T) {
	all := everyLayout(t)
	rapid.Check(t, func(t *rapid.T) {
		any := rapid.SampledFrom(all)
		a, b, c := any.Draw(t, "a"), any.Draw(t, "b"), any.Draw(t, "c")
		m := a.Merged(b)
		if m != b.Merged(a) || m.Merged(c) != a.Merged(b.Merged(c)) || a.Merged(a) != a || m.Merged(a) != m {
			t.Fatal("not commutative, associative, or idempotent")
		}
		for _, l := range []hist.Layout{a, b} {
			if m.Coarseness() < l.Coarseness() {
				t.Fatalf("%v is finer than %v", m, l)
			}
			if m.Unit() == l.Unit() && m.Groups() > l.Groups() || float64(m.Reach()) > 1.025*float64(l.Reach()) {
				t.Fatalf("%v reaches further than %v", m, l)
			}
		}
		if a.Unit() == b.Unit() && (m.Unit() != a.Unit() || m.Groups() != min(a.Groups(), b.Groups())) {
			t.Fatalf("%v and %v merge into %v", a, b, m)
		}
	})
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
	for _, l := range everyLayout(t) {
		t.Run(l.String(), func(t *testing.T) {
			edges := walkEdges(l)
			if len(edges) != l.Len()+1 {
				t.Fatalf("%d bins, want %d", l.Len(), len(edges)-1)
			}
			if reach := edges[len(edges)-1]; l.Reach() != reach {
				t.Fatalf("it reaches to %d, want %d", l.Reach(), reach)
			}
			for i := range l.Len() {
				low, high := l.Bounds(i)
				if low != edges[i] || high != edges[i+1] {
					t.Fatalf("bin %d is [%d, %d), want [%d, %d)", i, low, high, edges[i], edges[i+1])
				}
				if isReal := low < math.MaxInt64; isReal != (i < l.Real()) {
					t.Fatalf("bin %d from %d on: %d bins are real", i, low, l.Real())
				}
				if i >= l.Real() {
					continue
				}
				for _, ns := range []int64{low, low + (high-low)/2, high - 1} {
					if got := l.Index(ns); got != i {
						t.Fatalf("%d ns is in bin %d, want %d", ns, got, i)
					}
				}
				if want := (float64(low) + float64(high-1)) / 2; math.Abs(l.Middle(i)-want) > want/(1<<52) {
					t.Fatalf("middle of bin %d is %v, want %v", i, l.Middle(i), want)
				}
				if open := i == len(edges)-2; l.Open(i) != open {
					t.Fatalf("bin %d: Open is %v", i, l.Open(i))
				}
			}
		})
	}
}

func TestIndexBeyondTheAxis(t *testing.T) {
	for _, l := range everyLayout(t) {
		for _, ns := range []int64{math.MinInt64, -1, 0} {
			if got := l.Index(ns); got != 0 {
				t.Errorf("%v: %d ns is in bin %d, want 0", l, ns, got)
			}
		}
		_, end := l.Bounds(l.Real() - 1)
		for _, ns := range []int64{end, end + min(1, math.MaxInt64-end), math.MaxInt64} {
			if got := l.Index(ns); got != l.Real()-1 {
				t.Errorf("%v: %d ns is in bin %d, want the last one", l, ns, got)
			}
		}
	}
}

func TestRepresentative(t *testing.T) {
	for _, l := range everyLayout(t) {
		unit := int64(1)
		if l.Unit() == hist.Microseconds {
			unit = 1000
		}
		for i := range l.Len() {
			if low, high := l.Bounds(i); high == math.MaxInt64 { // fio counts further than an int64 does
				if got := l.Representative(i); got < low {
					t.Fatalf("%v, bin %d: got %d", l, i, got)
				}
				continue
			}
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
	for _, l := range everyLayout(t) {
		bound, worst := l.RelativeError(), 0.0
		if want := math.Ldexp(1, l.Coarseness()) / 128; bound != want {
			t.Errorf("%v: bound %v, want %v", l, bound, want)
		}
		exact := int64(64)
		if l.Unit() == hist.Microseconds {
			exact *= 1000
		}
		for i := range l.Real() {
			low, high := l.Bounds(i)
			if low < exact { // narrow bins are exact, joined ones have no bound
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

// TestCoarsenessFor: the coarsest bins within a bound, none below fio's finest.
func TestCoarsenessFor(t *testing.T) {
	for _, c := range []struct {
		bound float64
		want  int
		ok    bool
	}{
		{1.0 / 128, 0, true}, {0.0078, 0, false}, {0.01, 0, true}, {0.0156, 0, true}, {0.0157, 1, true}, {0.05, 2, true},
		{0.0625, 3, true}, {0.5, 6, true}, {1, 6, true}, {0, 0, false}, {-1, 0, false}, {math.NaN(), 0, false},
	} {
		if got, ok := hist.CoarsenessFor(c.bound); got != c.want || ok != c.ok {
			t.Errorf("%v: %d, %v, want %d, %v", c.bound, got, ok, c.want, c.ok)
		}
	}
}

// TestCoarser: requests are where they would be if fio had joined the bins, of all layouts.
func TestCoarser(t *testing.T) {
	for _, l := range everyLayout(t) {
		for c := range 7 {
			want, fine := hist.New(l.Coarser(c)), hist.New(l)
			if got := want.Layout(); got.Coarseness() != max(c, l.Coarseness()) || got.Groups() != l.Groups() || got.Unit() != l.Unit() {
				t.Fatalf("%v, %d: %v", l, c, got)
			}
			for i := range l.Real() {
				low, high := l.Bounds(i)
				for _, ns := range []int64{low, high - 1} {
					fine.AddLatency(ns, float64(i+1))
					want.AddLatency(ns, float64(i+1))
				}
			}
			got := fine.Coarser(c)
			if got.Rebinned() || got.Layout() != want.Layout() || !slices.Equal(got.Weights(), want.Weights()) {
				t.Fatalf("%v in %v differs", l, want.Layout())
			}
		}
	}
}
