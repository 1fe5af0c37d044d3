package hist_test

import (
	"math"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
)

// quantile is num/den, so that a test can compute ranks in whole numbers.
type quantile struct{ num, den int64 }

func (q quantile) float() float64 { return float64(q.num) / float64(q.den) }

// rank is ceil(q*n), at least 1, without a rounding.
func (q quantile) rank(n int) int { return max(1, int((q.num*int64(n)+q.den-1)/q.den)) }

// quantiles of n requests: the usual ones, any in hundred thousandths, and those that
// fall exactly on a request.
func quantiles(n int) *rapid.Generator[quantile] {
	fraction := func(den int64) *rapid.Generator[quantile] {
		return rapid.Map(rapid.Int64Range(0, den), func(num int64) quantile { return quantile{num, den} })
	}
	usual := []quantile{{0, 1}, {1, 2}, {9, 10}, {95, 100}, {99, 100}, {995, 1000}, {999, 1000}, {9999, 10000}, {1, 1}}
	return rapid.OneOf(rapid.SampledFrom(usual), fraction(100_000), fraction(int64(max(n, 1))))
}

// expand lists every request's latency, by the rule of the package comment: in the last bin,
// only the lowest is known.
func expand(h *hist.Histogram) []float64 {
	edges := walkEdges(h.Layout())
	var out []float64
	for bin, n := range h.All() {
		low, high := float64(edges[bin]), float64(edges[bin+1]-1)
		if bin == len(edges)-2 {
			high = low
		}
		for i := range int(n) {
			out = append(out, low+(float64(i)+0.5)/n*(high-low))
		}
	}
	return out
}

// smalls draws histograms of 1 … 400 requests, often side by side, often far apart.
func smalls() *rapid.Generator[*hist.Histogram] {
	return rapid.Custom(func(t *rapid.T) *hist.Histogram {
		l := rapid.SampledFrom(allLayouts()).Draw(t, "layout")
		h := hist.New(l)
		for range rapid.IntRange(1, 8).Draw(t, "runs") {
			first := rapid.IntRange(0, l.Len()-1).Draw(t, "first")
			for i := range rapid.IntRange(1, 5).Draw(t, "bins") {
				h.AddAt(min(first+i, l.Len()-1), float64(rapid.IntRange(1, 10).Draw(t, "count")))
			}
		}
		return h
	})
}

// fractions draws histograms whose weights are any positive numbers.
func fractions() *rapid.Generator[*hist.Histogram] {
	return rapid.Custom(func(t *rapid.T) *hist.Histogram {
		l := rapid.SampledFrom(allLayouts()).Draw(t, "layout")
		h := hist.New(l)
		for _, i := range rapid.SliceOfN(rapid.IntRange(0, l.Len()-1), 1, 10).Draw(t, "bins") {
			h.AddAt(i, rapid.Float64Range(1e-6, 20).Draw(t, "weight"))
		}
		return h
	})
}

func close9(a, b float64) bool { return math.Abs(a-b) <= 1e-9*max(math.Abs(a), math.Abs(b)) }

func TestPercentileEqualsExpansion(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := smalls().Draw(t, "histogram")
		all := expand(h)
		for range 10 {
			q := quantiles(len(all)).Draw(t, "q")
			got, want := h.Percentile(q.float()), all[q.rank(len(all))-1]
			if !close9(got.Value, want) {
				t.Fatalf("q=%d/%d of %d: got %v, want %v", q.num, q.den, len(all), got.Value, want)
			}
			bin := walkIndex(walkEdges(h.Layout()), int64(want))
			low, high := h.Layout().Bounds(bin)
			wantBin := hist.Answer{Value: got.Value, Low: float64(low), High: float64(high - 1), Open: h.Layout().Open(bin)}
			if diff := cmp.Diff(wantBin, got); diff != "" {
				t.Fatalf("q=%d/%d of %d:\n%s", q.num, q.den, len(all), diff)
			}
		}
	})
}

// TestRankIsNotRounded: 0.999 * 1000 and the like come out a little above a whole
// number in floating point, which must not cost a rank.
func TestRankIsNotRounded(t *testing.T) {
	for _, n := range []int{3, 10, 100, 1000, 4999, 10_000, 1_000_000, 1_000_000_000} {
		for _, q := range []quantile{{1, 3}, {55, 100}, {7, 10}, {99, 100}, {999, 1000}, {9995, 10_000}, {9999, 10_000}} {
			rank := q.rank(n)
			h := hist.New(hist.Fio3(0))
			h.AddAt(10, float64(rank))
			h.AddAt(20, float64(n-rank))
			if got := h.Percentile(q.float()); got.Value != 10 {
				t.Errorf("q=%d/%d of %d: the request of rank %d is %v, want that of bin 10", q.num, q.den, n, rank, got.Value)
			}
			h.AddAt(10, -1)
			h.AddAt(20, 1)
			if got := h.Percentile(q.float()); rank > 1 && got.Value != 20 {
				t.Errorf("q=%d/%d of %d: one less in bin 10 gives %v, want bin 20", q.num, q.den, n, got.Value)
			}
		}
	}
}

// TestPercentileOfRaw bins raw latencies and looks for their exact percentiles.
func TestPercentileOfRaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom(allLayouts()).Draw(t, "layout")
		raw := rapid.SliceOfN(latency(), 1, 200).Draw(t, "raw")
		h := binned(l, raw)
		slices.Sort(raw)
		inside := func(name string, a hist.Answer, want int64) {
			if x := float64(want); x < a.Low || x > a.High && !a.Open {
				t.Fatalf("%s: %v is not in %+v", name, want, a)
			}
		}
		for range 10 {
			q := quantiles(len(raw)).Draw(t, "q")
			inside("percentile", h.Percentile(q.float()), raw[q.rank(len(raw))-1])
		}
		inside("min", h.Min(), raw[0])
		inside("max", h.Max(), raw[len(raw)-1])

		sum := 0.0
		for _, ns := range raw {
			sum += float64(ns)
		}
		m, mean := h.Mean(), sum/float64(len(raw))
		if mean < m.Low*(1-1e-12) || mean > m.High*(1+1e-12) && !m.Open {
			t.Fatalf("mean: %v is not in %+v", mean, m)
		}
		if m.Open != (raw[len(raw)-1] >= walkEdges(l)[l.Len()-1]) {
			t.Fatalf("mean: Open is %v", m.Open)
		}
	})
}

func TestPercentileIsMonotone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.OneOf(smalls(), fractions()).Draw(t, "histogram")
		qs := rapid.SliceOfN(rapid.Float64Range(0, 1), 2, 20).Draw(t, "qs")
		slices.Sort(qs)
		least, most := h.Min(), h.Max()
		before := least
		for i, a := range append(h.Percentiles(qs...), most) {
			if a.Value < before.Value || a.Low < before.Low && a != most {
				t.Fatalf("answer %d: %+v after %+v", i, a, before)
			}
			if a.Value < a.Low || a.Value > a.High || a.Low < least.Low || a.High > most.High {
				t.Fatalf("answer %d: %+v is not in its bounds, or outside of %v … %v", i, a, least.Low, most.High)
			}
			before = a
		}
	})
}

// TestPercentileIsContinuous moves the weights a little: as long as there is no gap
// the answer moves a little, too, also where the total passes a whole number.
func TestPercentileIsContinuous(t *testing.T) {
	const tiny = 1e-9
	rapid.Check(t, func(t *rapid.T) {
		l := hist.Fio3(rapid.IntRange(0, 6).Draw(t, "coarseness"))
		n := rapid.IntRange(1, 20).Draw(t, "bins")
		first := rapid.IntRange(0, l.Len()-n).Draw(t, "first")
		whole := rapid.Bool().Draw(t, "whole")
		h, moved := hist.New(l), hist.New(l)
		for i := first; i < first+n; i++ {
			w := rapid.Float64Range(1, 20).Draw(t, "weight")
			if whole {
				w = math.Trunc(w)
			}
			h.AddAt(i, w)
			moved.AddAt(i, w+rapid.Float64Range(-tiny, tiny).Draw(t, "by"))
		}
		low, high := l.Bounds(first + n - 1)
		// A rank moves by no more than the sum of the weights' moves and that of the
		// total; a request takes up no more than a bin; neighbours are 1 ns apart.
		most := 1.001 + 4*float64(n)*tiny*float64(high-low)
		for _, q := range append(rapid.SliceOfN(rapid.Float64Range(0, 1), 1, 10).Draw(t, "qs"), 0, 0.5, 0.999, 1) {
			a, b := h.Percentile(q).Value, moved.Percentile(q).Value
			if math.Abs(a-b) > most {
				t.Fatalf("q=%v: %v, moved %v", q, a, b)
			}
		}
	})
}

func TestFractionalWeights(t *testing.T) {
	l := hist.Fio3(0)
	for _, c := range []struct {
		name string
		bins []hist.Weight
		q    float64
		want float64
	}{
		{"less than one request: its middle", []hist.Weight{{10, 0.1}, {20, 0.3}}, 1, 20},
		{"any quantile", []hist.Weight{{10, 0.1}, {20, 0.3}}, 0, 20},
		{"one and a half, median", []hist.Weight{{10, 0.6}, {20, 0.9}}, 0.5, 10},
		{"one and a half, last", []hist.Weight{{10, 0.6}, {20, 0.9}}, 1, 20},
		{"one in two halves", []hist.Weight{{10, 0.5}, {20, 0.5}}, 0.5, 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := fromWeights(l, c.bins...)
			if got := h.Percentile(c.q).Value; got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestPercentilesInAnyOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.OneOf(smalls(), fractions()).Draw(t, "histogram")
		qs := rapid.SliceOfN(rapid.Float64Range(-0.5, 1.5), 0, 10).Draw(t, "qs")
		want := []hist.Answer{}
		for _, q := range qs {
			want = append(want, h.Percentile(q))
		}
		if diff := cmp.Diff(want, h.Percentiles(qs...)); diff != "" {
			t.Fatalf("-one by one +together:\n%s", diff)
		}
	})
}

// TestPercentilesOfHDR: HdrHistogram, which has 3 digits of each latency, answers within the
// bounds of each percentile.
func TestPercentilesOfHDR(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.SliceOfN(rapid.Int64Range(1, 17e9), 1, 300).Draw(t, "latencies")
		h, other := hist.New(hist.Fio3(0)), hdrhistogram.New(1, 18e9, 3)
		for _, ns := range raw {
			h.AddLatency(ns, 1)
			if err := other.RecordValue(ns); err != nil {
				t.Fatal(err)
			}
		}
		for rank := 1; rank <= len(raw); rank++ {
			q := float64(rank) / float64(len(raw))
			a, value := h.Percentile(q), float64(other.ValueAtQuantile(q*100))
			if value < a.Low*0.999 || value > a.High*1.001 {
				t.Fatalf("request %d of %d took %v, which is not in %v … %v", rank, len(raw), value, a.Low, a.High)
			}
		}
	})
}
