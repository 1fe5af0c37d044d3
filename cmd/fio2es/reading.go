package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/source"
)

// reading is one command that reads runs, from paths or from the history.
type reading struct {
	*env
	logsAlone bool // leave out reports that are found beside logs given by name
	namesRuns bool // the answer has the id of each run, so stderr need not have them

	store      history.Store // nil before a run is looked up
	closeStore func() error
	leftOut    bool // something is missing, and stderr names it
}

func newReading(e *env) *reading { return &reading{env: e} }

// runs gives the runs that args name to do, one after another. many reports whether there are several.
func (r *reading) runs(ctx context.Context, args []string, do func(run *query.Run, many bool) error) error {
	inputs, err := r.choose(ctx, args, query.IsPath)
	if err != nil {
		return err
	}
	return r.each(ctx, inputs, do)
}

// each gives the runs of inputs to do, one after another. many reports whether there are several.
func (r *reading) each(ctx context.Context, inputs []input, do func(run *query.Run, many bool) error) error {
	for _, c := range inputs {
		each := r.eachStored
		if len(c.paths) > 0 {
			each = r.eachOfFiles
		}
		if err := each(ctx, c, len(inputs) > 1, do); err != nil {
			return err
		}
	}
	return nil
}

// eachOfFiles gives the runs under paths, which are read together.
func (r *reading) eachOfFiles(ctx context.Context, c input, many bool, do func(run *query.Run, many bool) error) error {
	files, err := query.Open(ctx, c.paths, query.FileOptions{
		Options: r.options(), Stdin: r.stdin, LogsAlone: r.logsAlone,
		Progress: func(p source.Progress) { r.progress.Show("looking: %d files", p.Files) },
	})
	if files != nil {
		defer files.Close()
		r.leftOut = r.logProblems(files.Archive, always{r.env}) || r.leftOut
	}
	if err != nil {
		return err
	}
	for _, run := range files.Runs {
		if err := do(run, many || len(files.Runs) > 1); err != nil {
			return err
		}
	}
	return nil
}

// eachStored gives runs in the history. Their names have the ids if there are several, because runs of one benchmark
// have the same name.
func (r *reading) eachStored(ctx context.Context, c input, many bool, do func(run *query.Run, many bool) error) error {
	many = many || len(c.runs) > 1
	for _, light := range c.runs {
		doc, err := r.store.Run(ctx, light.Run.ID)
		if err != nil {
			return err
		}
		run, err := r.prepare(query.Stored(r.store, doc))
		if err != nil {
			return err
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

// open opens the history when it is needed first.
func (r *reading) open(ctx context.Context) (err error) {
	if r.store == nil {
		r.store, r.closeStore, err = r.history().open(ctx)
	}
	return err
}

// prepare applies the flags of reading to a run in the history.
func (r *reading) prepare(run *query.Run) (_ *query.Run, err error) {
	if err := r.refuseStored(run.Stored); err != nil {
		return nil, err
	}
	if f := r.flags.Lookup("interval"); f != nil && f.Changed && r.cfg.Interval != 0 {
		run.JoinMS, err = query.JoinMS(run.Stored, time.Duration(r.cfg.Interval), f.Value.String())
	}
	return run, err
}

// read reads a run, as [query.Run.Read], and writes its messages to stderr.
func (r *reading) read(
	ctx context.Context, run *query.Run, q *query.Query, take func(*window.Window) error,
) (*mapping.Run, error) {
	doc, err := run.Read(ctx, q, take)
	r.logRun(run)
	return doc, err
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

// end ends the reading, whose error this is, and closes the history.
func (r *reading) end(err error) error {
	if r.closeStore != nil {
		r.closeStore()
	}
	return leftOutIf(err, r.leftOut)
}

// refuseStored is an error where the user gave a flag of how logs become windows: those of a run in
// the history were made when it was ingested. Beside paths, for which the flag counts, it is only a
// note. Settings of a file or of the environment are for logs, and pass.
func (r *reading) refuseStored(run *mapping.Run) (err error) {
	ofLogs := pflag.NewFlagSet("", pflag.ContinueOnError)
	addReadingFlags(ofLogs)
	r.flags.Visit(func(f *pflag.Flag) {
		switch {
		case ofLogs.Lookup(f.Name) == nil || f.Name == "interval" || f.Name == "jobs": // which stored windows can follow
		case f.Name == "weighting" && f.Value.String() == run.Weighting:
		case slices.ContainsFunc(r.flags.Args(), hasPath):
			r.log.Info(fmt.Sprintf("note: --%s has no effect on %s, which is in the history: its windows were made when it was ingested",
				f.Name, run.Run.Name))
		case err == nil:
			err = usagef("--%s: run %s is in the history, and its windows were made when it was ingested: "+
				"leave the option out, or ingest its files again with --%s %s", f.Name, run.Run.Name, f.Name, strings.Trim(f.Value.String(), "[]"))
		}
	})
	return err
}

// hasPath reports whether an argument is a path, or a list joined by commas that has one.
func hasPath(arg string) bool {
	return query.IsPath(arg) || slices.ContainsFunc(strings.Split(arg, ","), query.IsPath)
}
