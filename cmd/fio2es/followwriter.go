package main

import (
	"io"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
)

// followWriter writes windows of live runs as they come.
type followWriter struct {
	w       io.Writer
	lines   *percentiles // for csv and json
	started bool
}

func newFollowWriter(w io.Writer, format string) *followWriter {
	f := &followWriter{w: w}
	if format != table.Text {
		f.lines = newPercentiles(w, format, "", &query.Query{})
	}
	return f
}

func (f *followWriter) window(w *window.Window) error {
	if f.lines == nil {
		return f.line(w)
	}
	if err := f.lines.window(w); err != nil {
		return err
	}
	return f.lines.to.End()
}

// line writes a row of a table that never ends, so the widths of its columns are fixed.
func (f *followWriter) line(w *window.Window) error {
	const form = "%-8s  %-8s  %-5s  %11s  %8s  %7s  %7s  %7s  %7s  %7s  %7s"
	if !f.started {
		f.started = true
		if err := term.Line(f.w, form, "TO (UTC)", "RUN", "DIR", "REQUESTS", "IOPS", "MEAN", "P50", "P95", "P99", "P99.9", "MAX"); err != nil {
			return err
		}
	}
	a := facts.LatenciesOf(&w.Latency)
	return term.Line(f.w, form, w.End.UTC().Format("15:04:05"), facts.ShortID(w.Run.ID), w.Direction,
		unit.Count(w.Completed), unit.Rate(w.IOPS),
		a.Text("mean"), a.Text("p50"), a.Text("p95"), a.Text("p99"), a.Text("p99_9"), a.Text("max"))
}
