package export

import (
	"time"

	"github.com/fio2es/fio2es/hist"
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

// Series tells windows of the same time apart.
type Series struct {
	Level     string // cluster, host or job
	Host, Job string // empty at the levels above
	Direction string // read, write or trim
}

// Window is the requests of a series between two times.
type Window struct {
	Series
	Start, End time.Time
	Requests   *hist.Histogram // not empty
}

// Writer writes runs, one after another. What it has not written yet is written by Close,
// which does not close what it writes to.
type Writer interface {
	Begin(run *Run) error
	Add(w *Window) error // ordered by start; keeps nothing of w
	End() error          // of the run
	Close() error
}
