package hist_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestCountWithinOfRaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := rapid.SampledFrom(allLayouts()).Draw(t, "layout")
		raw := rapid.SliceOfN(latency(), 0, 200).Draw(t, "raw")
		h := binned(l, raw)
		slices.Sort(raw)
		at := rapid.OneOf(latency(), rapid.SampledFrom(walkEdges(l))).Draw(t, "ns") + rapid.Int64Range(-1, 1).Draw(t, "off")
		want := 0
		for want < len(raw) && raw[want] <= at {
			want++
		}
		n, low, high := h.CountWithin(float64(at))
		if !(low <= n && n <= high && low <= float64(want) && float64(want) <= high) {
			t.Fatalf("within %d: %d, got %v in %v … %v", at, want, n, low, high)
		}
		more, _, _ := h.CountWithin(float64(at) + rapid.Float64Range(0, 1e10).Draw(t, "more"))
		if more < n {
			t.Fatalf("not monotone: %v within %d, then %v", n, at, more)
		}
	})
}

// TestCountWithinIsInverse: a request's own latency has all before it and half of
// itself behind it; in a bin of one value all of the bin's requests.
func TestCountWithinIsInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := smalls().Draw(t, "histogram")
		total := h.Total()
		for range 10 {
			rank := float64(rapid.IntRange(1, int(total)).Draw(t, "rank"))
			a := h.Percentile(rank / total)
			n, low, high := h.CountWithin(a.Value)
			switch {
			case a.Open:
				if n != low || high != total {
					t.Fatalf("in the open bin: %v in %v … %v of %v", n, low, high, total)
				}
			case a.Low == a.High:
				if n < rank || n != high {
					t.Fatalf("rank %v: %v within %v, at most %v", rank, n, a.Value, high)
				}
			case math.Abs(n-rank) > 0.5+1e-6:
				t.Fatalf("rank %v: %v within %v", rank, n, a.Value)
			}
		}
	})
}
