package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/mapping"
)

// TestUndecided: no command selects a run whose p99 lies in fio's last bin by p99 < 30s, and all say so.
func TestUndecided(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.db")
	store, err := sqlite.Open(t.Context(), path)
	check(t, err)
	for id, latency := range map[string]time.Duration{"5a5a0000": 20 * time.Second, "0b0b0000": time.Millisecond} {
		h := hist.New(hist.Fio3(0))
		h.AddLatency(int64(latency), 100)
		start := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
		run := &mapping.Run{
			Run: mapping.RunInfo{ID: id, Ingest: "1", Name: id, Start: start, End: start.Add(time.Minute), Complete: true},
			All: &mapping.Totals{Requests: 100, Latency: mapping.NewLatency(h, nil)},
		}
		check(t, store.Finish(t.Context(), run))
	}
	check(t, store.Close())
	for _, args := range [][]string{
		{"runs", "--where", "p99 < 30s", "--format", "csv"}, {"runs", "p99 < 30s", "--format", "csv"},
		{"label", "--where", "p99 < 30s", "x=y"}, {"rm", "--dry-run", "--where", "not p99 > 30s"}, {"trend", "--where", "p99 < 30s", "--all"},
	} {
		var out, errs strings.Builder
		run(t.Context(), append(args, "--history", path), strings.NewReader(""), &out, &errs)
		if strings.Contains(out.String()+errs.String(), "5a5a") || strings.Count(errs.String(), "left out 1 run: a latency in the condition lies in fio's last bin") != 1 {
			t.Errorf("%q:\n%s%s", args, out.String(), errs.String())
		}
	}
}
