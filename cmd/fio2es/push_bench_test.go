package main

import (
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/fiotest"
	"github.com/fio2es/fio2es/mapping/templates"
)

// BenchmarkPush pushes small runs, and a large one, to a cluster that answers each request after 2 ms. It also counts requests, and those of
// them that make documents visible, which cost a real cluster most. The stand-in's own time is in the figures.
func BenchmarkPush(b *testing.B) {
	for _, c := range []struct {
		name string
		fiotest.ArchiveSpec
	}{
		{"small runs", fiotest.ArchiveSpec{Runs: 200, Hosts: 1, Jobs: 2, Seconds: 5, IOPS: 500}},
		{"one run", fiotest.ArchiveSpec{Runs: 1, Hosts: 4, Jobs: 4, Seconds: 300, IOPS: 500}},
	} {
		b.Run(c.name, func(b *testing.B) {
			top := b.TempDir()
			generated(b, c.ArchiveSpec, filepath.Join(top, "lab"))
			db := filepath.Join(top, "h.db")
			if c := call(b, nil, "ingest", allLevels, "--history", db, filepath.Join(top, "lab")); c.code != 0 {
				b.Fatal(c.stderr)
			}
			var requests, refreshes atomic.Int64
			for b.Loop() {
				server := estest.New(templates.Names("fio")...)
				server.Before = func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
					requests.Add(1)
					if strings.HasSuffix(r.URL.Path, "_refresh") || r.URL.Query().Has("refresh") {
						refreshes.Add(1)
					}
					time.Sleep(2 * time.Millisecond)
					return false
				}
				address, stop := server.Start()
				if c := call(b, nil, "push", "--history", db, "--elasticsearch", address); c.code != 0 {
					b.Fatal(c.stderr)
				}
				stop()
			}
			runs := float64(b.N * c.Runs)
			b.ReportMetric(float64(requests.Load())/runs, "requests/run")
			b.ReportMetric(float64(refreshes.Load())/runs, "refreshes/run")
			b.ReportMetric(float64(b.Elapsed().Milliseconds())/runs, "ms/run")
		})
	}
}
