package hist_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
)

// content is all that can be seen of a histogram.
type content struct {
	Layout   string
	Rebinned bool
	Weights  []hist.Weight
}

func contentOf(h *hist.Histogram) content {
	return content{h.Layout().String(), h.Rebinned(), h.Weights()}
}

func version(fio2 bool, coarseness int) hist.Layout {
	if fio2 {
		return hist.Fio2(coarseness)
	}
	return hist.Fio3(coarseness)
}

// layouts draws layouts of one fio version.
func layouts(fio2 bool) *rapid.Generator[hist.Layout] {
	return rapid.Map(rapid.IntRange(0, 6), func(c int) hist.Layout { return version(fio2, c) })
}

// rows draws the bins of a row: ascending, whole counts, none of them zero.
func rows(l hist.Layout) *rapid.Generator[[]hist.Bin] { return rowsUpTo(l, 1<<40) }

func rowsUpTo(l hist.Layout, most uint64) *rapid.Generator[[]hist.Bin] {
	return rapid.Custom(func(t *rapid.T) []hist.Bin {
		indexes := rapid.SliceOfNDistinct(rapid.Uint32Range(0, uint32(l.Len()-1)), 0, 12, rapid.ID).Draw(t, "indexes")
		slices.Sort(indexes)
		var out []hist.Bin
		for _, i := range indexes {
			out = append(out, hist.Bin{Index: i, Count: rapid.Uint64Range(1, most).Draw(t, "count")})
		}
		return out
	})
}

func fromRow(l hist.Layout, row []hist.Bin) *hist.Histogram {
	h := hist.New(l)
	h.AddBins(l, row)
	return h
}

// wholes draws histograms of whole counts, empty ones among them.
func wholes(l *rapid.Generator[hist.Layout]) *rapid.Generator[*hist.Histogram] {
	return rapid.Custom(func(t *rapid.T) *hist.Histogram {
		layout := l.Draw(t, "layout")
		return fromRow(layout, rows(layout).Draw(t, "row"))
	})
}

// merged is the sum of histograms, in that order, and changes none of them.
func merged(hs ...*hist.Histogram) *hist.Histogram {
	sum := hs[0].Clone()
	for _, h := range hs[1:] {
		sum.Merge(h)
	}
	return sum
}

// binned are raw latencies in a layout.
func binned(l hist.Layout, raw []int64) *hist.Histogram {
	h := hist.New(l)
	for _, ns := range raw {
		h.AddLatency(ns, 1)
	}
	return h
}

func TestAddBinsIsMergeOfSingles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		either := rapid.OneOf(layouts(false), layouts(true))
		base := wholes(either).Draw(t, "base")
		l := either.Draw(t, "layout")
		row := rows(l).Filter(func(r []hist.Bin) bool { return len(r) > 0 }).Draw(t, "row")
		got, want := base.Clone(), base.Clone()
		got.AddBins(l, row)
		for _, b := range row {
			want.Merge(fromRow(l, []hist.Bin{b}))
		}
		if diff := cmp.Diff(contentOf(want), contentOf(got)); diff != "" {
			t.Fatalf("-singles +row:\n%s", diff)
		}
	})
}

// TestZeroValue takes the layout of what is first added, by whichever way.
func TestZeroValue(t *testing.T) {
	l := hist.Fio2(3)
	row := []hist.Bin{{Index: 7, Count: 2}}
	want := contentOf(fromRow(l, row))

	var byRow, byMerge, empty hist.Histogram
	byRow.AddBins(l, row)
	if diff := cmp.Diff(want, contentOf(&byRow)); diff != "" {
		t.Errorf("AddBins:\n%s", diff)
	}
	byMerge.Merge(&empty)
	byMerge.Merge(fromRow(l, row))
	byMerge.Merge(&empty)
	byMerge.AddBins(hist.Fio3(6), nil)
	if diff := cmp.Diff(want, contentOf(&byMerge)); diff != "" {
		t.Errorf("Merge:\n%s", diff)
	}

	var byLatency hist.Histogram
	byLatency.AddLatency(5000, 1)
	if got := contentOf(&byLatency); got.Layout != hist.Fio3(0).String() {
		t.Errorf("AddLatency made %v", got)
	}
	if !empty.IsEmpty() || empty.Total() != 0 || empty.Weights() != nil || !empty.Subtract(&empty) {
		t.Error("the zero value is not empty")
	}
}

func TestCloneIsIndependent(t *testing.T) {
	h := fromRow(hist.Fio3(0), []hist.Bin{{Index: 10, Count: 5}, {Index: 20, Count: 1}})
	before := contentOf(h)
	c := h.Clone()
	if diff := cmp.Diff(before, contentOf(c)); diff != "" {
		t.Errorf("-original +clone:\n%s", diff)
	}
	c.AddAt(10, 1)
	c.AddAt(5, 1)
	if diff := cmp.Diff(before, contentOf(h)); diff != "" {
		t.Errorf("the clone's counts came through:\n%s", diff)
	}
	changed := contentOf(c)
	h.Reset()
	if diff := cmp.Diff(changed, contentOf(c)); diff != "" {
		t.Errorf("the original's reset came through:\n%s", diff)
	}
}

func TestReset(t *testing.T) {
	h := fromRow(hist.Fio3(2), []hist.Bin{{Index: 10, Count: 5}, {Index: 20, Count: 1}})
	h.AddBins(hist.Fio2(0), []hist.Bin{{Index: 100, Count: 1}})
	h.Reset()
	if diff := cmp.Diff(content{Layout: hist.Fio3(2).String()}, contentOf(h)); diff != "" {
		t.Errorf("after Reset:\n%s", diff)
	}
	row := []hist.Bin{{Index: 5, Count: 2}, {Index: 15, Count: 2}, {Index: 300, Count: 1}}
	h.AddBins(hist.Fio3(2), row)
	if diff := cmp.Diff(contentOf(fromRow(hist.Fio3(2), row)), contentOf(h)); diff != "" {
		t.Errorf("used again:\n%s", diff)
	}
}

// same compares all that can be seen of two histograms.
func same(t *rapid.T, want, got *hist.Histogram) {
	t.Helper()
	if diff := cmp.Diff(contentOf(want), contentOf(got)); diff != "" {
		t.Fatalf("-want +got:\n%s", diff)
	}
}

// checkClaims: the bounds of each percentile have the true one between them.
func checkClaims(t *rapid.T, h *hist.Histogram, raw []int64) {
	t.Helper()
	slices.Sort(raw)
	for i, ns := range raw {
		unit := int64(1)
		if h.Layout().Unit() == hist.Microseconds {
			unit = 1000
		}
		whole := float64(ns / unit * unit) // fio counts whole units
		a := h.Percentile((float64(i) + 0.5) / float64(len(raw)))
		if whole < a.Low || whole > a.High && !a.Open {
			t.Fatalf("%d ns of rank %d is not in %+v", ns, i, a)
		}
	}
}
