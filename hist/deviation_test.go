package hist_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
)

func deviationOf(raw []float64) float64 {
	sum, squares := 0.0, 0.0
	for _, ns := range raw {
		sum += ns
	}
	mean := sum / float64(len(raw))
	for _, ns := range raw {
		squares += (ns - mean) * (ns - mean)
	}
	return math.Sqrt(squares / float64(len(raw)))
}

// TestDeviationHolds: the deviation of raw latencies lies between the bounds, also when
// all requests lie at the edges of their bins that make it least or greatest.
func TestDeviationHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		layout := hist.Fio3(rapid.IntRange(0, 6).Draw(t, "coarseness"))
		raw := rapid.SliceOfN(rapid.Int64Range(0, 1_000_000), 1, 60).Draw(t, "latencies")
		h := hist.New(layout)
		for _, ns := range raw {
			h.AddLatency(ns, 1)
		}
		a := h.Deviation()
		slack := 1e-6 * (1 + a.High)
		inside := func(what string, at func(low, high, ns float64) float64) {
			moved := make([]float64, len(raw))
			for i, ns := range raw {
				low, high := layout.Bounds(layout.Index(ns))
				moved[i] = at(float64(low), float64(high-1), float64(ns))
			}
			if d := deviationOf(moved); d < a.Low-slack || d > a.High+slack {
				t.Fatalf("%s: %v is not in %v … %v", what, d, a.Low, a.High)
			}
		}
		mean := h.Mean().Value
		inside("raw", func(_, _, ns float64) float64 { return ns })
		inside("low edges", func(low, _, _ float64) float64 { return low })
		inside("close to the mean", func(low, high, _ float64) float64 { return min(max(mean, low), high) })
		inside("far from the mean", func(low, high, _ float64) float64 {
			if mean-low > high-mean {
				return low
			}
			return high
		})
		if a.Value != h.StdDev() || a.Value < a.Low-slack || a.Value > a.High+slack || a.Open {
			t.Fatalf("%+v, deviation %v", a, h.StdDev())
		}
	})
}

func TestDeviationByHand(t *testing.T) {
	one := fromRow(hist.Fio3(0), []hist.Bin{{Index: 320, Count: 8}}) // 1024 … 1039 ns
	if a := one.Deviation(); !close9(a.Low, 0) || !close9(a.High, 7.5) {
		t.Errorf("one bin: %+v", a)
	}
	exact := fromRow(hist.Fio3(0), []hist.Bin{{Index: 10, Count: 3}, {Index: 20, Count: 1}})
	if a := exact.Deviation(); !close9(a.Low, math.Sqrt(18.75)) || !close9(a.High, math.Sqrt(18.75)) || a.Open {
		t.Errorf("bins of one latency: %+v", a)
	}
	// 1024 … 1039 and 2048 … 2079 ns: as close together as can be, and as far apart.
	two := fromRow(hist.Fio3(0), []hist.Bin{{Index: 320, Count: 1}, {Index: 384, Count: 1}})
	if a := two.Deviation(); !close9(a.Low, (2048-1039)/2.0) || !close9(a.High, (2079-1024)/2.0) {
		t.Errorf("two bins: %+v", a)
	}
	slow := hist.New(hist.Fio3(0))
	slow.AddLatency(20e9, 1)
	if !slow.Deviation().Open {
		t.Error("a bound in the open bin")
	}
	if a := hist.New(hist.Fio3(0)).Deviation(); !math.IsNaN(a.Value) || !math.IsNaN(a.Low) {
		t.Errorf("empty: %+v", a)
	}
}
