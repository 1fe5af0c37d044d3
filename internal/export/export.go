package export

import (
	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Writer writes runs, one after another. Close writes the buffered rest, and does not close the
// underlying writer.
type Writer interface {
	// Begin begins a run. isAlike reports whether another run has its name and archive. Before 1970
	// its start is not known, and all times count from it.
	Begin(run *mapping.RunInfo, isAlike bool) error
	// Add takes a window and its requests, which are not empty. Windows are ordered by start; it
	// keeps nothing of them.
	Add(w *window.Window, requests *hist.Histogram) error
	Close() error
}
