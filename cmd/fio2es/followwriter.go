package main

import (
	"io"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// followWriter writes windows of live runs as they come.
type followWriter struct {
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

// window writes a window.
func (f *followWriter) window(d *mapping.Interval) error {
	if f.lines == nil {
		return f.line(d)
	}
	if err := f.lines.interval(d); err != nil {
		return err
	}
	return f.lines.flush()
}

// line writes a line of a table without an end, so the widths of its columns are fixed.
func (f *followWriter) line(d *mapping.Interval) error {
	const form = "%-8s  %-8s  %-5s  %11s  %8s  %7s  %7s  %7s  %7s  %7s  %7s"
	if !f.started {
		f.started = true
		if err := term.Line(f.w, form, "UNTIL", "RUN", "DIR", "REQUESTS", "IOPS", "MEAN", "P50", "P95", "P99", "P99.9", "MAX"); err != nil {
			return err
		}
	}
	a := facts.LatenciesOf(&d.Latency)
	return term.Line(f.w, form, d.Window.End.UTC().Format("15:04:05"), d.Run.ID[:8], d.Fio.Direction,
		unit.Count(d.Requests.Completed), unit.Rate(d.IOPS),
		a.Text("mean"), a.Text("p50"), a.Text("p95"), a.Text("p99"), a.Text("p99_9"), a.Text("max"))
}
