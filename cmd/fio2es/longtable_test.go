package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/memtest"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// lineCounter counts lines, and those that begin like a header.
type lineCounter struct{ lines, headers int }

func (c *lineCounter) Write(p []byte) (int, error) {
	c.lines += bytes.Count(p, []byte{'\n'})
	c.headers += bytes.Count(p, []byte("REQUESTS"))
	return len(p), nil
}

// TestLongTable: a long table needs as much memory as one of an hour of one-second windows.
func TestLongTable(t *testing.T) {
	const windows = 60_000
	h := hist.New(hist.Fio3(0))
	h.AddLatency(50_000, 100)
	latency := mapping.NewLatency(h, nil)
	start := time.Date(2026, 1, 31, 9, 0, 0, 0, time.UTC)
	out := &lineCounter{}
	used := memtest.Measure(t, func() {
		w := newPercentiles(out, "table", "interpolated", 0, &query.Query{})
		w.note = func(*query.Run, *mapping.Run) {}
		check(t, w.begin(&query.Run{Name: "run"}))
		for i := range windows {
			at := start.Add(time.Duration(i) * 100 * time.Millisecond)
			if err := w.window(&window.Window{
				Run: &mapping.RunInfo{Name: "run", Start: start}, Direction: "read", Start: at, End: at.Add(100 * time.Millisecond),
				Completed: 100, IOPS: 1000, Latency: latency,
			}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.end(nil, &mapping.Run{Run: mapping.RunInfo{Name: "run", Start: start}}); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%d MB, %v", used.Peak>>20, used.Time)
	if out.lines != windows+2 || out.headers != 1 || used.Peak > 16<<20 {
		t.Errorf("%d lines, %d headers, %d bytes", out.lines, out.headers, used.Peak)
	}
}
