package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

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

// totalsOutput is a windowOutput that gives totals where there are no windows.
type totalsOutput interface {
	windowOutput
	// lacksWindows reports whether the run that has ended had no windows, and should have.
	lacksWindows() bool
}

// tellLack says why a run has totals alone, unless messages said so.
func (a *app) tellLack(out windowOutput, run *mapping.Run, messages []error) {
	o, ok := out.(totalsOutput)
	if !ok || !o.lacksWindows() {
		return
	}
	why := cmp.Or(noWindows(run), nothingInTime)
	isTold := func(err error) bool { return strings.Contains(err.Error(), why) }
	if !slices.ContainsFunc(messages, isTold) {
		a.log.Info(fmt.Sprintf("note: %s: no windows, only totals: %s", run.Run.Name, why))
	}
}

// windows gives the windows of what args name to out.
func (a *app) windows(ctx context.Context, args []string, out windowOutput) error {
	leftOut := false
	if err := allPaths(args); err != nil {
		return err
	}
	paths := args
	if len(args) == 1 && !isPath(args[0]) {
		var err error
		if leftOut, err = a.windowsOfRun(ctx, args[0], out); err != nil {
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

// allPaths is an error where one of several arguments is no path: a run in the history comes
// alone.
func allPaths(args []string) error {
	for _, arg := range args {
		if len(args) > 1 && !isPath(arg) {
			return usagef("%s: no such file or folder; a run in the history is given alone, one at a time", arg)
		}
	}
	return nil
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
	archive.Until(ctx)
	defer archive.Close()
	if err := archive.CheckHosts(opt.Offsets); err != nil && len(archive.Runs) > 0 {
		return false, usageError{err}
	}
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
		res.Log(a.log)
		leftOut = leftOut || len(res.Lost) > 0
		if res.Run != nil {
			if err := out.total(res.Run); err != nil {
				return false, err
			}
			a.tellLack(out, res.Run, slices.Concat(res.Lost, res.Notes))
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

func (a *app) windowsOfRun(ctx context.Context, id string, out windowOutput) (leftOut bool, err error) {
	store, closeStore, err := a.openHistory(ctx)
	if err != nil && id != "latest" {
		return false, fmt.Errorf("%s is no path, so it is looked up in the history: %w", id, err)
	}
	if err != nil {
		return false, err
	}
	defer closeStore()
	run, err := findRun(ctx, store, id)
	if err != nil {
		return false, err
	}
	of := storedWindows{app: a, store: store, levels: a.cfg.Levels}
	if err := a.refuseStored(run); err != nil {
		return false, err
	}
	if a.flags.Changed("levels") {
		for _, name := range a.cfg.Levels {
			if level, err := mapping.ParseLevel(name); err == nil && noWindows(run) == "" {
				if err := needsLevel(run, level); err != nil {
					return false, err
				}
			}
		}
	}
	if of.intervalMS, err = storedInterval(a.flags, a.cfg.Interval, run); err != nil {
		return false, err
	}
	if err := of.give(ctx, run, out); err != nil {
		return false, err
	}
	a.tellLack(out, run, nil)
	return of.lack != "", nil
}

// storedWindows reads the windows of runs in the history.
type storedWindows struct {
	*app
	store      history.Store
	levels     []string
	intervalMS int64  // to join them to; 0: as they are
	lack       string // which documents of the last run were missing; empty if none were
}

// give gives the windows of a run to out, of those of the levels that are of use.
func (s *storedWindows) give(ctx context.Context, run *mapping.Run, out windowOutput) error {
	out.begin(run.Run.Name, false)
	stored, levels := run, s.levels
	if s.intervalMS > 0 {
		joined := *run
		joined.IntervalMS = s.intervalMS
		run = &joined
	}
	wanted, some, err := out.wants(run)
	if err != nil {
		return err
	}
	if !some {
		levels = nil
	}
	parsed, err := parseLevels(levels)
	if err != nil {
		return err
	}
	if run, err = s.checkWhole(ctx, run, parsed); err != nil {
		return err
	}
	wanted.Runs = []string{run.Run.ID}
	for _, level := range parsed {
		wanted.Level = level
		n, err := giveAll(s.intervals(ctx, stored, wanted), out)
		if err != nil {
			return err
		}
		if n == 0 && len(wanted.Jobs) > 0 { // a message names the jobs that there are
			all := history.Selection{Runs: wanted.Runs, Level: level, Light: true}
			if _, err := giveAll(s.store.Intervals(ctx, all), out); err != nil {
				return err
			}
		}
	}
	return out.total(run)
}

// giveAll gives windows to out, and counts them.
func giveAll(docs iter.Seq2[*mapping.Interval, error], out windowOutput) (n int, err error) {
	for d, err := range docs {
		if err != nil {
			return n, err
		}
		if err := out.interval(d); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// intervals are the documents of a run that are wanted, joined where longer ones are.
func (s *storedWindows) intervals(ctx context.Context, run *mapping.Run, wanted history.Selection) iter.Seq2[*mapping.Interval, error] {
	if s.intervalMS == 0 {
		return s.store.Intervals(ctx, wanted)
	}
	wanted.Light = false
	length := time.Duration(s.intervalMS) * time.Millisecond // joined windows must be whole
	if !wanted.From.IsZero() {
		wanted.From = wanted.From.Add(-length)
	}
	if !wanted.To.IsZero() {
		wanted.To = wanted.To.Add(length)
	}
	return longer(s.store.Intervals(ctx, wanted), run, s.intervalMS)
}

// findRun is the run of an id, the beginning of one, or the newest.
func findRun(ctx context.Context, store history.Store, id string) (*mapping.Run, error) {
	if id != "latest" {
		run, err := store.Run(ctx, id)
		if errors.Is(err, history.ErrNotFound) {
			return nil, fmt.Errorf("%s: neither a path nor a run: %w; %s", id, err, historyText(ctx, store))
		}
		return run, err
	}
	for run, err := range store.Runs(ctx, history.RunFilter{Limit: 1}) {
		return run, err
	}
	return nil, errors.New("no runs in the history yet: store some with fio2es ingest PATH")
}
