package hist_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
)

// TestDeviationOfRaw draws a device's latencies: fast, with a long tail.
func TestDeviationOfRaw(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	raw, sum, squares := make([]int64, 50_000), 0.0, 0.0
	for i := range raw {
		raw[i] = int64(80_000 * math.Exp(0.8*random.NormFloat64()))
		sum += float64(raw[i])
	}
	n := float64(len(raw))
	for _, ns := range raw {
		squares += (float64(ns) - sum/n) * (float64(ns) - sum/n)
	}
	want := math.Sqrt(squares / n)
	for _, l := range allLayouts() {
		h := binned(l, raw)
		// No request is further from its bin's middle than half the bin; the bins'
		// own deviations are the bound's other part.
		halves := 0.0
		for i, count := range h.All() {
			low, high := l.Bounds(i)
			halves += count * float64(high-low) * float64(high-low) / 4
		}
		got := h.Deviation(h.Mean().Value)
		off, bound := math.Abs(got-want), math.Sqrt(halves/n)*(1+1/math.Sqrt(3))
		if off > bound {
			t.Errorf("%v: deviation %v, want %v within %v", l, got, want, bound)
		}
		if l.Coarseness() <= 3 && off > 0.005*want {
			t.Errorf("%v: deviation %v, want %v within 0.5 %%", l, got, want)
		}
	}
}

func TestMeanAndDeviationByHand(t *testing.T) {
	h := fromRow(hist.Fio3(0), []hist.Bin{{Index: 10, Count: 3}, {Index: 20, Count: 1}})
	if diff := cmp.Diff(hist.Answer{Value: 12.5, Low: 12.5, High: 12.5}, h.Mean()); diff != "" {
		t.Error(diff)
	}
	if got, want := h.Deviation(h.Mean().Value), math.Sqrt(18.75); !close9(got, want) {
		t.Errorf("deviation %v, want %v", got, want)
	}
	// 1024 … 1039 ns.
	one := fromRow(hist.Fio3(0), []hist.Bin{{Index: 320, Count: 7}})
	if diff := cmp.Diff(hist.Answer{Value: 1031.5, Low: 1024, High: 1039}, one.Mean()); diff != "" {
		t.Error(diff)
	}
	if got, want := one.Deviation(one.Mean().Value), 15/math.Sqrt(12); !close9(got, want) {
		t.Errorf("deviation %v, want %v", got, want)
	}
}
