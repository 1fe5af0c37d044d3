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
	"testing"

	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/internal/web"
	"github.com/fio2es/fio2es/internal/workload/rule"
)

// BenchmarkQuestions asks histories of more and more runs. docs/history.md has its numbers. Making the largest history takes minutes:
//
//	go test ./cmd/fio2es -run '^$' -bench Questions/runs=100000 -benchtime 1x -timeout 1h
func BenchmarkQuestions(b *testing.B) {
	for _, n := range []int{1000, 10_000, 100_000} {
		b.Run("runs="+strconv.Itoa(n), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "h.db")
			store, err := sqlite.Open(b.Context(), path)
			check(b, err)
			for run := range historytest.Nights(n) {
				rule.Set(run)
				check(b, store.Finish(b.Context(), run))
			}
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
				{"runs", "--where", "bs=4k and read.p99>1ms", "--sort", "p99", "--limit", "20"}, {"runs", "same-as:latest", "--limit", "20"},
				{"trend", "latest"}, {"trend"}, {"runs", "--by", "bs,iodepth", "--direction", "read"}, {"compare", "latest", "--baseline", "last:5"},
			} {
				ask(strings.Join(args, " "), func() {
					code := run(context.Background(), append(slices.Clone(args), "--history", path), strings.NewReader(""), io.Discard, io.Discard)
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
