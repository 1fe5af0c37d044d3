package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/source"
)

// runs calls do with each run that args name. many reports whether there are several runs.
func (r *reading) runs(ctx context.Context, args []string, do func(run *query.Run, many bool) error) error {
	inputs, err := r.choose(ctx, args, query.IsPath)
	if err != nil {
		return err
	}
	return r.each(ctx, inputs, do)
}

// each calls do with each run of the inputs, as in runs.
func (r *reading) each(ctx context.Context, inputs []input, do func(run *query.Run, many bool) error) error {
	for _, c := range inputs {
		var err error
		if many := len(inputs) > 1; len(c.paths) > 0 {
			err = r.eachOfFiles(ctx, c, many, do)
		} else {
			err = r.eachStored(ctx, c, many, do)
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
	ctx context.Context, c input, many bool, do func(run *query.Run, many bool) error,
) error {
	many = many || len(c.runs) > 1
	for _, light := range c.runs {
		var run *query.Run
		doc, err := r.store.Run(ctx, light.Run.ID)
		if err == nil {
			run, err = r.prepare(query.Stored(r.store, doc))
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
	err := r.each(ctx, inputs, one)
	if a.close != nil {
		err = errors.Join(err, a.close(err))
	}
	return r.end(r.withSkipped(err, found))
}

// prepare applies --interval to a run in the history.
func (r *reading) prepare(run *query.Run) (_ *query.Run, err error) {
	r.noteSettings()
	if f := r.flags.Lookup("interval"); f != nil && f.Changed && r.cfg.Interval != 0 {
		run.JoinMS, err = query.JoinMS(run.Stored, time.Duration(r.cfg.Interval), f.Value.String())
	}
	return run, err
}

// noteSettings says once which settings of the environment have no effect on runs of the history, because their
// windows were made when they were ingested. Those in files are for all runs, so they need no word.
func (r *reading) noteSettings() {
	if r.hasNoted {
		return
	}
	r.hasNoted = true
	for _, name := range []string{"source", "precision", "weighting", "inflight", "tolerance", "align", "start", "offset", "groups", "unit"} {
		if from := r.cfg.Origins[name]; from == config.Variable(name) {
			r.log.Info(fmt.Sprintf("note: %s has no effect on runs in the history: their windows were made when they were ingested; to change them, ingest the files again", from))
		}
	}
}

// logProblems reports files that cannot be read and files that belong to no run. leftOut reports whether there are
// files that cannot be read.
func (e *env) logProblems(archive *pipeline.Archive) (leftOut bool) {
	for _, p := range archive.Problems {
		e.log.Warn(p.Error())
	}
	e.logLeft(archive)
	return len(archive.Problems) > 0
}

// logLeft reports files that belong to no run.
func (e *env) logLeft(archive *pipeline.Archive) {
	for _, l := range archive.Left {
		if l.Notable {
			e.log.Info("note: " + l.File.Name() + ": " + l.Reason + andMore(l.More))
			continue
		}
		e.log.Debug("belongs to no run: "+l.Reason+andMore(l.More), "file", l.File.Name())
	}
	for _, s := range archive.Skipped {
		e.log.Info("note: skipped " + s.Path + ": " + s.Reason)
	}
	if len(archive.Empty) > 0 {
		e.log.Info("note: no fio logs or reports under " + unit.List(archive.Empty, 3, ", "))
	}
}

// andMore returns the end of a message that also stands for n similar ones.
func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return " (and " + unit.Count(int64(n)) + " more like this)"
}
