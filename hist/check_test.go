package hist_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
)

// fromWeights makes a histogram of bins in any order.
func fromWeights(l hist.Layout, bins ...hist.Weight) *hist.Histogram {
	h := hist.New(l)
	for _, b := range bins {
		h.AddAt(b.Index, b.Count)
	}
	return h
}

func TestAddAtDropsZeros(t *testing.T) {
	h := fromWeights(hist.Fio3(0), hist.Weight{Index: 1}, hist.Weight{Index: 2, Count: 3}, hist.Weight{Index: 4})
	if diff := cmp.Diff([]hist.Weight{{2, 3}}, h.Weights()); diff != "" {
		t.Error(diff)
	}
}

// FuzzAnswers reads three bytes as a bin's index and its count in quarters. The answers of
// such a histogram must not contradict each other.
func FuzzAnswers(f *testing.F) {
	f.Add(uint16(1856), []byte{0, 10, 4, 0, 20, 4}, 0.999)
	f.Add(uint16(29), []byte{0, 0, 1, 0, 28, 255}, 0.5)
	f.Add(uint16(1216), []byte{4, 191, 3}, 1.0)
	f.Add(uint16(58), []byte{0, 9, 4, 0, 8, 4}, 0.1)
	f.Add(uint16(0), []byte{}, math.NaN())
	f.Add(uint16(29), []byte{0, 5, 1}, math.NaN())
	f.Add(uint16(29), []byte{0, 28, 40}, math.NaN())
	f.Fuzz(func(t *testing.T, bins uint16, data []byte, q float64) {
		l, err := hist.Resolve(int(bins), hist.Hint{})
		if err != nil {
			if !errors.Is(err, hist.ErrColumns) && !errors.Is(err, hist.ErrLayout) {
				t.Fatal(err)
			}
			return
		}
		h, want := hist.New(l), 0.0
		for ; len(data) >= 3; data = data[3:] {
			i, n := (int(data[0])<<8|int(data[1]))%l.Len(), math.Abs(float64(int8(data[2]))/4)
			h.AddAt(i, n)
			want += n
		}
		if h.Total() != want || h.IsEmpty() != (want == 0) {
			t.Fatalf("total %v, want %v", h.Total(), want)
		}
		least, p, most := h.Min(), h.Percentile(q), h.Max()
		if _, ok := h.FioPercentile(q * 100); ok && (want == 0 || math.IsNaN(q)) {
			t.Fatalf("fio's percentile of %v requests at %v", want, q)
		}
		if want == 0 || math.IsNaN(q) {
			if !math.IsNaN(p.Value) {
				t.Fatalf("%+v of %v requests at %v", p, want, q)
			}
			return
		}
		if !(least.Value <= p.Value && p.Value <= most.Value) {
			t.Fatalf("%v is not in %v … %v", p.Value, least.Value, most.Value)
		}
		if !(least.Low <= p.Low && p.Low <= p.Value && p.Value <= p.High && p.High <= most.High) {
			t.Fatalf("%+v is not in its bounds, or beyond %v … %v", p, least.Low, most.High)
		}
		if n, low, high := h.CountWithin(p.Value); !(low <= n && n <= high && high <= want*(1+1e-12)) {
			t.Fatalf("%v of %v requests within %v, in %v … %v", n, want, p.Value, low, high)
		}
		if m := h.Mean(); !(m.Low <= m.Value && m.Value <= m.High) || !(h.Deviation(h.Mean().Value) >= 0) {
			t.Fatalf("mean %+v, deviation %v", m, h.Deviation(h.Mean().Value))
		}
	})
}
