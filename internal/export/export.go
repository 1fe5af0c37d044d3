package export

import (
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
)

// Run is the run of the windows that follow.
type Run struct {
	Name, Archive string
	Start         time.Time // before 1970 it is not known, and all times count from it
	ID            string    // empty of files, which are not in a history
	IsAlike       bool      // another run has the same name and archive
}

// Known reports whether the run's start is known.
func (r *Run) Known() bool { return r.Start.Year() >= 1970 }

// Writer writes runs, one after another. Close writes the buffered rest, and does not close the
// underlying writer.
type Writer interface {
	Begin(run *Run) error
	// Add takes a window and its requests, which are not empty. Windows are ordered by start; it
	// keeps nothing of them.
	Add(w *window.Window, requests *hist.Histogram) error
	End() error // of the run
	Close() error
}
