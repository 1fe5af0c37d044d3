package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"syscall"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/follow"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// finished describes what was stored of runs that are over.
type finished struct {
	runs    []*mapping.Run
	folders []string
	broken  bool // a rule

	conclusions []string // what the rules of each run come to
}

func (f *finished) add(other finished) {
	f.runs, f.folders = append(f.runs, other.runs...), append(f.folders, other.folders...)
	f.broken, f.conclusions = f.broken || other.broken, append(f.conclusions, other.conclusions...)
}

// finish stores the run of a fio that has ended, and removes its entry. isCut reports that fio was killed, so that
// the run is not complete. After an error the entry stays, and the next run, ingest or follow tries again. If there is nothing to
// store, the caller decides what happens to the entry: see [env.leave].
func (e *env) finish(ctx context.Context, to ingest.Target, rules []slo.Rule, entry *record.Entry, ending record.Ending) (f finished, err error) {
	isCut := ending.Signal != 0
	defer func() {
		switch {
		case entry.Shared != "" && errors.Is(err, history.ErrReplaced): // another attempt would fail, too
			err = errors.Join(fmt.Errorf("%w; its files are in %s: ingest those of all hosts together", err, shortHome(entry.Folder)), entry.Done())
		case err != nil:
			err = errors.Join(fmt.Errorf("%w; fio2es ingest %s stores the run", err, shortHome(entry.Folder)), entry.Postpone(err))
		case len(f.runs) > 0:
			f.folders = []string{entry.Folder}
			err = entry.Done()
		}
	}()
	if err := entry.HideSecrets(); err != nil {
		e.leaveOut("fio's options in " + shortHome(entry.Folder) + " still have their secrets: " + err.Error())
	}
	archive, err := pipeline.Open(ctx, []string{entry.Folder}, nil, nil)
	if err != nil {
		return f, err
	}
	defer archive.Close()
	archive.SetHost(entry.Host)
	e.logProblems(archive)
	for _, run := range archive.Runs {
		if isCut {
			run.Cut = "fio was killed before its last report: the run is not complete"
		}
	}
	opt := e.options()
	opt.Labels = maps.Clone(entry.Labels)
	if !isCut {
		if opt.Labels == nil {
			opt.Labels = map[string]string{}
		}
		maps.Copy(opt.Labels, entry.Sweep)
	}
	how := ingest.Options{Pipeline: opt, Log: e.log}
	var runs []*mapping.Run
	if with := sharedOf(to, how, entry); with != nil {
		runs, err = e.endShared(ctx, with, archive.Runs, ending.Code)
	} else {
		var result ingest.Result
		result, err = ingest.Runs(ctx, to, archive.Runs, how)
		runs, e.leftOut = result.Runs(), e.leftOut || result.LeftOut
	}
	if err != nil {
		return f, err
	}
	for _, run := range runs {
		if entry.Note != "" {
			if run, err = to.Store.Annotate(ctx, run.Run.ID, mapping.Annotation{Note: &entry.Note}); err != nil {
				return f, err
			}
		}
		f.runs = append(f.runs, run)
		broken, unknown, conclusion, err := follow.Check(ctx, to.Store, run.Run.ID, rules, e.log, slog.New(slog.DiscardHandler)) // the conclusion says it
		if err != nil {
			return f, err
		}
		if e.leftOut, f.broken = e.leftOut || unknown, f.broken || broken; conclusion != "" {
			f.conclusions = append(f.conclusions, conclusion)
		}
	}
	return f, nil
}

// finishInterrupted stores the runs of earlier commands that were killed before they could do so. It warns about
// runs that cannot be stored, and does not fail because of them.
func (e *env) finishInterrupted(ctx context.Context) error {
	leftOut := e.leftOut // by this command, and not by earlier ones
	err := e.interrupted(func(entry *record.Entry) error { return e.finishOne(ctx, entry) })
	if err != nil {
		for _, line := range errorLines(err) {
			e.log.Warn("an earlier run is not stored: " + line)
		}
	}
	e.leftOut = leftOut
	return ctx.Err()
}

func (e *env) finishOne(ctx context.Context, entry *record.Entry) error {
	to, err := e.target(ctx, nil)
	if err != nil {
		return errors.Join(err, entry.Release())
	}
	why := entry.Failed
	if why == "" {
		why = "fio2es was killed while fio ran"
		entry.Note = strings.TrimSpace(entry.Note + "\n" + why + ", and how fio ended is not known")
	}
	var ending record.Ending
	if entry.IsCut() {
		ending = record.Ending{Code: 128 + int(syscall.SIGKILL), Signal: syscall.SIGKILL}
	}
	f, err := e.finish(ctx, to, nil, entry, ending)
	if err = errors.Join(err, to.Store.Close()); err != nil {
		return err
	}
	if len(f.runs) == 0 {
		e.log.Info(fmt.Sprintf("note: nothing to store of an earlier run (%s): %s, and there is no report", strings.Join(entry.Command, " "), why))
		return e.leave(entry, false)
	}
	if entry.Shared != "" && len(f.runs) > 0 && f.runs[0].Run.IsShared() {
		e.log.Info(fmt.Sprintf("note: when the other hosts of run %s have ended, too, fio2es finish %[1]s stores the whole run", entry.Shared))
	}
	for _, run := range f.runs {
		e.log.Info(fmt.Sprintf("note: stored %s (%s), which was not stored before: %s; fio's output is %s", facts.Title(run),
			facts.ShortID(run.Run.ID), why, shortHome(entry.Report())))
	}
	return nil
}

// leave removes a run that has nothing to store. If the user does not have fio's output yet, the output stays.
func (e *env) leave(entry *record.Entry, hasOutput bool) error {
	if !hasOutput && entry.HasOutput() {
		e.log.Info("note: what fio wrote is in " + shortHome(entry.Report()))
		return entry.Done()
	}
	if err := entry.Discard(); !errors.Is(err, record.ErrRunning) {
		return err
	}
	e.log.Info(fmt.Sprintf("note: fio was killed, but its jobs continue: when they have ended, fio2es ingest %s stores what they logged",
		shortHome(entry.Folder)))
	return nil
}
