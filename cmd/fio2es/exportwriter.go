package main

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/export"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// exportWriter hands the windows that are wanted to a format. Windows of one nominal time come in
// an order that depends on where they are read; here they get one that does not.
type exportWriter struct {
	to    export.Writer
	query *query.Query
	how   *exportOptions
	alike map[string]bool // ids of runs that have the name and archive of another that is named
	runs  int             // exported
	empty []error         // runs without matching windows

	many  bool           // runs of the part that is read
	begun bool           // the run has requests
	open  []openedWindow // of one nominal time
}

// openedWindow is a window and its requests.
type openedWindow struct {
	*window.Window
	requests *hist.Histogram
}

// run exports a run.
func (e *exportWriter) run(ctx context.Context, r *reading, run *query.Run, many bool) error {
	e.many, e.begun, e.open = many, false, e.open[:0]
	doc, err := r.read(ctx, run, e.query, e.window)
	if err != nil || doc == nil {
		return err
	}
	if err := e.flush(); err != nil {
		return err
	}
	if !e.begun {
		e.empty = append(e.empty, run.NoMatch(doc))
		return nil
	}
	return nil
}

// window takes a window.
func (e *exportWriter) window(w *window.Window) error {
	requests, err := w.Histogram()
	if err != nil || requests == nil || requests.IsEmpty() {
		return err
	}
	if len(e.open) > 0 && e.open[0].ElapsedMS != w.ElapsedMS {
		if err := e.flush(); err != nil {
			return err
		}
	}
	return e.add(w, requests)
}

// add adds a window with requests to the open ones. The first begins the run.
func (e *exportWriter) add(w *window.Window, requests *hist.Histogram) error {
	e.open = append(e.open, openedWindow{w, requests})
	if e.begun {
		return nil
	}
	e.begun = true
	err := e.to.Begin(w.Run, e.alike[w.Run.ID])
	if e.many && e.how.as == "hdrlog" || errors.Is(err, export.ErrOneRun) {
		return usagef("%w, and these are several: name one run or folder", export.ErrOneRun)
	}
	if err == nil {
		e.runs++
	}
	return err
}

// flush hands on the windows that are open.
func (e *exportWriter) flush() error {
	place := func(direction string) int { return slices.Index(mapping.Directions[:], direction) }
	slices.SortFunc(e.open, func(x, y openedWindow) int {
		return cmp.Or(x.Start.Compare(y.Start), cmp.Compare(x.Host, y.Host), cmp.Compare(x.Job, y.Job),
			cmp.Compare(place(x.Direction), place(y.Direction)))
	})
	for _, w := range e.open {
		if err := e.to.Add(w.Window, w.requests); err != nil {
			return err
		}
	}
	e.open = e.open[:0]
	return nil
}
