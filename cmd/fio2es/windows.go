package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/source"
)

// windowOutput is where windows go as they come, run by run.
type windowOutput interface {
	begin(run string, many bool)
	// wants tells which documents of a run in the history are of use, of the levels that
	// are set; false is none, where the run's own document says all.
	wants(run *mapping.Run) (history.Selection, bool, error)
	interval(d *mapping.Interval) error
	total(run *mapping.Run) error // ends a run
	flush() error
}

// windows gives the windows of what args name to out.
func (a *app) windows(ctx context.Context, args []string, out windowOutput) error {
	leftOut := false
	paths := args
	if len(args) == 1 && !isPath(args[0]) {
		if err := a.windowsOfRun(ctx, args[0], out); err != nil {
			return err
		}
		paths = nil
	}
	if len(paths) > 0 {
		var err error
		if leftOut, err = a.windowsOfPaths(ctx, paths, out); err != nil {
			return err
		}
	}
	if err := out.flush(); err != nil {
		return err
	}
	if leftOut {
		return errLeftOut
	}
	return nil
}

// isPath tells a path from the name of a run: it exists, or can be nothing else.
func isPath(arg string) bool {
	if _, err := os.Lstat(arg); err == nil || arg == "-" {
		return true
	}
	return strings.ContainsAny(arg, `/\*?[.`)
}

func (a *app) windowsOfPaths(ctx context.Context, paths []string, out windowOutput) (leftOut bool, err error) {
	opt, err := a.cfg.Options()
	if err != nil {
		return false, usageError{err}
	}
	archive, err := pipeline.Open(ctx, paths, a.stdin, func(p source.Progress) {
		a.progress.Show("looking: %d files", p.Files)
	})
	if err != nil {
		return false, err
	}
	defer archive.Close()
	leftOut = a.tellProblems(archive)
	runs := pipeline.Together(archive.Runs)
	opt.Alone = pipeline.IsLoose(runs)
	if _, ok := out.(*compatWriter); ok { // fio's tools read logs alone
		runs = pipeline.NamedOnly(runs)
	}
	if len(runs) == 0 {
		return false, fmt.Errorf("no histogram logs of fio (*_clat_hist.*.log) under %s", strings.Join(paths, ", "))
	}
	for _, run := range runs {
		out.begin(run.Name(), len(runs) > 1)
		res, err := pipeline.Read(ctx, run, opt, out.interval)
		if err != nil {
			return false, err
		}
		a.progress.Clear()
		a.tellResult(res)
		leftOut = leftOut || len(res.Lost) > 0
		if res.Run != nil {
			if err := out.total(res.Run); err != nil {
				return false, err
			}
		}
	}
	return leftOut, nil
}

// allFiles tells whether all paths are single files, which the user wants merged if they
// are logs.
func allFiles(paths []string) bool {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil && !strings.ContainsAny(p, "*?[") || err == nil && (!info.Mode().IsRegular() || source.IsArchive(p)) {
			return false
		}
	}
	return true
}

func (a *app) windowsOfRun(ctx context.Context, id string, out windowOutput) error {
	store, closeStore, err := a.openHistory(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	run, err := findRun(ctx, store, id)
	if err != nil {
		return err
	}
	return windowsOfStored(ctx, store, run, a.cfg.Levels, out)
}

// windowsOfStored gives the windows of a run in the history to out, of those of the levels
// that are of use.
func windowsOfStored(ctx context.Context, store history.Store, run *mapping.Run, levels []string, out windowOutput) error {
	out.begin(run.Run.Name, false)
	wanted, some, err := out.wants(run)
	if err != nil {
		return err
	}
	if !some {
		levels = nil
	}
	wanted.Runs = []string{run.Run.ID}
	for _, name := range levels {
		level, err := mapping.ParseLevel(name)
		if err != nil {
			return usageError{err}
		}
		wanted.Level = level
		for d, err := range store.Intervals(ctx, wanted) {
			if err != nil {
				return err
			}
			if err := out.interval(d); err != nil {
				return err
			}
		}
	}
	return out.total(run)
}

// findRun is the run of an id, the beginning of one, or the newest.
func findRun(ctx context.Context, store history.Store, id string) (*mapping.Run, error) {
	if id != "latest" {
		run, err := store.Run(ctx, id)
		if errors.Is(err, history.ErrNotFound) {
			return nil, fmt.Errorf("%s: neither a path nor a run: %w", id, err)
		}
		return run, err
	}
	for run, err := range store.Runs(ctx, history.RunFilter{Limit: 1}) {
		return run, err
	}
	return nil, errors.New("no runs in the history yet: store some with fio2es ingest PATH")
}
