package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/internal/window"
)

// once runs fio and stores its run.
func (r *running) once(s *signals) (stored finished, err error) {
	host, _ := os.Hostname() // without a name the host is unknown, as in a folder of logs
	entry, err := r.history().folders().Begin(record.Entry{
		Name: r.how.Name, Host: host, History: r.history().name(), Command: r.fio.Words(), Started: time.Now(),
		Wrapped: len(r.fio.Before) > 0, Labels: r.options().Labels, Note: strings.TrimSpace(r.note),
	})
	if err != nil {
		return stored, err
	}
	ending, err := r.fioOf(s, entry)
	var unwritten outputError
	if err != nil && !errors.As(err, &unwritten) {
		return stored, errors.Join(err, entry.Discard())
	}
	var failed error
	switch {
	case ending.Signal != 0:
		failed = fioError{ending.Code, fmt.Sprintf("fio was ended by a signal (%v): what came after its last report is missing", ending.Signal)}
	case ending.Code != 0:
		failed = fioError{ending.Code, fmt.Sprintf("fio ended with exit code %d", ending.Code)}
	}
	if failed != nil {
		entry.Note = strings.TrimSpace(entry.Note + "\n" + failed.Error())
	}
	if err := entry.CollectLogs(r.fio); err != nil {
		r.log.Warn("a histogram log is not stored, fio's reports are: " + err.Error())
		stored.leftOut = true
	}
	if errors.Is(err, syscall.EPIPE) { // the reader has closed the pipe
		err = nil
	}
	one, failedToStore := r.env.finish(s.ctx, r.to, r.rules, entry, ending.Signal != 0)
	stored.add(one)
	if failedToStore == nil && len(one.runs) == 0 {
		r.log.Info("note: fio wrote no report, so there is nothing to store")
		failedToStore = r.leave(entry, err == nil)
	}
	return stored, errors.Join(failed, err, failedToStore)
}

// outputError means that fio ran, but its output did not reach the user. The run can be stored.
type outputError struct{ error }

func (e outputError) Unwrap() error { return e.error }

// fioOf runs fio and follows its run. Then it copies fio's output to where the user wants it.
func (r *running) fioOf(s *signals, entry *record.Entry) (ending record.Ending, err error) {
	how := r.how
	how.Folder, how.Quiet = entry.Folder, r.canShow() && !r.quiet
	plan, err := record.Of(r.fio, how)
	if err != nil {
		return ending, err
	}
	for _, note := range plan.Notes {
		r.log.Info("note: " + note)
	}
	var to io.Writer = r.stdout
	closeOutput := func() error { return nil }
	if plan.Output.File != "" {
		out, err := os.Create(plan.Output.File)
		if err != nil {
			return ending, err
		}
		defer out.Close() // in case fio does not start
		to, closeOutput = out, out.Close
	}
	if how.Quiet {
		ending, err = r.shown(s, entry, plan)
	} else {
		ending, err = r.started(s, entry, plan, r.errors, r.log, r.lines())
	}
	if err != nil {
		return ending, err
	}
	if err = errors.Join(copyOutput(to, plan.Output, entry, ending.Signal == 0), closeOutput()); err != nil {
		return ending, outputError{fmt.Errorf("fio's output: %w; what fio wrote is in %s", err, shortHome(entry.Report()))}
	}
	return ending, nil
}

// started starts fio, follows its run, and waits for its end. fio writes to files and not to pipes of fio2es, so it
// continues if fio2es is killed.
func (r *running) started(
	s *signals, entry *record.Entry, plan *record.Plan, stderr io.Writer, log *slog.Logger, each func(*window.Window) error,
) (ending record.Ending, err error) {
	stdin, _ := r.stdin.(*os.File)
	fio, err := plan.Start(entry, record.Streams{
		Stdin: stdin, Stdout: r.written.w, Stderr: stderr, Shared: len(r.fio.Before) > 0 && terminalOf(r.stdin) != nil,
	})
	if err != nil {
		return ending, err
	}
	s.passTo(fio)
	stopFollowing := r.follow(s.ctx, entry, log, each)
	ending, err = fio.Wait()
	s.passTo(nil)
	stopFollowing()
	return ending, err
}

// copyOutput copies fio's output in the formats that the user chose.
func copyOutput(to io.Writer, how record.Output, entry *record.Entry, hasEnded bool) error {
	all, err := os.Open(entry.Report())
	if errors.Is(err, os.ErrNotExist) { // fio refused its options, and wrote nothing
		return nil
	}
	if err != nil {
		return err
	}
	defer all.Close()
	return how.Copy(to, all, hasEnded)
}
