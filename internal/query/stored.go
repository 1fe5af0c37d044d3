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
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Stored is the run of a document in the history.
func Stored(store history.Store, run *mapping.Run) *Run {
	return &Run{Name: run.Run.Name, Stored: run, from: storeReader{store}}
}

// storeReader reads a run from the history.
type storeReader struct{ history.Store }

func (s storeReader) read(ctx context.Context, r *Run, q *Query, take func(*window.Window) error) (*mapping.Run, error) {
	stored, doc := r.Stored, r.document()
	if take == nil || r.hasNoWindows() {
		return doc, nil
	}
	wanted, err := r.wanted(q)
	if err != nil {
		return nil, err
	}
	counts, err := s.Count(ctx, wanted.Runs, q.levels()...)
	if err == nil {
		doc, err = s.checked(ctx, r, counts, q.levels())
	}
	if err != nil {
		return nil, err
	}
	for _, level := range q.levels() {
		wanted.Level = level
		n, err := each(s.windows(ctx, stored, wanted, r.JoinMS), take)
		if err != nil {
			return nil, err
		}
		if n == 0 && len(wanted.Jobs) > 0 { // a message names the jobs that there are
			all := history.Selection{Runs: wanted.Runs, Level: level, Light: true}
			if _, err := each(window.Rejoin(s.Intervals(ctx, all)), take); err != nil {
				return nil, err
			}
		}
	}
	return doc, nil
}

// document is the run's document, with the length of the windows that Read gives.
func (r *Run) document() *mapping.Run {
	if r.JoinMS == 0 {
		return r.Stored
	}
	joined := *r.Stored
	joined.IntervalMS = r.JoinMS
	return &joined
}

// hasNoWindows reports whether a stored run has none.
func (r *Run) hasNoWindows() bool {
	return NoWindows(r.Stored) != "" && r.Stored.Documents == (mapping.Documents{})
}

// wanted is what to read of a stored run, which needs all levels that q wants. It notes if the run is compacted.
func (r *Run) wanted(q *Query) (history.Selection, error) {
	for _, level := range q.levels() {
		if !r.Has(level) {
			return history.Selection{}, LevelError{r.Name, level}
		}
	}
	wanted, err := q.selection(r.document())
	if note := compacted(r.Stored); err == nil && note != "" {
		r.Notes = append(r.Notes, note)
	}
	return wanted, err
}

// checked is the run's document, with a warning if documents of some levels are missing.
func (s storeReader) checked(ctx context.Context, r *Run, counts history.Counts, levels []mapping.Level) (*mapping.Run, error) {
	doc := r.document()
	lack, err := s.lack(ctx, r.Stored, counts, levels)
	if err != nil || lack == "" {
		return doc, err
	}
	r.Warnings = append(r.Warnings, lack)
	warned := *doc
	warned.Warnings = append(slices.Clone(doc.Warnings), lack)
	return &warned, nil
}

// compacted says that the windows of a run are longer than those that were stored first; empty if they are not.
func compacted(run *mapping.Run) string {
	c := run.Run.Compacted
	if c.From == "" {
		return ""
	}
	return fmt.Sprintf("run %s (%s): windows of %s, compacted on %s from windows of %s", facts.ShortID(run.Run.ID), facts.Title(run),
		lengthText(run.IntervalMS), c.At.Format(time.DateOnly), lengthText(c.IntervalMS))
}

// LevelError is a run in the history that has no windows of a level.
type LevelError struct {
	Run   string // its name
	Level mapping.Level
}

// Error implements error.
func (e LevelError) Error() string {
	add := "cluster,host"
	if e.Level == mapping.Job {
		add += ",job"
	}
	return fmt.Sprintf("run %s has no documents of level %s: ingest it with --levels %s", e.Run, e.Level, add)
}

// each gives windows to take, and counts them.
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

// windows are those of a run that are wanted, joined to a length unless it is 0.
func (s storeReader) windows(
	ctx context.Context, run *mapping.Run, wanted history.Selection, joinMS int64,
) iter.Seq2[*window.Window, error] {
	if joinMS == 0 {
		return window.Rejoin(s.Intervals(ctx, wanted))
	}
	wanted.Light = false
	length := time.Duration(joinMS) * time.Millisecond // no joined window may lack a stored one
	if !wanted.From.IsZero() {
		wanted.From = wanted.From.Add(-length)
	}
	if !wanted.To.IsZero() {
		wanted.To = wanted.To.Add(length)
	}
	return join(window.Rejoin(s.Intervals(ctx, wanted)), run, joinMS)
}

// lack says which documents of a run are missing, which were counted before they are read; empty is none.
func (s storeReader) lack(ctx context.Context, run *mapping.Run, counts history.Counts, levels []mapping.Level) (string, error) {
	lack := counts.LackText(run, levels...)
	if lack == "" {
		return "", nil
	}
	// The documents may be gone because the run was replaced meanwhile.
	now, err := s.Run(ctx, run.Run.ID)
	if errors.Is(err, history.ErrNotFound) || err == nil && now.Run.Ingest != run.Run.Ingest {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("run %s (%s): the history lacks %s: what follows leaves them out; "+
		"ingest the run's files again with --verify to restore them", facts.ShortID(run.Run.ID), facts.Title(run), lack), nil
}
