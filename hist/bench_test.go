package hist_test

import (
	"testing"

	"github.com/fio2es/fio2es/hist"
)

// benchRow is a row of n bins as a busy device's: side by side from 20 µs on.
func benchRow(n int) []hist.Bin {
	row := make([]hist.Bin, n)
	first := hist.Fio3(0).Index(20_000)
	for i := range row {
		row[i] = hist.Bin{Index: uint32(first + i), Count: uint64(1 + i*i%37)}
	}
	return row
}

func BenchmarkAddBins(b *testing.B) {
	l := hist.Fio3(0)
	row := benchRow(220)
	h := hist.New(l)
	b.ReportAllocs()
	for b.Loop() {
		h.AddBins(l, row)
	}
}

func BenchmarkMerge(b *testing.B) {
	for _, c := range []struct {
		name     string
		from, to hist.Layout
	}{
		{"same", hist.Fio3(0), hist.Fio3(0)},
		{"coarser", hist.Fio3(0), hist.Fio3(3)},
		{"rebinned", hist.Fio2(0), hist.Fio3(0)},
	} {
		b.Run(c.name, func(b *testing.B) {
			h, other := hist.New(c.to), fromRow(c.from, benchRow(220))
			b.ReportAllocs()
			for b.Loop() {
				h.Merge(other)
			}
		})
	}
}

func BenchmarkPercentiles(b *testing.B) {
	h := fromRow(hist.Fio3(0), benchRow(300))
	qs := []float64{0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1}
	b.ReportAllocs()
	for b.Loop() {
		h.Percentiles(qs...)
	}
}

// BenchmarkDeviation computes all that a document contains besides percentiles.
func BenchmarkDeviation(b *testing.B) {
	h := fromRow(hist.Fio3(0), benchRow(300))
	b.ReportAllocs()
	for b.Loop() {
		h.Deviation(h.Mean().Value)
	}
}
