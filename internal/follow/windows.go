package follow

import (
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/window"
)

// windows gives each window of live runs once, from any goroutine, although a file that was renamed,
// emptied or put back is read again from its start.
type windows struct {
	mu    sync.Mutex
	log   *slog.Logger
	give  func(*window.Window) error
	given map[series]stretch
	noted map[string]bool // versions of runs whose windows were not given again
}

// series identifies the windows of a run in one direction, and of one host or job if the level has them.
type series struct{ run, direction, host, job string }

// stretch is what was given of a series.
type stretch struct{ start, until time.Time } // start is the run's

func newWindows(log *slog.Logger, give func(*window.Window) error) *windows {
	return &windows{log: log, give: give, given: map[series]stretch{}, noted: map[string]bool{}}
}

// take gives a window if it is new.
func (w *windows) take(d *window.Window) (isNew bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.isNew(d) {
		return false, nil
	}
	return true, w.give(d)
}

// isNew reports whether a window was not given, and notes it. A window of whole rows may begin some
// milliseconds before the end of the one before, so its middle decides. A run whose file was renamed
// keeps its id. One whose file was emptied while fio runs gets another id, but has the same place,
// and the same start as far as its reports show it.
func (w *windows) isNew(d *window.Window) bool {
	const apart = 2 * time.Second // of the starts of one run, by different reports
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

// clock is the time of a day for messages.
func clock(t time.Time) string { return t.UTC().Format("15:04:05") }
