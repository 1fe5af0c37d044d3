package hist_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
)

// near compares two histograms bin by bin: within 1e-9 of the larger of their totals,
// and the 2^-20 that each share of a spread bin is rounded to, of a few such shares.
func near(t *rapid.T, got, want *hist.Histogram) {
	t.Helper()
	if got.Layout() != want.Layout() || got.Rebinned() != want.Rebinned() {
		t.Fatalf("got %v (rebinned %v), want %v (%v)", got.Layout(), got.Rebinned(), want.Layout(), want.Rebinned())
	}
	diff := make([]float64, got.Layout().Len())
	for i, n := range got.All() {
		diff[i] += n
	}
	for i, n := range want.All() {
		diff[i] -= n
	}
	for i, d := range diff {
		if math.Abs(d) > 1e-9*max(got.Total(), want.Total())+8*math.Ldexp(1, -20) {
			t.Fatalf("bin %d differs by %v of %v", i, d, want.Total())
		}
	}
}

// TestMergeOfBothVersions takes fio 2 at one coarseness: fio 2 histograms of several
// lose detail when joined with each other before fio 3 comes in.
func TestMergeOfBothVersions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		two := rapid.Just(layouts(true).Draw(t, "fio 2"))
		either := rapid.OneOf(two, layouts(false))
		a, b, c := wholes(either).Draw(t, "a"), wholes(either).Draw(t, "b"), wholes(either).Draw(t, "c")
		near(t, merged(b, a), merged(a, b))
		abc := merged(merged(a, b), c)
		near(t, merged(a, merged(b, c)), abc)
		near(t, merged(c, b, a), abc)

		total, spread, fine := 0.0, false, false
		for _, h := range []*hist.Histogram{a, b, c} {
			total += h.Total()
			spread = spread || h.Layout().Unit() == hist.Microseconds && !h.IsEmpty()
			fine = fine || h.Layout().Unit() == hist.Nanoseconds
		}
		if math.Abs(abc.Total()-total) > 1e-9*total {
			t.Fatalf("total %v, want %v", abc.Total(), total)
		}
		for i, n := range abc.All() {
			if n < 0 {
				t.Fatalf("bin %d has %v", i, n)
			}
		}
		if abc.Rebinned() != (spread && fine) {
			t.Fatalf("Rebinned is %v", abc.Rebinned())
		}
		if (abc.Layout().Unit() == hist.Microseconds) == fine {
			t.Fatalf("got %v", abc.Layout())
		}
	})
}

// TestRebinShares does one bin by hand: 1 … 2 µs of fio 2 are 3 bins of 8 ns and 61
// bins of 16 ns in fio 3.
func TestRebinShares(t *testing.T) {
	h := hist.New(hist.Fio2(0))
	h.AddAt(1, 1000)
	got := h.To(hist.Fio3(0))
	if !got.Rebinned() || h.Rebinned() {
		t.Errorf("Rebinned is %v, of the original %v", got.Rebinned(), h.Rebinned())
	}
	first := hist.Fio3(0).Index(1000)
	for k := range 64 {
		want := 16.0
		if k < 3 {
			want = 8
		}
		if w := got.Weights()[k]; w.Index != first+k || math.Abs(w.Count-want) > 1e-9 {
			t.Errorf("bin %d has %v, want bin %d with %v", w.Index, w.Count, first+k, want)
		}
	}
	if n := len(got.Weights()); n != 64 {
		t.Errorf("%d bins, want 64", n)
	}
}

// TestOpenBinStaysOpen: what fio 2 clamped into its last bin may have taken any time,
// so it must not come to lie in a bin of fio 3 that has an end.
func TestOpenBinStaysOpen(t *testing.T) {
	for _, from := range allLayouts() {
		for _, to := range allLayouts() {
			if from.Coarseness() > to.Coarseness() {
				continue // no merging leads there: spread in proportion
			}
			h := hist.New(from)
			h.AddAt(from.Len()-1, 5)
			if got := h.To(to).Percentile(0.5); !got.Open {
				t.Errorf("from %v to %v: %+v is not open", from, to, got)
			}
		}
	}
}

// TestSpreadOfFractions: however little there is to spread, no share is negative,
// and nothing is lost.
func TestSpreadOfFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := fractions().Draw(t, "histogram")
		h.AddAt(0, rapid.Float64Range(1e-9, 1e-3).Draw(t, "little"))
		to := layouts(h.Layout().Unit() == hist.Nanoseconds).Draw(t, "to")
		got := h.To(to)
		for i, n := range got.All() {
			if n < 0 {
				t.Fatalf("bin %d has %v", i, n)
			}
		}
		if !close9(got.Total(), h.Total()) {
			t.Fatalf("total %v, want %v", got.Total(), h.Total())
		}
	})
}

// TestSpreadByWayOfFiner: a coarser layout gets the sums of a finer one's shares,
// exactly as long as the counts leave room for their fractions.
func TestSpreadByWayOfFiner(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := layouts(true).Draw(t, "from")
		h := fromRow(from, rowsUpTo(from, 1<<28).Draw(t, "row"))
		finer := rapid.IntRange(from.Coarseness(), 6).Draw(t, "finer")
		coarser := rapid.IntRange(finer, 6).Draw(t, "coarser")
		want := contentOf(h.To(hist.Fio3(coarser)))
		got := contentOf(h.To(hist.Fio3(finer)).To(hist.Fio3(coarser)))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-directly +by way of the finer layout:\n%s", diff)
		}
	})
}

func TestTo(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := layouts(rapid.Bool().Draw(t, "from fio 2")).Draw(t, "from")
		to := layouts(rapid.Bool().Draw(t, "to fio 2")).Draw(t, "to")
		raw := rapid.SliceOfN(latency(), 0, 50).Draw(t, "raw")
		h := binned(from, raw)
		before := contentOf(h)
		got := h.To(to)
		if got.Layout() != to {
			t.Fatalf("got %v, want %v", got.Layout(), to)
		}
		if math.Abs(got.Total()-h.Total()) > 1e-9*h.Total() {
			t.Fatalf("total %v, want %v", got.Total(), h.Total())
		}
		for i, n := range got.All() {
			if n < 0 {
				t.Fatalf("bin %d has %v", i, n)
			}
		}
		exact := from.Unit() == to.Unit() && from.Coarseness() <= to.Coarseness()
		if exact {
			if diff := cmp.Diff(contentOf(binned(to, raw)), contentOf(got)); diff != "" {
				t.Fatalf("-binned +converted:\n%s", diff)
			}
		} else if got.Rebinned() == (len(raw) == 0) {
			t.Fatalf("Rebinned is %v for %d requests", got.Rebinned(), len(raw))
		}
		if diff := cmp.Diff(before, contentOf(h)); diff != "" {
			t.Fatalf("To changed the original:\n%s", diff)
		}
	})
}
