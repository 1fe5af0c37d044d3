package follow

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/window"
)

// windows passes on each window of live runs once, even if a file is renamed, emptied or put back and then read
// again from its start. Several goroutines may use it.
type windows struct {
	mu    sync.Mutex
	log   *slog.Logger
	give  func(*window.Window) error
	given map[series]stretch
	noted map[string]bool // versions for which a message said that windows are not printed again
}

// series identifies the windows of a run in one direction, and of one host or job at these levels.
type series struct{ run, direction, host, job string }

// start is that of the run, until the end of the last window
type stretch struct{ start, until time.Time } // start is the run's

func newWindows(log *slog.Logger, give func(*window.Window) error) *windows {
	return &windows{log: log, give: give, given: map[series]stretch{}, noted: map[string]bool{}}
}

// take passes on a window if it is new.
func (w *windows) take(d *window.Window) (isNew bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.isNew(d) {
		return false, nil
	}
	return true, w.give(d)
}

// isNew reports whether a window is new, and records it. A window of whole rows may begin some milliseconds before
// the end of the window before, so its middle decides. A run whose file is renamed keeps its id. A run whose file is
// emptied while fio runs gets another id, but has the same place and nearly the same start.
func (w *windows) isNew(d *window.Window) bool {
	const apart = 2 * time.Second // between the starts of one run in different reports
	name := d.Run.Archive + ":" + d.Run.Name
	byID := series{d.Run.ID, d.Direction, d.Host, d.Job}
	byPlace := series{name, d.Direction, d.Host, d.Job}
	middle := d.Start.Add(d.Length() / 2)
	for _, key := range []series{byID, byPlace} {
		have, ok := w.given[key]
		if !ok || d.Run.Start.Sub(have.start).Abs() > apart || !middle.Before(have.until) {
			continue
		}
		if !w.noted[d.Run.Ingest] {
			w.noted[d.Run.Ingest] = true
			w.log.Info(fmt.Sprintf("note: %s: its files have changed and are read again: "+
				"windows until %s are not printed again; the history has them as the files are now", name, clock(have.until)))
		}
		return false
	}
	w.given[byID] = stretch{d.Run.Start, d.End}
	w.given[byPlace] = w.given[byID]
	return true
}

// clock returns the time of day in UTC.
func clock(t time.Time) string { return t.UTC().Format("15:04:05") }
