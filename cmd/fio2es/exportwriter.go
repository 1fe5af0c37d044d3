package main

import (
	"cmp"
	"errors"
	"slices"

	"github.com/fio2es/fio2es/internal/export"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// exportWriter hands the windows that are asked for to a format. Documents of a window come
// in an order that depends on where they come from; here they get one that does not.
type exportWriter struct {
	to    export.Writer
	query *exportQuery
	alike map[string]bool // ids of runs that have the name and archive of another that is named

	name    string // of the run that is read
	many    bool   // runs
	choice  choice
	begun   bool            // the run has requests
	elapsed int64           // the nominal start of the windows that are open
	open    []export.Window // of one nominal time
	runs    int             // exported
	empty   []error         // runs of which there was nothing
}

func (e *exportWriter) begin(run string, many bool) {
	e.name, e.many, e.choice, e.begun, e.open = run, many, choice{query: &e.query.windowQuery}, false, e.open[:0]
}

// wants implements [windowOutput].
func (e *exportWriter) wants(run *mapping.Run) (history.Selection, bool, error) {
	if e.query.whole() {
		return history.Selection{}, false, nil
	}
	if err := needsLevel(run, e.query.of); err != nil {
		return history.Selection{}, false, err
	}
	sel, err := e.query.selection(run)
	return sel, true, err
}

func (e *exportWriter) interval(d *mapping.Interval) error {
	if e.query.whole() || d.Latency.Layout == "" || d.Level != e.query.of { // no layout: of averages
		return nil
	}
	of := *d
	of.Level = e.query.level() // which may be above the one that is wanted
	if takes, err := e.choice.takes(&of); err != nil || !takes {
		return err
	}
	requests, err := d.Latency.Hist()
	if err != nil || requests.IsEmpty() {
		return err
	}
	if err := e.start(&export.Run{ID: d.Run.ID, Name: d.Run.Name, Archive: d.Run.Archive, Start: d.Run.Start}); err != nil {
		return err
	}
	if d.Window.ElapsedMS != e.elapsed {
		if err := e.pour(); err != nil {
			return err
		}
		e.elapsed = d.Window.ElapsedMS
	}
	w := export.Window{
		Series: export.Series{Level: d.Level.String(), Host: d.Host.Name, Job: d.Fio.Job, Direction: d.Fio.Direction},
		Start:  d.Time, End: d.Window.End, Requests: requests,
	}
	if n := len(e.open) - 1; d.Part > 0 && n >= 0 && e.open[n].Series == w.Series { // a further piece of one document
		e.open[n].Requests.Merge(requests)
		return nil
	}
	e.open = append(e.open, w)
	return nil
}

// start begins a run at its first requests.
func (e *exportWriter) start(run *export.Run) error {
	if e.begun {
		return nil
	}
	e.begun = true
	run.IsAlike = e.alike[run.ID]
	err := e.to.Begin(run)
	if e.many && e.query.as == "hdrlog" || errors.Is(err, export.ErrOneRun) {
		return usagef("%w, and these are several: name one run or folder", export.ErrOneRun)
	}
	if err == nil {
		e.runs++
	}
	return err
}

// pour hands on the windows that are open.
func (e *exportWriter) pour() error {
	slices.SortFunc(e.open, func(x, y export.Window) int {
		return cmp.Or(x.Start.Compare(y.Start), cmp.Compare(x.Host, y.Host), cmp.Compare(x.Job, y.Job),
			cmp.Compare(slices.Index(mapping.Directions[:], x.Direction), slices.Index(mapping.Directions[:], y.Direction)))
	})
	for i := range e.open {
		if err := e.to.Add(&e.open[i]); err != nil {
			return err
		}
	}
	e.open = e.open[:0]
	return nil
}

// total ends a run.
func (e *exportWriter) total(run *mapping.Run) error {
	if e.query.whole() {
		if err := e.wholeRun(run); err != nil {
			return err
		}
	}
	if err := e.pour(); err != nil {
		return err
	}
	if !e.begun {
		e.empty = append(e.empty, e.choice.empty(run))
		return nil
	}
	return e.to.End()
}

// wholeRun takes what a run came to as one window.
func (e *exportWriter) wholeRun(run *mapping.Run) error {
	for _, d := range run.ByDirection() {
		if !isWanted(e.query.directions, d.Direction) || d.Latency.Layout == "" {
			continue
		}
		requests, err := d.Latency.Hist()
		if err != nil {
			return err
		}
		if requests.IsEmpty() {
			continue
		}
		if err := e.start(&export.Run{ID: run.Run.ID, Name: run.Run.Name, Archive: run.Run.Archive, Start: run.Run.Start}); err != nil {
			return err
		}
		e.open = append(e.open, export.Window{
			Series: export.Series{Level: mapping.Cluster.String(), Direction: d.Direction},
			Start:  run.Run.Start, End: run.Run.End, Requests: requests,
		})
	}
	return nil
}

// flush implements [windowOutput]: what is exported ends after the last run.
func (e *exportWriter) flush() error { return nil }
