package sqlite

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// realistic returns n documents of 300 bins each, as a run on four hosts has them.
func realistic(n int) []*mapping.Interval {
	start := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	rng := rand.New(rand.NewPCG(7, 7))
	docs := make([]*mapping.Interval, n)
	for i := range docs {
		h := hist.New(hist.Fio3(0))
		for b := range 300 { // a bell curve with noise, and a thin tail
			x := float64(b-90) / 30
			h.AddAt(850+b, 1+math.Floor(900*math.Exp(-x*x/2)*(0.5+rng.Float64())))
		}
		at := int64(i/4) * 1000
		lat := mapping.NewLatency(h, nil)
		docs[i] = &mapping.Interval{
			Time: start.Add(time.Duration(at) * time.Millisecond), Level: mapping.Host,
			Window: mapping.Window{End: start.Add(time.Duration(at+1000) * time.Millisecond), MS: 1000, ElapsedMS: at},
			Run: mapping.RunRef{
				ID: "0bb09213eb51c32bb5ad", Name: "nightly 4k randwrite", Archive: "nightly.tar.zst", Start: start,
				Ingest: "0f3a55c1d2e4b697", Labels: map[string]string{"release": "squid"},
			},
			CBT:       mapping.CBT{Benchmark: "librbdfio", Mode: "randwrite", OpSize: 4096, IODepth: 32, NumJobs: 1, Volumes: 8},
			Host:      mapping.HostRef{Name: "client-0" + strconv.Itoa(i%4)},
			Fio:       mapping.FioRef{Direction: "write", Version: "fio-3.36"},
			Latency:   lat,
			Requests:  mapping.Requests{Completed: lat.Bins.Total(), Weight: h.Total()},
			IOPS:      float64(lat.Bins.Total()),
			Weighting: "inflight", DocCount: lat.Bins.Total(),
		}
	}
	return docs
}

func BenchmarkPack(b *testing.B) {
	docs := realistic(100)
	bytes, n := 0, 0
	for b.Loop() {
		all, err := packAll(docs)
		if err != nil {
			b.Fatal(err)
		}
		for _, p := range all {
			bytes += len(p.blob)
		}
		n += len(all)
	}
	b.ReportMetric(float64(bytes)/float64(n), "packed-B/doc")
}

func BenchmarkUnpack(b *testing.B) {
	all, err := packAll(realistic(1))
	if err != nil {
		b.Fatal(err)
	}
	read := commons{known: map[commonKey]*mapping.Interval{{0, all[0].common.id}: all[0].common.of}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := read.interval(b.Context(), 0, all[0].blob); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPut and BenchmarkIntervals count one document as one operation.
func BenchmarkPut(b *testing.B) {
	docs := realistic(8000)
	for _, batch := range []int{100, 500, 2000} {
		b.Run("batch="+strconv.Itoa(batch), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "h.db")
			s, err := Open(b.Context(), path)
			if err != nil {
				b.Fatal(err)
			}
			n := 0
			b.ResetTimer()
			for range b.N {
				for i := 0; i < len(docs); i += batch {
					part := docs[i:min(i+batch, len(docs))]
					if err := s.Put(b.Context(), part); err != nil {
						b.Fatal(err)
					}
				}
				n += len(docs)
				for _, d := range docs { // next round: later windows
					d.Time = d.Time.Add(time.Hour)
				}
			}
			b.StopTimer()
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "docs/s")
			if err := s.Close(); err != nil {
				b.Fatal(err)
			}
			info, err := os.Stat(path)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(info.Size())/float64(n), "B/doc")
		})
	}
}

func BenchmarkIntervals(b *testing.B) {
	docs := realistic(4000)
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "h.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	run := &mapping.Run{Run: mapping.RunInfo{ID: docs[0].Run.ID, Ingest: docs[0].Run.Ingest}}
	if err := s.Put(b.Context(), docs); err != nil {
		b.Fatal(err)
	}
	if err := s.Finish(b.Context(), run); err != nil {
		b.Fatal(err)
	}
	for name, sel := range map[string]history.Selection{
		"one run":  {Runs: []string{run.Run.ID}, Level: mapping.Host},
		"all runs": {Level: mapping.Host},
	} {
		b.Run(name, func(b *testing.B) {
			n := 0
			for range b.N {
				for _, err := range s.Intervals(b.Context(), sel) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "docs/s")
		})
	}
}
