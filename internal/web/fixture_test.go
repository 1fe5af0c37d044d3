package web

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/mapping"
)

var began = time.Date(2026, 11, 21, 3, 13, 2, 0, time.UTC)

// runOf returns run i of a history. It started i minutes after the first, and has writes of about us microseconds.
func runOf(i int, name string, us float64) *mapping.Run {
	h := hist.New(hist.Fio3(0))
	h.AddLatency(int64(us*1000), 990)
	h.AddLatency(int64(us*9000), 10)
	total := &mapping.Totals{Requests: 1000, IOPS: 1e6 / us, DurationMS: 60_000, Latency: mapping.NewLatency(h, nil)}
	start := began.Add(time.Duration(i) * time.Minute)
	return &mapping.Run{
		Run: mapping.RunInfo{
			ID: historytest.ID(fmt.Sprint(i, name)), Name: name, Archive: "archive", Path: "results/" + name, Ingest: fmt.Sprintf("%016x", i),
			Start: start, End: start.Add(time.Minute), Labels: map[string]string{"disk": "nvme"}, Complete: true,
		},
		CBT: mapping.CBT{Benchmark: "librbdfio", Mode: "randwrite", OpSize: 4096, IODepth: 4}, Fio: mapping.FioInfo{Jobs: 8},
		Hosts:  []mapping.RunHost{{Name: "client01", Jobs: 4}, {Name: "client02", Jobs: 4}},
		Levels: []mapping.Level{mapping.Cluster, mapping.Host}, All: total, Write: total,
	}
}

func historyOf(t testing.TB, runs ...*mapping.Run) *sqlite.Store {
	t.Helper()
	store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "history.db"))
	must(t, err)
	t.Cleanup(func() { store.Close() })
	for _, run := range runs {
		must(t, store.Finish(t.Context(), run))
	}
	return store
}

// pages serves a history to tests, and counts the reports that it makes.
type pages struct {
	http.Handler
	made atomic.Int64
}

// serve makes the pages of a store. Reports are made only from run documents.
func serve(store history.Store, change ...func(*site)) *pages {
	p := &pages{}
	s := newSite(Options{Store: store, Name: "history.db", Program: "fio2es test", Log: slog.New(slog.DiscardHandler), Local: true})
	s.page = func(ctx context.Context, runs []*mapping.Run, how report.Options) (*report.Page, error) {
		p.made.Add(1)
		return s.report(ctx, runs, how)
	}
	for _, c := range change {
		c(s)
	}
	p.Handler = s.handler()
	return p
}

// get requests a page. headers are names and values in turn.
func (p *pages) get(t testing.TB, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	r.Host = "localhost:8600"
	return p.ask(r, headers...)
}

func (p *pages) ask(r *http.Request, headers ...string) *httptest.ResponseRecorder {
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}
