package hist_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
	_ "github.com/fio2es/fio2es/internal/testcost" // fixed seeds
)

// TestConfidenceInterval: of many samples of a known distribution, 95 % have the true
// percentile in their interval, 99 % if that is the confidence.
func TestConfidenceInterval(t *testing.T) {
	const samples = 3000
	rng := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		q, confidence float64
		n             int
	}{{0.5, 0.95, 30}, {0.5, 0.95, 1000}, {0.9, 0.95, 300}, {0.99, 0.95, 2000}, {0.99, 0.99, 2000}, {0.999, 0.95, 20_000}} {
		truth := -math.Log(1-c.q) * 1e6 // of an exponential distribution with a mean of 1 ms
		inside, asked := 0, samples
		if c.n > 10_000 {
			asked /= 10
		}
		for range asked {
			h := hist.New(hist.Fio3(0))
			for range c.n {
				h.AddLatency(int64(rng.ExpFloat64()*1e6), 1)
			}
			low, high, ok := h.ConfidenceInterval(c.q, c.confidence)
			if !ok || low.Value > high.Value {
				t.Fatalf("%+v: %v … %v, %v", c, low, high, ok)
			}
			if low.Value <= truth && truth <= high.Value {
				inside++
			}
		}
		share := float64(inside) / float64(asked)
		// The ranks are whole, so that intervals are a little wide where they are few.
		if spread := 3 * math.Sqrt(c.confidence*(1-c.confidence)/float64(asked)); share < c.confidence-spread-0.005 || share > c.confidence+spread+0.03 {
			t.Errorf("p%g of %d requests: in %.1f %% of intervals of %g %%", c.q*100, c.n, share*100, c.confidence*100)
		}
	}
}

// TestConfidenceIntervalOfBins: if bins are wide and requests many, the requests of both ranks are in one bin, and the edges of
// the bins have the truth at least as often as the confidence says. What is estimated within the bin may never have it.
func TestConfidenceIntervalOfBins(t *testing.T) {
	const samples, n, q, confidence = 100, 20_000, 0.9, 0.95
	rng := rand.New(rand.NewPCG(5, 6))
	truth := -math.Log(1-q) * 1e6
	edges, estimates := 0, 0
	for range samples {
		h := hist.New(hist.Fio3(6))
		for range n {
			h.AddLatency(int64(rng.ExpFloat64()*1e6), 1)
		}
		low, high, ok := h.ConfidenceInterval(q, confidence)
		if !ok {
			t.Fatal("no interval")
		}
		if low.Low <= truth && truth <= high.High {
			edges++
		}
		if low.Value <= truth && truth <= high.Value {
			estimates++
		}
	}
	if edges < samples*confidence || estimates > samples/2 {
		t.Errorf("of %d intervals, %d have the truth by edges and %d by estimates", samples, edges, estimates)
	}
}

// TestConfidenceIntervalUnknown: too few requests, or beyond fio's last bin.
func TestConfidenceIntervalUnknown(t *testing.T) {
	few, slow := hist.New(hist.Fio3(0)), hist.New(hist.Fio3(0))
	few.AddLatency(1000, 400)
	slow.AddLatency(20e9, 5000)
	for name, h := range map[string]*hist.Histogram{"empty": hist.New(hist.Fio3(0)), "few": few, "open bin": slow} {
		if low, high, ok := h.ConfidenceInterval(0.99, 0.95); ok {
			t.Errorf("%s: %v … %v", name, low, high)
		}
	}
}

// TestConfidenceIntervalHolds: it contains the percentile, and is no wider with more
// of the same requests.
func TestConfidenceIntervalHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := hist.New(hist.Fio3(rapid.IntRange(0, 6).Draw(t, "coarseness")))
		for range rapid.IntRange(1, 20).Draw(t, "bins") {
			h.AddLatency(rapid.Int64Range(0, 10e9).Draw(t, "latency"), float64(rapid.IntRange(1, 5000).Draw(t, "requests")))
		}
		q := rapid.Float64Range(0.01, 0.999).Draw(t, "q")
		low, high, ok := h.ConfidenceInterval(q, 0.95)
		if !ok {
			return
		}
		if p := h.Percentile(q).Value; p < low.Value || p > high.Value {
			t.Fatalf("%v is not in %v … %v", p, low, high)
		}
		h.Merge(h.Clone())
		h.Merge(h.Clone())
		if l, h, ok := h.ConfidenceInterval(q, 0.95); !ok || h.Value-l.Value > (high.Value-low.Value)*1.01+1 {
			t.Fatalf("four times the requests: %v … %v instead of %v … %v", l, h, low, high)
		}
	})
}
