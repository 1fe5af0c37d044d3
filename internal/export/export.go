package export

import (
	"cmp"
	"io"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/table"
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

// Formats are the names of the formats.
var Formats = []string{"hdrlog", "openmetrics", "ddsketch", table.CSV, table.JSON}

// New returns a writer in one of [Formats]. opt is used only for openmetrics.
func New(format string, w io.Writer, opt OpenMetricsOptions) Writer {
	switch format {
	case "hdrlog":
		return NewHDRLog(w)
	case "openmetrics":
		return NewOpenMetrics(w, opt)
	case "ddsketch":
		return NewDDSketch(w)
	}
	return NewBins(w, format)
}

// Ordered passes windows of runs to a [Writer]. The order of windows with the same nominal time depends on where
// they are read. Ordered sorts them, so that the output does not depend on that. It leaves out windows without
// requests.
type Ordered struct {
	to    Writer
	alike map[string]bool // ids of runs with the same name and archive as another run
	begun bool            // the run has requests
	wrote bool            // some run has
	open  []openWindow    // windows of one nominal time
}

// openWindow is a window and its requests.
type openWindow struct {
	*window.Window
	requests *hist.Histogram
}

// NewOrdered passes windows to a writer. runs are the runs of the history that will come.
func NewOrdered(to Writer, runs []*mapping.Run) *Ordered {
	return &Ordered{to: to, alike: runsAlike(runs)}
}

// runsAlike returns the ids of the runs that share their name and archive with another run: the same job ran twice
// in the same folder.
func runsAlike(runs []*mapping.Run) map[string]bool {
	type place struct{ archive, name string }
	first, alike := map[place]string{}, map[string]bool{}
	for _, run := range runs {
		at := place{run.Run.Archive, run.Run.Name}
		if have := first[at]; have == "" {
			first[at] = run.Run.ID
		} else if have != run.Run.ID {
			alike[have], alike[run.Run.ID] = true, true
		}
	}
	return alike
}

// Begin begins a run. What is left of a run that could not be read to its end is dropped.
func (o *Ordered) Begin() { o.begun, o.open = false, nil }

// Add adds a window. The first window with requests begins the run.
func (o *Ordered) Add(w *window.Window) error {
	requests, err := w.Histogram()
	if err != nil || requests == nil || requests.IsEmpty() {
		return err
	}
	if len(o.open) > 0 && o.open[0].ElapsedMS != w.ElapsedMS {
		if err := o.flush(); err != nil {
			return err
		}
	}
	o.open = append(o.open, openWindow{w, requests})
	if o.begun {
		return nil
	}
	o.begun, o.wrote = true, true
	return o.to.Begin(w.Run, o.alike[w.Run.ID])
}

// flush sorts the open windows and passes them to the writer.
func (o *Ordered) flush() error {
	place := func(direction string) int { return slices.Index(mapping.Directions[:], direction) }
	slices.SortFunc(o.open, func(x, y openWindow) int {
		return cmp.Or(x.Start.Compare(y.Start), cmp.Compare(x.Host, y.Host), cmp.Compare(x.Job, y.Job),
			cmp.Compare(place(x.Direction), place(y.Direction)))
	})
	for _, w := range o.open {
		if err := o.to.Add(w.Window, w.requests); err != nil {
			return err
		}
	}
	o.open = o.open[:0]
	return nil
}

// Close closes the writer if any run had requests.
func (o *Ordered) Close() error {
	if !o.wrote {
		return nil
	}
	return o.to.Close()
}

// End ends a run. It reports whether the run had requests. If not, nothing was written.
func (o *Ordered) End() (hasRequests bool, err error) {
	if !o.begun {
		return false, nil
	}
	o.begun = false
	return true, o.flush()
}
