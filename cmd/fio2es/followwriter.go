package main

import (
	"io"
	"sync"

	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// followWriter writes windows of runs that go on, as they come, from any goroutine.
type followWriter struct {
	mu      sync.Mutex
	w       io.Writer
	lines   *percentileWriter // csv and json
	started bool
}

func newFollowWriter(w io.Writer, format string) *followWriter {
	f := &followWriter{w: w}
	if format != "table" {
		f.lines = newPercentileWriter(w, format, "", false)
	}
	return f
}

func (f *followWriter) window(d *mapping.Interval) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.lines == nil {
		return f.line(d)
	}
	if err := f.lines.interval(d); err != nil {
		return err
	}
	return f.lines.flush()
}

// line is one of a table whose columns are as wide as they may have to be: it has no end
// at which that is known.
func (f *followWriter) line(d *mapping.Interval) error {
	const form = "%-8s  %-8s  %-5s  %11s  %8s  %7s  %7s  %7s  %7s  %7s  %7s"
	if !f.started {
		f.started = true
		if err := term.Line(f.w, form, "UNTIL", "RUN", "DIR", "REQUESTS", "IOPS", "MEAN", "P50", "P95", "P99", "P99.9", "MAX"); err != nil {
			return err
		}
	}
	a, err := answersOf(&d.Latency, "")
	if err != nil {
		return err
	}
	t := a.texts("mean", "p50", "p95", "p99", "p99_9", "max")
	return term.Line(f.w, form, d.Window.End.UTC().Format("15:04:05"), d.Run.ID[:8], d.Fio.Direction,
		unit.Count(d.Requests.Completed), unit.Rate(d.IOPS), t[0], t[1], t[2], t[3], t[4], t[5])
}
