package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// BenchmarkIngest ingests about 50 MB of logs into a new history, and into nothing. The difference is the cost of
// storing. B/run is what a run takes in the history; nine runs in ten of a year are small.
func BenchmarkIngest(b *testing.B) {
	for _, c := range []struct {
		name string
		fiotest.ArchiveSpec
	}{
		{"one run", fiotest.ArchiveSpec{Runs: 1, Hosts: 4, Jobs: 16, Seconds: 141, IOPS: 1000}},
		{"many runs", fiotest.ArchiveSpec{Runs: 100, Hosts: 2, Jobs: 4, Seconds: 11, IOPS: 1000}},
		{"small runs", fiotest.ArchiveSpec{Runs: 100, Hosts: 2, Jobs: 5, Seconds: 10, IOPS: 100}},
	} {
		dir := filepath.Join(b.TempDir(), "lab")
		size := generated(b, c.ArchiveSpec, dir)
		b.Run(c.name+"/history", func(b *testing.B) {
			b.SetBytes(size)
			top, n, documents, room := b.TempDir(), 0, 0, int64(0)
			for b.Loop() {
				n++
				path := filepath.Join(top, strconv.Itoa(n)+".db")
				store, err := sqlite.Open(b.Context(), path)
				check(b, err)
				documents += ingestAll(b, dir, store)
				check(b, store.Close())
				info, err := os.Stat(path)
				check(b, err)
				room += info.Size()
			}
			b.ReportMetric(float64(room)/float64(n*c.Runs), "B/run")
			b.ReportMetric(float64(documents)/b.Elapsed().Seconds(), "docs/s")
		})
		b.Run(c.name+"/discard", func(b *testing.B) {
			b.SetBytes(size)
			documents := 0
			for b.Loop() {
				documents += ingestAll(b, dir, discard{})
			}
			b.ReportMetric(float64(documents)/b.Elapsed().Seconds(), "docs/s")
		})
	}
}

// discard is a sink that discards everything.
type discard struct{}

func (discard) Put(context.Context, []*mapping.Interval) error { return nil }
func (discard) Finish(context.Context, *mapping.Run) error     { return nil }

// ingestAll finds and ingests all runs under a path, and returns the number of documents.
func ingestAll(b *testing.B, path string, to ingest.Sink) int {
	b.Helper()
	archive, err := pipeline.Open(b.Context(), []string{path}, nil, nil)
	check(b, err)
	defer archive.Close()
	result, err := ingest.Runs(b.Context(), ingest.Target{Sink: to}, archive.Runs, ingest.Options{Log: slog.New(slog.DiscardHandler)})
	check(b, err)
	n, _ := result.Count()
	return n
}
