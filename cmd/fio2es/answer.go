package main

import (
	"context"
	"errors"

	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// answer is what a command does with the runs that it reads, one after another.
type answer struct {
	// called before a run is read; many reports whether there are several runs
	begin  func(run *query.Run, many bool) error
	window func(*window.Window) error                   // called with each window; nil: no windows are needed
	end    func(run *query.Run, doc *mapping.Run) error // called after all windows of a run
	close  func(err error) error                        // called at the end, with the error that ended the answers; may be nil
}

// answerFor uses a for each run that args name. Neighbouring paths are read together.
func (r *reading) answerFor(ctx context.Context, args []string, q *query.Query, a answer) error {
	inputs, err := r.choose(ctx, args, query.IsPath)
	if err != nil {
		return r.end(err)
	}
	return r.answer(ctx, inputs, q, a)
}

// answer uses a for each of the inputs, and ends the reading. If a run has nothing of what is wanted or cannot be read so,
// the others are answered nevertheless.
func (r *reading) answer(ctx context.Context, inputs []input, q *query.Query, a answer) error {
	r.skips = true
	found := false
	one := func(run *query.Run, many bool) error {
		if err := a.begin(run, many); err != nil {
			return err
		}
		doc, err := run.Read(ctx, q, a.window)
		r.logRun(run)
		if err == nil && doc != nil {
			err = a.end(run, doc)
			found = found || err == nil
		}
		return r.skip(err)
	}
	wanted := q
	if a.window == nil {
		wanted = nil
	}
	err := r.each(ctx, inputs, wanted, one)
	if a.close != nil {
		err = errors.Join(err, a.close(err))
	}
	return r.end(r.withSkipped(err, found))
}
