package query

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Stored returns the run with this run document in the history.
func Stored(store history.Store, run *mapping.Run) *Run {
	return &Run{Name: run.Run.Name, Stored: run, from: storeReader{store}}
}

// storeReader reads a run from the history.
type storeReader struct{ history.Store }

func (s storeReader) read(ctx context.Context, r *Run, q *Query, take func(*window.Window) error) (*mapping.Run, error) {
	stored, doc := r.Stored, r.Stored
	if r.JoinMS > 0 {
		joined := *stored
		joined.IntervalMS = r.JoinMS
		doc = &joined
	}
	if take == nil || NoWindows(stored) != "" && stored.Documents == (mapping.Documents{}) {
		return doc, nil
	}
	for _, level := range q.levels() {
		if !r.Has(level) {
			return nil, LevelError{r.Name, level}
		}
	}
	wanted, err := q.selection(doc)
	if err != nil {
		return nil, err
	}
	if note := compacted(stored); note != "" {
		r.Notes = append(r.Notes, note)
	}
	lack, err := s.lack(ctx, stored, q.levels())
	if err != nil {
		return nil, err
	}
	if lack != "" {
		r.Warnings = append(r.Warnings, lack)
		warned := *doc
		warned.Warnings = append(slices.Clone(doc.Warnings), lack)
		doc = &warned
	}
	var windows []iter.Seq2[*window.Window, error]
	for _, level := range q.levels() {
		wanted.Level = level
		windows = append(windows, s.windows(ctx, stored, wanted, r.JoinMS))
	}
	rough := 0
	n, err := each(window.Ordered(windows...), func(w *window.Window) error {
		if w.IsRough {
			rough++
		}
		return take(w)
	})
	if rough > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("run %s (%s): %s joined of stored ones have percentiles that a single request decides: "+
			"stored counts are whole, so those of the files may differ", facts.ShortID(stored.Run.ID), facts.Title(stored), unit.Plural(rough, "window")))
	}
	if err == nil && n == 0 && len(wanted.Jobs) > 0 { // without names, because the message lists the jobs of the run
		all := history.Selection{Runs: wanted.Runs, Level: mapping.Job, Light: true}
		_, err = each(window.Rejoin(s.Intervals(ctx, all)), take)
	}
	if err != nil {
		return nil, err
	}
	return doc, nil
}

// compacted says that the windows of a run were made longer by compact. It is empty if they were not.
func compacted(run *mapping.Run) string {
	c := run.Run.Compacted
	if c.From == "" {
		return ""
	}
	return fmt.Sprintf("run %s (%s): windows of %s, compacted on %s from windows of %s", facts.ShortID(run.Run.ID), facts.Title(run),
		lengthText(run.IntervalMS), c.At.Format(time.DateOnly), lengthText(c.IntervalMS))
}

// LevelError means that a run in the history has no windows of a level.
type LevelError struct {
	Run   string // short id of the run
	Level mapping.Level
}

// Error says which levels the run has.
func (e LevelError) Error() string {
	add := "cluster,host"
	if e.Level == mapping.Job {
		add += ",job"
	}
	return fmt.Sprintf("run %s has no documents of level %s: ingest it with --levels %s", e.Run, e.Level, add)
}

// each calls take with windows, and returns their number.
func each(windows iter.Seq2[*window.Window, error], take func(*window.Window) error) (n int, err error) {
	for w, err := range windows {
		if err != nil {
			return n, err
		}
		if err := take(w); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// windows returns the wanted windows of a run, joined to joinMS milliseconds unless it is 0.
func (s storeReader) windows(
	ctx context.Context, run *mapping.Run, wanted history.Selection, joinMS int64,
) iter.Seq2[*window.Window, error] {
	if joinMS == 0 {
		return window.Rejoin(s.Intervals(ctx, wanted))
	}
	wanted.Light = false
	// read more at both ends, so that no joined window lacks a stored one
	length := time.Duration(joinMS) * time.Millisecond
	if !wanted.From.IsZero() {
		wanted.From = wanted.From.Add(-length)
	}
	if !wanted.To.IsZero() {
		wanted.To = wanted.To.Add(length)
	}
	return join(window.Rejoin(s.Intervals(ctx, wanted)), run, joinMS)
}

// lack says which documents of a run are missing. It is empty if none is. It counts them before they are read.
func (s storeReader) lack(ctx context.Context, run *mapping.Run, levels []mapping.Level) (string, error) {
	counts, err := s.Count(ctx, []string{run.Run.ID}, levels...)
	if err != nil {
		return "", err
	}
	lack := counts.LackText(run, levels...)
	if lack == "" {
		return "", nil
	}
	// The run may have been replaced, even by the same version again, after it was listed or while its documents were
	// counted. Then the number is not that of the documents that are read. So only a second count of a run that stayed as
	// it was finds that documents are missing.
	if counts, err = s.Count(ctx, []string{run.Run.ID}, levels...); err != nil {
		return "", err
	}
	now, err := s.Run(ctx, run.Run.ID)
	isSame := err == nil && now.Run.Ingest == run.Run.Ingest && now.Ingested.Equal(run.Ingested)
	switch {
	case err != nil && !errors.Is(err, history.ErrNotFound):
		return "", err
	case !isSame, counts.LackText(run, levels...) == "":
		return "", nil
	}
	return fmt.Sprintf("run %s (%s): the history lacks %s: the answer leaves them out; "+
		"ingest the run's files again with --verify to restore them", facts.ShortID(run.Run.ID), facts.Title(run), lack), nil
}

// JoinMS returns the length in milliseconds to which the stored windows of a run are joined, or 0 if they already
// have this length. If they cannot be joined evenly, the error is a [UsageError]. text is the length as the user
// wrote it.
func JoinMS(run *mapping.Run, length time.Duration, text string) (int64, error) {
	again := "ingest its files again with --interval " + text
	ms := length.Milliseconds()
	switch {
	case length < 0:
		return 0, usagef("--interval %s: run %s is in the history, whose windows can be joined evenly only: "+
			"use a length such as %s, or %s", text, run.Run.Name, multiples(run.IntervalMS), again)
	case run.IntervalMS <= 0:
		return 0, usagef("--interval %s: run %s has no windows of an even length: leave the option out, or %s",
			text, run.Run.Name, again)
	case length%time.Millisecond != 0 || ms < run.IntervalMS || ms%run.IntervalMS != 0:
		return 0, usagef("--interval %s: run %s is stored in windows of %s, which can only be joined: "+
			"use a multiple, such as %s, or %s", text, run.Run.Name, lengthText(run.IntervalMS), multiples(run.IntervalMS), again)
	case ms == run.IntervalMS:
		return 0, nil
	}
	return ms, nil
}

// multiples lists lengths to which windows of ms milliseconds can be joined.
func multiples(ms int64) string {
	ms = max(ms, 1)
	return fmt.Sprintf("%s, %s or %s", lengthText(2*ms), lengthText(5*ms), lengthText(10*ms))
}

// lengthText returns a length as in flags, such as 1s or 1m30s.
func lengthText(ms int64) string { return unit.Short(time.Duration(ms) * time.Millisecond) }

// join joins windows to length milliseconds with [window.Join], for --interval.
func join(windows iter.Seq2[*window.Window, error], run *mapping.Run, length int64) iter.Seq2[*window.Window, error] {
	return func(yield func(*window.Window, error) bool) {
		for w, err := range window.Join(windows, run, length) {
			if errors.Is(err, window.ErrUneven) {
				err = usagef("--interval %s: the windows of run %s are not of one length (--interval auto at ingest?): "+
					"leave the option out, or ingest its files again with --interval %s", lengthText(length), run.Run.Name, lengthText(length))
			}
			if !yield(w, err) {
				return
			}
		}
	}
}
