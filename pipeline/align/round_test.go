package align

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/hist"
)

// TestRounder takes whole numbers of requests apart, as windows do, and rounds the
// parts: per bin, no sum over time may be off by a request, and the whole not at all.
func TestRounder(t *testing.T) {
	layout := hist.Fio3(6)
	rapid.Check(t, func(t *rapid.T) {
		windows := rapid.IntRange(1, 20).Draw(t, "windows")
		weights := make([]*hist.Histogram, windows)
		for w := range weights {
			weights[w] = hist.New(layout)
		}
		total := map[int]float64{}
		for _, bin := range rapid.SliceOfNDistinct(rapid.IntRange(0, layout.Len()-1), 1, 6, rapid.ID).Draw(t, "bins") {
			n := float64(rapid.Uint64Range(1, 1000).Draw(t, "requests"))
			total[bin] = n
			for w := range windows - 1 {
				share := quantize(n * rapid.Float64Range(0, 1).Draw(t, "share"))
				weights[w].AddAt(bin, share)
				n -= share
			}
			weights[windows-1].AddAt(bin, n)
		}
		var r rounder
		weighed, given := map[int]float64{}, map[int]float64{}
		for _, h := range weights {
			for i, weight := range h.All() {
				weighed[i] += weight
			}
			last := -1
			for _, b := range r.bins(h) {
				if int(b.Index) <= last || b.Count == 0 || b.Count > 1<<53 {
					t.Fatalf("bin %d of %d requests after bin %d", b.Index, b.Count, last)
				}
				last = int(b.Index)
				given[last] += float64(b.Count)
			}
			for i := range weighed {
				if off := math.Abs(weighed[i] - given[i]); off >= 1 {
					t.Errorf("bin %d: %v given of %v so far", i, given[i], weighed[i])
				}
			}
		}
		for i := range total {
			if given[i] != total[i] {
				t.Errorf("bin %d: %v given of %v", i, given[i], total[i])
			}
		}
	})
}

// TestRounderRanks: in each window, the number of requests up to each bin is that of the
// weights but for a few (rounding each bin separately: 65 of 200), even if many
// bins contain a part of a request. Rows of few requests in many bins are cut over windows.
func TestRounderRanks(t *testing.T) {
	const windows, bins = 60, 400
	rng := rand.New(rand.NewPCG(1, 2))
	layout := hist.Fio3(0)
	var r rounder
	left := make([]float64, bins) // of the row that the window before has a share of
	for w := range windows + 1 {
		share, h := quantize(rng.Float64()), hist.New(layout)
		for i := range bins {
			requests := math.Floor(rng.ExpFloat64() * 0.8)
			if w == windows {
				requests = 0
			}
			part := quantize(requests * share)
			if weight := left[i] + part; weight > 0 {
				h.AddAt(i, weight)
			}
			left[i] = requests - part
		}
		given, weighed, worst := 0.0, 0.0, 0.0
		counts := r.bins(h)
		for i, weight := range h.All() {
			weighed += weight
			if len(counts) > 0 && int(counts[0].Index) == i {
				given += float64(counts[0].Count)
				counts = counts[1:]
			}
			worst = max(worst, math.Abs(given-weighed))
		}
		if len(counts) > 0 || worst > 4 {
			t.Errorf("window %d: a rank is off by %.2f of %.1f requests; %d bins are left", w, worst, weighed, len(counts))
		}
	}
	for i, c := range r.carry {
		if c != 0 {
			t.Errorf("bin %d is still due %v", i, c)
		}
	}
}

// TestRounderRebinned: if bins always contain fractions, their sum stays true.
func TestRounderRebinned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r rounder
		weighed, given := 0.0, 0.0
		for range rapid.IntRange(1, 15).Draw(t, "windows") {
			h := hist.New(hist.Fio3(0))
			if rapid.Bool().Draw(t, "fio 3") {
				h.AddAt(rapid.IntRange(0, 1855).Draw(t, "bin"), float64(rapid.Uint64Range(1, 5).Draw(t, "requests")))
			}
			for range rapid.IntRange(0, 8).Draw(t, "bins") {
				row := []hist.Bin{{
					Index: rapid.Uint32Range(0, 1215).Draw(t, "bin"),
					Count: rapid.Uint64Range(1, 3).Draw(t, "requests"),
				}}
				h.AddBins(hist.Fio2(0), row)
			}
			weighed += h.Total()
			last := -1
			for _, b := range r.bins(h) {
				if int(b.Index) <= last || b.Count == 0 || b.Count > 1<<20 {
					t.Fatalf("bin %d of %d requests after bin %d", b.Index, b.Count, last)
				}
				last = int(b.Index)
				given += float64(b.Count)
			}
			if math.Abs(weighed-given) > 0.5 {
				t.Errorf("%v given of %v so far", given, weighed)
			}
		}
	})
}

func TestRounderCounts(t *testing.T) {
	for _, c := range []struct {
		name    string
		weights []float64
		want    []int64
	}{
		{"whole", []float64{3, 0, 4}, []int64{3, 0, 4}},
		{"halves", []float64{0.5, 0.5, 0.5, 0.5}, []int64{1, 0, 1, 0}},
		{"quarters", []float64{0.25, 0.25, 0.25, 0.25}, []int64{0, 1, 0, 0}},
		{"little by little", []float64{0.4, 0.4, 0.4, 0.8}, []int64{0, 1, 0, 1}},
		{"large", []float64{1 << 40, 0.5, 0.5}, []int64{1 << 40, 1, 0}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var r, s rounder
			for i, weight := range c.weights {
				if got := r.count(weight); got != c.want[i] {
					t.Errorf("number %d: %v became %d, want %d", i, weight, got, c.want[i])
				}
				h := hist.New(hist.Fio3(0))
				h.AddAt(900, weight)
				got := int64(0)
				for _, b := range s.bins(h) {
					got += int64(b.Count)
				}
				if got != c.want[i] {
					t.Errorf("bin, number %d: %v became %d, want %d", i, weight, got, c.want[i])
				}
			}
		})
	}
}
