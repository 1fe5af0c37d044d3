package export

import (
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
)

// Run is what windows are of.
type Run struct {
	Name, Archive string
	Start         time.Time // before 1970 it is not known, and all times count from it
	ID            string    // empty of files, which no history has
	IsAlike       bool      // name and archive are those of another run, too
}

// Known tells whether times are those of a calendar.
func (r *Run) Known() bool { return r.Start.Year() >= 1970 }

// Writer writes runs, one after another. What it has not written yet is written by Close,
// which does not close what it writes to.
type Writer interface {
	Begin(run *Run) error
	// Add takes a window and its requests, which are not empty. Windows are ordered by start; it
	// keeps nothing of them.
	Add(w *window.Window, requests *hist.Histogram) error
	End() error // of the run
	Close() error
}
