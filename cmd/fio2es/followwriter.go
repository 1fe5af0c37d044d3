package main

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// followWriter writes windows of runs that go on, as they come, from any goroutine. Each is
// written once, though a file that was renamed, emptied or put back is read from its start.
type followWriter struct {
	mu      sync.Mutex
	w       io.Writer
	lines   *percentileWriter // csv and json
	started bool
	again   func(text string) // takes what there is to say of windows that are not written again

	written map[series]stretch
	said    map[string]bool // versions of runs of which again was called
}

// series are the windows of a run in a direction, of a host or job where there are such.
type series struct{ run, direction, host, job string }

// stretch is what was written of a series.
type stretch struct{ start, until time.Time } // start is the run's

func newFollowWriter(w io.Writer, format string, again func(text string)) *followWriter {
	f := &followWriter{w: w, again: again, written: map[series]stretch{}, said: map[string]bool{}}
	if format != "table" {
		f.lines = newPercentileWriter(w, format, "")
	}
	return f
}

// window writes a window. It reports whether the window is new.
func (f *followWriter) window(d *mapping.Interval) (isNew bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.isNew(d) {
		return false, nil
	}
	if f.lines == nil {
		return true, f.line(d)
	}
	if err := f.lines.window(window.From(d)); err != nil {
		return true, err
	}
	return true, f.lines.to.Flush()
}

// isNew reports whether no part of a window was written, and notes it. A run whose file was
// renamed keeps its id. One whose file was emptied while fio goes on has another, but its
// place, and its start as far as the reports show that.
func (f *followWriter) isNew(d *mapping.Interval) bool {
	const apart = 2 * time.Second // of the starts of one run, by different reports
	name := d.Run.Archive + ":" + d.Run.Name
	byID, byPlace := series{d.Run.ID, d.Fio.Direction, d.Host.Name, d.Fio.Job}, series{name, d.Fio.Direction, d.Host.Name, d.Fio.Job}
	for _, key := range []series{byID, byPlace} {
		have, ok := f.written[key]
		if !ok || d.Run.Start.Sub(have.start).Abs() > apart || !d.Time.Before(have.until) {
			continue
		}
		if !f.said[d.Run.Ingest] {
			f.said[d.Run.Ingest] = true
			f.again(fmt.Sprintf("note: %s: its files have changed and are read again: windows until %s are not printed again; the history has them as the files are now",
				name, clockOf(have.until)))
		}
		return false
	}
	f.written[byID] = stretch{d.Run.Start, d.Window.End}
	f.written[byPlace] = f.written[byID]
	return true
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
	return term.Line(f.w, form, d.Window.End.UTC().Format("15:04:05"), d.Run.ID[:8], d.Fio.Direction,
		unit.Count(d.Requests.Completed), unit.Rate(d.IOPS),
		a.text("mean"), a.text("p50"), a.text("p95"), a.text("p99"), a.text("p99_9"), a.text("max"))
}
