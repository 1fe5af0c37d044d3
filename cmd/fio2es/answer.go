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
	end    func(run *query.Run, doc *mapping.Run) error // called after all windows of a run; see emptyError
	close  func() error                                 // called at the end; may be nil
}

// emptyError means that a run has nothing of what is wanted. Later runs are read nevertheless.
type emptyError struct{ error }

// answerFor uses a for each run that args name. Neighbouring paths are read together.
func (r *reading) answerFor(ctx context.Context, args []string, q *query.Query, a answer) error {
	inputs, err := r.choose(ctx, args, query.IsPath)
	if err != nil {
		return r.end(err)
	}
	return r.answer(ctx, inputs, q, a)
}

// answer uses a for each of the inputs, and ends the reading.
func (r *reading) answer(ctx context.Context, inputs []input, q *query.Query, a answer) error {
	var empty []error
	found := false
	one := func(run *query.Run, many bool) error {
		if err := a.begin(run, many); err != nil {
			return err
		}
		doc, err := run.Read(ctx, q, a.window)
		r.logRun(run)
		if err != nil || doc == nil {
			return err
		}
		err = a.end(run, doc)
		if errors.As(err, new(emptyError)) {
			empty = append(empty, err)
			return nil
		}
		found = true
		return err
	}
	wanted := q
	if a.window == nil {
		wanted = nil
	}
	if err := r.each(ctx, inputs, wanted, one); err != nil {
		return r.end(err)
	}
	err := errors.Join(empty...)
	if a.close != nil {
		if failed := a.close(); failed != nil {
			return r.end(errors.Join(err, failed))
		}
	}
	if err != nil && found {
		err = partialError{err}
	}
	return r.end(err)
}
