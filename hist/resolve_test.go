package hist_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
)

// TestResolveUsual: without a hint, the columns of fio as it is released show the layout,
// and no others do.
func TestResolveUsual(t *testing.T) {
	usual := map[int]bool{}
	for fio2, ns := range columns {
		for c, n := range ns {
			usual[n] = true
			l, err := hist.Resolve(n, hist.Hint{})
			if err != nil {
				t.Fatal(err)
			}
			if l != version(fio2, c) || l.Len() != n {
				t.Errorf("%d: got %v with %d bins, want fio2=%v, coarseness %d", n, l, l.Len(), fio2, c)
			}
		}
	}
	for n := range 2 * hist.MaxColumns {
		if l, err := hist.Resolve(n, hist.Hint{}); (err == nil) != usual[n] {
			t.Errorf("%d: got %v, %v", n, l, err)
		}
	}
	for _, n := range []int{-1856, -1, 0, 1, 5, 14, 16, 65, 1215, 1217, 1849, 1855, 1857, 3715, 4097, 4160, 1 << 40, -1 << 63} {
		if l, err := hist.Resolve(n, hist.Hint{}); !errors.Is(err, hist.ErrColumns) || errors.Is(err, hist.ErrLayout) {
			t.Errorf("%d: got %v, %v, want ErrColumns", n, l, err)
		}
	}
}

func TestResolve(t *testing.T) {
	const (
		ns = hist.Nanoseconds
		us = hist.Microseconds
	)
	stated := func(unit hist.Unit, groups, coarseness int) hist.Hint {
		return hist.Hint{Unit: unit, Groups: groups, Coarseness: coarseness, Evidence: hist.Stated}
	}
	implied := func(unit hist.Unit, groups int) hist.Hint {
		return hist.Hint{Unit: unit, Groups: groups, Evidence: hist.Implied}
	}
	for _, c := range []struct {
		name    string
		columns int
		hint    hist.Hint
		want    string // the layout, or what the error says
	}{
		{"the authors' fio 2", 1536, implied(us, 0), "fio 2 with 24 groups, coarseness 0"},
		{"the same by settings", 1536, hist.Hint{Unit: us, Groups: 24}, "fio 2 with 24 groups, coarseness 0"},
		{"fio 3 for minutes", 2176, hist.Hint{Unit: ns}, "fio 3 with 34 groups, coarseness 0"},

		{"nothing known", 1536, hist.Hint{}, "1536 bins can be 24 groups (coarseness 0) or 48 groups (coarseness 1), of ns (fio 3) or us (fio 2): " +
			"set FIO2ES_GROUPS=24 or FIO2ES_GROUPS=48, and FIO2ES_UNIT=ns or FIO2ES_UNIT=us, or put fio's JSON report beside the logs"},
		{"unit unknown", 2176, hist.Hint{}, "2176 bins can be 34 groups (coarseness 0), of ns (fio 3) or us (fio 2): set FIO2ES_UNIT=ns or FIO2ES_UNIT=us, or put"},
		{"groups not said", 1536, hist.Hint{Unit: us}, "set FIO2ES_GROUPS=24 or FIO2ES_GROUPS=48, or put"},

		{"groups wrong", 1536, hist.Hint{Unit: us, Groups: 34}, "1536 bins contradict 34 groups of us: they can be 24 groups (coarseness 0) or 48 groups (coarseness 1), of ns"},
		{"coarseness wrong", 2176, stated(ns, 0, 1), "2176 bins contradict groups of ns, coarseness 1: they can be 34 groups"},

		{"made coarser since", 232, stated(ns, 0, 1), "fio 3, coarseness 3"},
		{"made coarser since, unit unknown", 38, stated(hist.UnknownUnit, 0, 0), "fio 2, coarseness 5"},
		{"finer than stated", 928, stated(ns, 0, 3), "928 bins contradict groups of ns, coarseness 3"},

		{"usual, its report beside, stated", 1856, stated(ns, 0, 0), "fio 3, coarseness 0"},
		{"usual, the options do not name the coarseness", 928, implied(ns, 0), "fio 3, coarseness 1"},
		{"usual, groups said", 1856, hist.Hint{Groups: 29}, "fio 3, coarseness 0"},

		{"usual number, coarseness stated", 1856, stated(ns, 0, 1), "fio 3 with 58 groups, coarseness 1"},
		{"usual number, groups said", 1856, hist.Hint{Unit: ns, Groups: 58}, "fio 3 with 58 groups, coarseness 1"},
		{"usual number, coarseness stated, unit unknown", 1856, stated(hist.UnknownUnit, 0, 1), "58 groups (coarseness 1), of ns (fio 3) or us (fio 2): set FIO2ES_UNIT=ns or FIO2ES_UNIT=us"},
		{"usual number of fio 3 in fio 2", 1856, implied(us, 0), "fio 2 with 29 groups, coarseness 0"},
		{"usual number of fio 3 in fio 2, unit said", 1856, hist.Hint{Unit: us}, "1856 bins can be 29 groups (coarseness 0) or 58 groups (coarseness 1), of us (fio 2): set FIO2ES_GROUPS=29 or FIO2ES_GROUPS=58"},
		{"coarse number of fio 2 in fio 3", 608, implied(ns, 0), "608 bins can be 19 groups (coarseness 1) or 38 groups (coarseness 2), of ns (fio 3)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := hist.Resolve(c.columns, c.hint)
			got := l.String()
			if err != nil {
				got = err.Error()
				if !errors.Is(err, hist.ErrLayout) {
					t.Errorf("%v is no ErrLayout", err)
				}
			}
			if err == nil && got != c.want || !strings.Contains(got, c.want) {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestResolveRoundTrip: all that is known of a layout finds it.
func TestResolveRoundTrip(t *testing.T) {
	for _, l := range everyLayout(t) {
		hint := hist.Hint{Unit: l.Unit(), Groups: l.Groups(), Coarseness: l.Coarseness(), Evidence: hist.Stated}
		parts := []hist.Hint{hint, {Unit: l.Unit(), Groups: l.Groups()}, {Unit: l.Unit(), Coarseness: l.Coarseness(), Evidence: hist.Stated}}
		if l.Coarseness() == 0 {
			parts = append(parts, hist.Hint{Unit: l.Unit(), Evidence: hist.Implied})
		}
		for _, h := range parts {
			if got, err := hist.Resolve(l.Len(), h); got != l || err != nil {
				t.Errorf("%v with %v: got %v, %v", l, h, got, err)
			}
		}
	}
}

func TestHintOr(t *testing.T) {
	report := hist.Hint{Unit: hist.Nanoseconds, Coarseness: 2, Evidence: hist.Stated}
	for _, c := range []struct{ said, want hist.Hint }{
		{hist.Hint{}, report},
		{hist.Hint{Groups: 34}, hist.Hint{Unit: hist.Nanoseconds, Groups: 34, Coarseness: 2, Evidence: hist.Stated}},
		{hist.Hint{Unit: hist.Microseconds}, hist.Hint{Unit: hist.Microseconds, Coarseness: 2, Evidence: hist.Stated}},
		{hist.Hint{Evidence: hist.Implied}, hist.Hint{Unit: hist.Nanoseconds, Evidence: hist.Implied}},
	} {
		if got := c.said.Or(report); got != c.want {
			t.Errorf("%v: got %v, want %v", c.said, got, c.want)
		}
	}
	if got := fmt.Sprint(hist.Hint{}, ", ", hist.Hint{Groups: 34}, ", ", report); got != "nothing known, 34 groups, groups of ns, coarseness 2" {
		t.Error(got)
	}
}

// FuzzResolve: what is found has the columns and is what the hint says; less is never known
// than with less of a hint, but where that contradicts.
func FuzzResolve(f *testing.F) {
	f.Add(1856, uint8(0), 0, 0, uint8(0))
	f.Add(1856, uint8(1), 58, 1, uint8(2))
	f.Add(1536, uint8(2), 24, 0, uint8(1))
	f.Add(-1, uint8(7), -5, 99, uint8(9))
	f.Fuzz(func(t *testing.T, columns int, unit uint8, groups, coarseness int, evidence uint8) {
		hint := hist.Hint{Unit: hist.Unit(unit % 3), Groups: groups, Coarseness: coarseness, Evidence: hist.Evidence(evidence % 3)}
		l, err := hist.Resolve(columns, hint)
		if err != nil {
			if bad := (*hist.LayoutError)(nil); !errors.Is(err, hist.ErrColumns) && (!errors.As(err, &bad) || len(bad.Fits) == 0 || bad.Error() == "") {
				t.Fatal(err)
			}
			return
		}
		if l.Len() != columns {
			t.Fatalf("%v has %d bins, not %d", l, l.Len(), columns)
		}
		if hint.Unit != hist.UnknownUnit && l.Unit() != hint.Unit || groups != 0 && l.Groups() != groups ||
			hint.Evidence == hist.Stated && l.Coarseness() != coarseness && !(l.IsUsual() && l.Coarseness() > coarseness) {
			t.Fatalf("%v is not %v", l, hint)
		}
		if usual, err := hist.Resolve(columns, hist.Hint{}); err == nil && usual != l && hint == (hist.Hint{}) {
			t.Fatalf("%v without a hint", l)
		}
	})
}

// anyLayout draws a layout of one unit, most often of few groups beyond the usual number.
func anyLayout(unit hist.Unit) *rapid.Generator[hist.Layout] {
	return rapid.Custom(func(t *rapid.T) hist.Layout {
		groups := rapid.OneOf(rapid.IntRange(hist.MinGroups, hist.MaxGroups), rapid.IntRange(19, 34)).Draw(t, "groups")
		return newLayout(t, unit, groups, rapid.IntRange(0, 6).Draw(t, "coarseness"))
	})
}

// TestMergeOfAnyGroups bins raw latencies in parts of any layouts of one unit and merges
// them in two orders: the result is what binning all at once in the merged layout gives, and
// each percentile's bounds have the true one between them, or are open.
func TestMergeOfAnyGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]hist.Unit{hist.Nanoseconds, hist.Microseconds}).Draw(t, "unit")
		var parts []*hist.Histogram
		var all []int64
		layout := anyLayout(unit).Draw(t, "layout")
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			l := anyLayout(unit).Draw(t, "layout")
			raw := rapid.SliceOfN(latencyUpTo(62), 0, 20).Draw(t, "raw")
			if len(parts) == 0 {
				layout = l
			}
			layout = layout.Merged(l)
			parts, all = append(parts, binned(l, raw)), append(all, raw...)
		}
		sum := merged(parts...)
		same(t, binned(layout, all), sum)
		for i := len(parts) - 2; i >= 0; i-- { // joined from the end
			parts[i].Merge(parts[i+1])
			if i > 0 {
				continue
			}
			same(t, sum, parts[0])
		}
		checkClaims(t, sum, all)
	})
}

// TestMergeOfGroupsAcrossVersions: no claim is finer than the parts', except in the bins that
// are spread; no request is lost.
func TestMergeOfGroupsAcrossVersions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		two, three := anyLayout(hist.Microseconds).Draw(t, "fio 2"), anyLayout(hist.Nanoseconds).Draw(t, "fio 3")
		a, b := hist.New(two), binned(three, []int64{1000})
		a.AddAt(two.Len()-1, 1)
		sum := merged(a, b)
		near(t, merged(b, a), sum)
		if sum.Total() != 2 || sum.Layout() != two.Merged(three) || !sum.Rebinned() {
			t.Fatalf("%v with %v requests, rebinned %v", sum.Layout(), sum.Total(), sum.Rebinned())
		}
		if most := sum.Max(); !most.Open {
			t.Fatalf("the open bin of %v became %+v of %v", two, most, sum.Layout())
		}
	})
}

// TestToMoreGroups: exact as long as no request is in the open bin.
func TestToMoreGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		unit := rapid.SampledFrom([]hist.Unit{hist.Nanoseconds, hist.Microseconds}).Draw(t, "unit")
		c := rapid.IntRange(0, 6).Draw(t, "coarseness")
		few := rapid.IntRange(hist.MinGroups, hist.MaxGroups-1).Draw(t, "groups")
		from, to := newLayout(t, unit, few, c), newLayout(t, unit, rapid.IntRange(few+1, hist.MaxGroups).Draw(t, "more"), c)
		open, _ := from.Bounds(from.Len() - 1)
		raw := rapid.SliceOfN(rapid.Int64Range(0, min(open-1, 1<<62)), 0, 20).Draw(t, "raw")
		h := binned(from, raw)
		same(t, binned(to, raw), h.To(to))
		same(t, h, h.To(to).To(from))
		h.AddAt(from.Len()-1, 1)
		if got := h.To(to); !got.Max().Open || !got.Rebinned() || got.Total() != h.Total() {
			t.Fatalf("%+v, rebinned %v", got.Max(), got.Rebinned())
		}
	})
}

// TestAddWeightsIsMerge: weights that are added make what Merge makes.
func TestAddWeightsIsMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		either := rapid.OneOf(anyLayout(hist.Nanoseconds), anyLayout(hist.Microseconds))
		h, to := wholes(either).Draw(t, "histogram"), either.Draw(t, "to")
		got, want := hist.New(to), hist.New(to)
		got.AddWeights(h.Layout(), h.Weights())
		if want.Merge(h); !h.IsEmpty() {
			same(t, want, got)
		}
	})
}
