package hist_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/hist"
)

func TestFromWeights(t *testing.T) {
	l := hist.Fio3(6)
	for _, c := range []struct {
		name string
		bins []hist.Weight
		want error
	}{
		{"none", nil, nil},
		{"both ends", []hist.Weight{{0, 1}, {28, 0.25}}, nil},
		{"largest count", []hist.Weight{{3, hist.MaxCount}}, nil},
		{"negative index", []hist.Weight{{-1, 1}}, hist.ErrIndex},
		{"index beyond", []hist.Weight{{3, 1}, {29, 1}}, hist.ErrIndex},
		{"twice", []hist.Weight{{3, 1}, {3, 1}}, hist.ErrIndex},
		{"descending", []hist.Weight{{3, 1}, {2, 1}}, hist.ErrIndex},
		{"negative count", []hist.Weight{{3, -1}}, hist.ErrCount},
		{"not a number", []hist.Weight{{3, math.NaN()}}, hist.ErrCount},
		{"too large", []hist.Weight{{3, hist.MaxCount + 2}}, hist.ErrTooLarge},
		{"infinite", []hist.Weight{{3, math.Inf(1)}}, hist.ErrTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, err := hist.FromWeights(l, c.bins)
			if !errors.Is(err, c.want) {
				t.Fatalf("got error %v, want %v", err, c.want)
			}
			if err != nil {
				if h != nil {
					t.Error("a histogram besides the error")
				}
				return
			}
			if diff := cmp.Diff(content{Layout: l.String(), Weights: c.bins}, contentOf(h)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestFromWeightsDropsZeros(t *testing.T) {
	h, err := hist.FromWeights(hist.Fio3(0), []hist.Weight{{1, 0}, {2, 3}, {4, 0}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]hist.Weight{{2, 3}}, h.Weights()); diff != "" {
		t.Error(diff)
	}
}

func TestCheckBins(t *testing.T) {
	l := hist.Fio2(6)
	for _, c := range []struct {
		name string
		bins []hist.Bin
		at   int
		want error
	}{
		{"none", nil, -1, nil},
		{"both ends", []hist.Bin{{0, 1}, {18, hist.MaxCount}}, -1, nil},
		{"index beyond", []hist.Bin{{3, 1}, {19, 1}}, 1, hist.ErrIndex},
		{"largest index", []hist.Bin{{math.MaxUint32, 1}}, 0, hist.ErrIndex},
		{"twice", []hist.Bin{{1, 1}, {3, 1}, {3, 1}}, 2, hist.ErrIndex},
		{"descending", []hist.Bin{{3, 1}, {2, 1}}, 1, hist.ErrIndex},
		{"too large", []hist.Bin{{3, 1}, {4, hist.MaxCount + 1}}, 1, hist.ErrTooLarge},
	} {
		t.Run(c.name, func(t *testing.T) {
			at, err := hist.CheckBins(l, c.bins)
			if at != c.at || !errors.Is(err, c.want) {
				t.Errorf("got %d, %v, want %d, %v", at, err, c.at, c.want)
			}
		})
	}
}

// FuzzFromWeights reads three bytes as a bin's index and its count in quarters. What
// FromWeights takes must answer every question without contradicting itself.
func FuzzFromWeights(f *testing.F) {
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
		var ws []hist.Weight
		want, ascending := 0.0, true
		for ; len(data) >= 3; data = data[3:] {
			w := hist.Weight{Index: int(data[0])<<8 | int(data[1]), Count: float64(int8(data[2])) / 4}
			ascending = ascending && w.Index < l.Len() && w.Count >= 0 && (len(ws) == 0 || w.Index > ws[len(ws)-1].Index)
			ws, want = append(ws, w), want+w.Count
		}
		h, err := hist.FromWeights(l, ws)
		if (err == nil) != ascending {
			t.Fatalf("%v: %v", ws, err)
		}
		if err != nil {
			return
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
		if m := h.Mean(); !(m.Low <= m.Value && m.Value <= m.High) || !(h.StdDev() >= 0) {
			t.Fatalf("mean %+v, deviation %v", m, h.StdDev())
		}
	})
}
