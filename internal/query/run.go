package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Run is a run in files or in the history.
type Run struct {
	Name string
	Path string // path of the run's folder, in its archive or below the given path; empty in the history
	// Stored is the run document in the history. It is nil for files, whose run document is made by Read.
	Stored *mapping.Run
	// JoinMS is the length in milliseconds to which stored windows are joined, from the function [JoinMS]. 0 leaves
	// them as they are.
	JoinMS int64

	// Messages about the run, set by Read. A warning means that numbers are missing.
	Warnings, Notes, Details []string

	from   reader
	choice choice
}

// reader reads a run from files or from the history.
type reader interface {
	// read calls take with at least the wanted windows, sorted by time within a level, and returns the run document.
	// It may change r. With a nil take it reads no windows.
	read(ctx context.Context, r *Run, q *Query, take func(*window.Window) error) (*mapping.Run, error)
}

// Read calls take with the wanted windows, sorted by time within a level, and returns the run document. With a nil
// take it reads no windows. The document is nil if files have nothing of a run. An error is from take, or says why
// the windows cannot be read.
func (r *Run) Read(ctx context.Context, q *Query, take func(*window.Window) error) (*mapping.Run, error) {
	r.choice = choice{query: q}
	r.Warnings, r.Notes, r.Details = nil, nil, nil
	if take == nil {
		return r.from.read(ctx, r, q, nil)
	}
	if q.Totals {
		return r.readTotals(ctx, q, take)
	}
	return r.from.read(ctx, r, q, func(w *window.Window) error {
		if takes, err := r.choice.takes(w); err != nil || !takes {
			return err
		}
		return take(w)
	})
}

func (r *Run) readTotals(ctx context.Context, q *Query, take func(*window.Window) error) (*mapping.Run, error) {
	doc, err := r.from.read(ctx, r, q, nil)
	if err != nil || doc == nil {
		return doc, err
	}
	for _, d := range doc.ByDirection() {
		if !isWanted(q.Directions, d.Direction) {
			continue
		}
		if err := take(window.Total(doc, d)); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// Has reports whether the run may have windows of a level. For a run in the history this is known.
func (r *Run) Has(level mapping.Level) bool {
	return r.Stored == nil || slices.Contains(r.Stored.Levels, level)
}

// OnlyTotals returns why a run that was read has no windows with percentiles. It is empty if the run has some, or if
// a warning or a note says so already.
func (r *Run) OnlyTotals(doc *mapping.Run) string {
	if r.choice.withPercentiles > 0 {
		return ""
	}
	why := cmp.Or(NoWindows(doc), NothingInTime)
	says := func(text string) bool { return strings.Contains(text, why) }
	if slices.ContainsFunc(r.Warnings, says) || slices.ContainsFunc(r.Notes, says) {
		return ""
	}
	return why
}
