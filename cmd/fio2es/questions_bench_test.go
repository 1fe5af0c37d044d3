package main

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/internal/web"
	"github.com/fio2es/fio2es/internal/workload/rule"
	"github.com/fio2es/fio2es/mapping"
)

// BenchmarkQuestions asks histories of more and more runs, and BenchmarkElasticQuestions those in the Elasticsearch that the environment
// names. docs/history.md has their numbers. Making the largest history takes minutes:
//
//	go test ./cmd/fio2es -run '^$' -bench Questions/runs=100000 -benchtime 1x -timeout 1h
func BenchmarkQuestions(b *testing.B) {
	benchmarkQuestions(b, func(b *testing.B, n int) (history.Store, []string) {
		path := filepath.Join(b.TempDir(), "h.db")
		store, err := sqlite.Open(b.Context(), path)
		check(b, err)
		for run := range historytest.Nights(n) {
			rule.Set(run)
			check(b, store.Finish(b.Context(), run))
		}
		return store, []string{"--history", path}
	})
}

func BenchmarkElasticQuestions(b *testing.B) {
	benchmarkQuestions(b, func(b *testing.B, n int) (history.Store, []string) {
		real, prefixes := cluster(b, "questions")
		at := []string{"--elasticsearch", real.Address, "--prefix", prefixes[0]}
		if c := call(b, nil, append([]string{"setup"}, at...)...); c.code != 0 {
			b.Fatal(c.stderr)
		}
		client, err := es.New(real.Config)
		check(b, err)
		store := elastic.New(client, prefixes[0])
		var runs []*mapping.Run
		for run := range historytest.Nights(n) {
			rule.Set(run)
			if runs = append(runs, run); len(runs) < 200 { // n is a multiple
				continue
			}
			var all sync.WaitGroup
			for _, run := range runs {
				all.Go(func() {
					if err := store.Finish(b.Context(), run); err != nil {
						b.Error(err)
					}
				})
			}
			all.Wait()
			runs = nil
		}
		return store, at
	})
}

// benchmarkQuestions asks histories of so many runs, which fill makes. It returns the flags that name them.
func benchmarkQuestions(b *testing.B, fill func(b *testing.B, n int) (history.Store, []string)) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run("runs="+strconv.Itoa(n), func(b *testing.B) {
			store, at := fill(b, n)
			defer store.Close()
			ask := func(name string, f func()) {
				b.Run(name, func(b *testing.B) {
					var used memtest.Usage
					for b.Loop() {
						used = memtest.Measure(b, f)
					}
					b.ReportMetric(float64(used.Peak)/1e6, "peak-MB")
					b.ReportMetric(used.Time.Seconds()*1000, "cpu-ms")
				})
			}
			for _, args := range [][]string{
				{"runs", "--where", "bs=4k and read.p99>1ms", "--sort", "p99", "--limit", "20"}, {"runs", "--where", "bs=4k and iteration=5", "--sort", "p99"},
				{"runs", "same-as:latest", "--limit", "20"},
				{"trend", "latest"}, {"trend"}, {"runs", "--by", "bs,iodepth", "--direction", "read"}, {"compare", "latest", "--baseline", "last:5"},
			} {
				ask(strings.Join(args, " "), func() {
					code := run(context.Background(), slices.Concat(args, at), strings.NewReader(""), io.Discard, io.Discard)
					if code != 0 && code != exitLeftOut { // the runs have no windows
						b.Fatalf("%v: exit code %d", args, code)
					}
				})
			}
			pages := web.New(web.Options{Store: store, Log: slog.New(slog.DiscardHandler)})
			for _, page := range []string{"/", "/?sort=p99", "/workloads", "/matrix?by=bs,iodepth"} {
				ask("serve "+page, func() {
					w := httptest.NewRecorder()
					if pages.ServeHTTP(w, httptest.NewRequestWithContext(b.Context(), http.MethodGet, page, nil)); w.Code != http.StatusOK {
						b.Fatalf("%s: %d", page, w.Code)
					}
				})
			}
		})
	}
}
