package hist_test

import (
	"math"
	"testing"

	"github.com/fio2es/fio2es/hist"
)

// TestBoundsOfMinAndMax: a bin with less than half a request is too little for a rank,
// but a request may well be there.
func TestBoundsOfMinAndMax(t *testing.T) {
	for _, c := range []struct {
		name      string
		bins      []hist.Weight
		low, high float64
		open      bool
	}{
		{"whole", []hist.Weight{{10, 1}, {20, 5}, {300, 1}}, 10, 871, false},
		{"a tenth at both ends", []hist.Weight{{10, 0.1}, {20, 5}, {300, 0.1}}, 10, 871, false},
		{"less than one in all", []hist.Weight{{10, 0.1}, {20, 0.3}, {300, 0.1}}, 10, 871, false},
		{"a tenth in the open bin", []hist.Weight{{10, 3}, {1855, 0.1}}, 10, 1<<34 - 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := fromWeights(hist.Fio3(0), c.bins...)
			least, most := h.Min(), h.Max()
			if least.Low != c.low || least.Open {
				t.Errorf("min %+v, want from %v", least, c.low)
			}
			if most.High != c.high || most.Open != c.open {
				t.Errorf("max %+v, want to %v, open %v", most, c.high, c.open)
			}
			if least.Value != h.Percentile(0).Value || most.Value != h.Percentile(1).Value {
				t.Errorf("min %v and max %v are not the outermost percentiles", least.Value, most.Value)
			}
		})
	}
}

func TestQuantileNotANumber(t *testing.T) {
	h := fromRow(hist.Fio3(0), []hist.Bin{{Index: 10, Count: 5}, {Index: 20, Count: 5}})
	nan := math.NaN()
	got := h.Percentiles(0.9, nan, 0.1, nan)
	if got[0].Value != 20 || !math.IsNaN(got[1].Value) || got[2].Value != 10 || !math.IsNaN(got[3].Value) {
		t.Errorf("got %+v", got)
	}
	if v, ok := h.FioPercentile(nan); ok {
		t.Errorf("fio's percentile is %v", v)
	}
}

func TestEmpty(t *testing.T) {
	used := fromRow(hist.Fio3(0), []hist.Bin{{Index: 10, Count: 5}})
	used.Subtract(used.Clone())
	for name, h := range map[string]*hist.Histogram{"zero value": {}, "new": hist.New(hist.Fio2(3)), "used up": used} {
		t.Run(name, func(t *testing.T) {
			for what, x := range map[string]float64{
				"percentile": h.Percentile(0.5).Value, "low": h.Percentile(0.5).Low, "high": h.Percentile(0.5).High,
				"min": h.Min().Value, "max": h.Max().Value, "mean": h.Mean().Value,
				"deviation": h.Deviation(h.Mean().Value), "rank": shareWithin(h, 1000),
			} {
				if !math.IsNaN(x) {
					t.Errorf("%s is %v", what, x)
				}
			}
			if n, low, high := h.CountWithin(1e9); n != 0 || low != 0 || high != 0 {
				t.Errorf("%v requests, %v … %v", n, low, high)
			}
			if v, ok := h.FioPercentile(50); ok {
				t.Errorf("fio's percentile is %v", v)
			}
			if got := h.Percentiles(); len(got) != 0 {
				t.Errorf("%d answers to no question", len(got))
			}
		})
	}
}

// TestOpenBin: 20 s and 100 s are the same to fio.
func TestOpenBin(t *testing.T) {
	h := binned(hist.Fio3(0), []int64{1000, 1000, 1000, 100e9})
	if a := h.Percentile(0.75); a.Open {
		t.Errorf("p75 %+v is open", a)
	}
	low, end := hist.Fio3(0).Bounds(1855)
	for name, a := range map[string]hist.Answer{"p76": h.Percentile(0.76), "max": h.Max()} {
		if !a.Open || a.Low != float64(low) || a.Value != a.Low || a.High != float64(end-1) {
			t.Errorf("%s is %+v, want open from %d", name, a, low)
		}
	}
	if !h.Mean().Open {
		t.Error("the mean is not open")
	}
	for _, ns := range []float64{float64(low), float64(end), 100e9, math.Inf(1)} {
		if n, least, most := h.CountWithin(ns); n != 3 || least != 3 || most != 4 {
			t.Errorf("within %v: %v in %v … %v, want 3 in 3 … 4", ns, n, least, most)
		}
	}
}

func TestLargeCounts(t *testing.T) {
	h := fromWeights(hist.Fio3(0), []hist.Weight{{10, hist.MaxCount}, {20, 1}}...)
	if got := h.Percentile(0.5).Value; got != 10 {
		t.Errorf("median %v, want 10", got)
	}
	// The last request's rank less a half is no double: it must not lead past the end.
	if !h.Subtract(fromRow(hist.Fio3(0), []hist.Bin{{Index: 20, Count: 1}})) {
		t.Fatal("refused")
	}
	if got := h.Max().Value; got != 10 {
		t.Errorf("max %v, want 10", got)
	}
	one := fromWeights(hist.Fio3(0), []hist.Weight{{10, hist.MaxCount/2 - 1}, {20, 1}, {1000, hist.MaxCount / 2}}...)
	if got := one.Total(); got != hist.MaxCount {
		t.Errorf("total %v, want 2^53", got)
	}
	low, high := hist.Fio3(0).Bounds(1000)
	for q, bin := range map[float64][2]float64{0: {10, 10}, 0.25: {10, 10}, 0.75: {float64(low), float64(high - 1)}, 1: {float64(low), float64(high - 1)}} {
		if a := one.Percentile(q); a.Low != bin[0] || a.High != bin[1] || !(a.Low <= a.Value && a.Value <= a.High) {
			t.Errorf("q=%v: got %+v, want in %v", q, a, bin)
		}
	}
	if !one.Subtract(fromRow(hist.Fio3(0), []hist.Bin{{Index: 20, Count: 1}})) || one.Total() != hist.MaxCount-1 {
		t.Errorf("a single request is lost: total %v", one.Total())
	}
}

// shareWithin is the share of requests that took at most ns nanoseconds.
func shareWithin(h *hist.Histogram, ns float64) float64 {
	n, _, _ := h.CountWithin(ns)
	return n / h.Total()
}
