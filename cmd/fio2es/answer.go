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
	begin  func(run *query.Run, many bool) error        // before a run is read; there may be many of them
	window func(*window.Window) error                   // takes a window; nil: none are wanted
	end    func(run *query.Run, doc *mapping.Run) error // when all windows of a run are there; see emptyError
	close  func() error                                 // at the end; may be nil
}

// emptyError is a run that has nothing of what is wanted. The runs after it are read all the same.
type emptyError struct{ error }

// answerFor calls a for each run that args name. Neighbouring paths are read together.
func (r *reading) answerFor(ctx context.Context, args []string, q *query.Query, a answer) error {
	inputs, err := r.choose(ctx, args, query.IsPath)
	if err != nil {
		return r.end(err)
	}
	return r.answer(ctx, inputs, q, a)
}

// answer calls a for each of the inputs, and ends the reading.
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
