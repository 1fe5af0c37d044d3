package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/source"
)

// reading is a command that reads runs, from paths or from the history.
type reading struct {
	*env
	logsAlone bool // leave out reports beside logs that are given by name
	namesRuns bool // the answer has the ids of runs, so they need not be on stderr

	store   history.Store // nil until it is needed
	leftOut bool          // something is missing, and stderr says what
	skips   bool          // an error of one run does not end the answers for the others
	skipped []error       // such errors
}

// runs calls do with each run that args name. do may read the run with q; a nil q means that it needs no windows.
// many reports whether there are several runs.
func (r *reading) runs(ctx context.Context, args []string, q *query.Query, do func(run *query.Run, many bool) error) error {
	inputs, err := r.choose(ctx, args, query.IsPath)
	if err != nil {
		return err
	}
	return r.each(ctx, inputs, q, do)
}

// each calls do with each run of the inputs, as in runs.
func (r *reading) each(ctx context.Context, inputs []input, q *query.Query, do func(run *query.Run, many bool) error) error {
	for _, c := range inputs {
		var err error
		if many := len(inputs) > 1; len(c.paths) > 0 {
			err = r.eachOfFiles(ctx, c, many, do)
		} else {
			err = r.eachStored(ctx, c, q, many, do)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachOfFiles calls do with each run under some paths, which are read together.
func (r *reading) eachOfFiles(ctx context.Context, c input, many bool, do func(run *query.Run, many bool) error) error {
	files, err := query.Open(ctx, c.paths, query.FileOptions{
		Options: r.options(), Stdin: r.stdin, LogsAlone: r.logsAlone,
		Progress: func(p source.Progress) { r.progress.Show("looking: %s", unit.Plural(p.Files, "file")) },
	})
	if files != nil {
		defer files.Close()
		r.leftOut = r.logProblems(files.Archive) || r.leftOut
	}
	switch {
	case err != nil && ctx.Err() == nil:
		return r.skip(query.RunError{Err: err})
	case err != nil:
		return err
	}
	for _, run := range files.Runs {
		if err := do(run, many || len(files.Runs) > 1); err != nil {
			return err
		}
	}
	return nil
}

// eachStored calls do with each run of a list from the history. If there are several, their names include the ids,
// because runs of one benchmark have the same name.
func (r *reading) eachStored(
	ctx context.Context, c input, q *query.Query, many bool, do func(run *query.Run, many bool) error,
) error {
	many = many || len(c.runs) > 1
	if r.flags.Changed("interval") {
		q = nil // each run may need other windows
	}
	var runs []*query.Run
	for _, light := range c.runs {
		runs = append(runs, query.Stored(r.store, light))
	}
	for _, list := range query.Together(runs, q) {
		query.Prefetch(ctx, list, q)
		for i, run := range list {
			list[i] = nil // keep documents of only one run in memory
			doc, err := r.store.Run(ctx, run.Stored.Run.ID)
			if err == nil {
				run.Name, run.Stored = doc.Run.Name, doc
				run, err = r.prepare(run)
			}
			if err != nil {
				if err = r.skip(err); err != nil {
					return err
				}
				continue
			}
			if many {
				run.Name = facts.ShortID(doc.Run.ID) + " " + facts.Title(doc)
			}
			if err := do(run, many); err != nil {
				return err
			}
		}
	}
	return nil
}

// skip keeps an error of one run for the end, if the others are to be answered. It returns any other error.
func (r *reading) skip(err error) error {
	if !r.skips || !query.IsOfRun(err) {
		return err
	}
	r.skipped = append(r.skipped, err)
	return nil
}

// withSkipped joins err, which ended the answers, and the errors of single runs. found reports whether there is an answer
// for another run.
func (r *reading) withSkipped(err error, found bool) error {
	if len(r.skipped) == 0 {
		return err
	}
	all := errors.Join(append(r.skipped, err)...)
	if found && err == nil {
		all = partialError{all}
	}
	return all
}

// open opens the history when it is first needed.
func (r *reading) open(ctx context.Context) error {
	if r.store != nil {
		return nil
	}
	store, err := r.history().open(ctx)
	if err == nil {
		r.store = store
	}
	return err
}

// logRun writes the messages of a run that has been read to stderr.
func (r *reading) logRun(run *query.Run) {
	r.progress.Clear()
	for _, text := range run.Warnings {
		r.log.Warn(text)
		r.leftOut = true
	}
	for _, text := range run.Notes {
		r.log.Info("note: " + text)
	}
	for _, text := range run.Details {
		r.log.Debug(text)
	}
}

// logOnlyTotals writes to stderr why a run that was read has only totals.
func (r *reading) logOnlyTotals(run *query.Run, doc *mapping.Run) {
	if why := run.OnlyTotals(doc); why != "" {
		r.log.Info(fmt.Sprintf("note: %s: only totals: %s", doc.Run.Name, why))
	}
}

// end closes the history and returns err, the error of the reading, or errLeftOut.
func (r *reading) end(err error) error {
	if r.store != nil {
		r.store.Close()
	}
	return leftOutIf(err, r.leftOut)
}
