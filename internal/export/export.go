package export

import (
	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Writer writes runs, one after another. Close writes what is buffered. It does not close the underlying writer.
type Writer interface {
	// Begin begins a run. isAlike reports whether another run has the same name and archive. If the run's start is
	// before 1970, it is not known, and all times count from it.
	Begin(run *mapping.RunInfo, isAlike bool) error
	// Add writes a window and its requests, which are not empty. Windows come in order of their start. Add does not
	// keep its arguments.
	Add(w *window.Window, requests *hist.Histogram) error
	Close() error
}
