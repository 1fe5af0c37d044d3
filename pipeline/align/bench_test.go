package align_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
)

const (
	benchJobs = 64
	benchRows = 100 // of each job

	// benchLine is the length of such a row as text, mostly of zeros.
	benchLine = 5600
)

// busyRows are rows of a busy device: 240 bins side by side, from 20 µs on, and a few
// of seconds. They end a little late.
func busyRows(layout hist.Layout, offset int64, seed uint64) []align.Row {
	rng := rand.New(rand.NewPCG(seed, 1))
	var rows []align.Row
	for i := range int64(benchRows) {
		var b []hist.Bin
		first, last := layout.Index(20_000), layout.Index(20_000)+240>>layout.Coarseness()
		for j := first; j < last; j++ {
			b = append(b, hist.Bin{Index: uint32(j), Count: 1 + rng.Uint64N(40)})
		}
		b = append(b, hist.Bin{Index: uint32(layout.Index(1_300_000_000 + rng.Int64N(1e9))), Count: 2})
		rows = append(rows, align.Row{
			Start: offset + i*1000 + 7, End: offset + (i+1)*1000 + 7,
			Layout: layout, Bins: b, Total: total(b),
		})
	}
	return rows
}

func BenchmarkMerge(b *testing.B) {
	hosts := []align.Level{align.Cluster, align.Host}
	for _, c := range []struct {
		name    string
		offset  int64
		layouts []hist.Layout
		opt     align.Options
	}{
		{"whole", 0, []hist.Layout{fine}, align.Options{}},
		{"whole/hosts", 0, []hist.Layout{fine}, align.Options{Levels: hosts}},
		{"whole/one", 0, []hist.Layout{fine}, align.Options{Workers: 1}},
		{"whole/coarser", 0, []hist.Layout{fine, hist.Fio3(3)}, align.Options{}},
		{"cut", 130, []hist.Layout{fine}, align.Options{}},
		{"cut/all", 130, []hist.Layout{fine}, align.Options{SpreadAll: true}},
		{"cut/coarser", 130, []hist.Layout{fine, hist.Fio3(3)}, align.Options{}},
		{"cut/versions", 130, []hist.Layout{fine, hist.Fio2(0)}, align.Options{}},
	} {
		b.Run(c.name, func(b *testing.B) {
			c.opt.Window, c.opt.Tolerance = 1000, 50
			var jobs []jobRows
			for i := range benchJobs {
				layout := c.layouts[i%len(c.layouts)]
				rows := busyRows(layout, c.offset*int64(i%7), uint64(i))
				jobs = append(jobs, jobRows{host: fmt.Sprint("host", i/8), job: fmt.Sprint(i % 8), rows: rows})
			}
			b.SetBytes(benchJobs * benchRows * benchLine)
			b.ReportAllocs()
			for b.Loop() {
				merge(b, jobs, c.opt)
			}
			b.ReportMetric(benchJobs*benchRows*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
}

// BenchmarkMergeOnTheFly has windows as they come, and keeps none.
func BenchmarkMergeOnTheFly(b *testing.B) {
	rows := busyRows(fine, 0, 1)
	n, shift := 0, int64(0)
	in := &align.Stream{Next: func() (align.Row, bool) {
		row := rows[n]
		row.Start += shift
		row.End += shift
		if n++; n == len(rows) {
			n, shift = 0, shift+benchRows*1000
		}
		return row, true
	}}
	b.SetBytes(benchLine)
	b.ReportAllocs()
	windows := 0
	for w, err := range align.Merged(b.Context(), []*align.Stream{in}, align.Options{Window: 1000, Tolerance: 50}, nil) {
		if err != nil || len(w.Counts) == 0 {
			b.Fatal(w, err)
		}
		if windows++; !b.Loop() {
			break
		}
	}
}

func BenchmarkSplit(b *testing.B) {
	row := busyRows(fine, 0, 1)[0]
	split := func(s *align.Splitter, time int64) int {
		return len(s.Split(time, row.Direction, row.Layout, row.Bins, row.Total))
	}
	b.Run("on time", func(b *testing.B) {
		s := align.NewSplitter(1000)
		b.ReportAllocs()
		for at := int64(1000); b.Loop(); at += 1000 {
			if split(s, at) != 1 {
				b.Fatal("split")
			}
		}
	})
	b.Run("stalled", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			s := align.NewSplitter(1000)
			if split(s, 1000)+split(s, 4500) != 3 {
				b.Fatal("not split")
			}
		}
	})
}
