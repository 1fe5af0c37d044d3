package query

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Run is a run that was found, in files or in the history.
type Run struct {
	Name string
	Path string // of the folder in its archive or under the path that was given; empty in the history
	// Stored is the run's document in the history; nil of files, whose document is known when they
	// have been read.
	Stored *mapping.Run
	// JoinMS is the length in milliseconds to which stored windows are joined, as [JoinMS] checks
	// it; 0 leaves them as they are.
	JoinMS int64

	// Messages about the run, set by Read. A warning means that something is missing.
	Warnings, Notes, Details []string

	from   reader
	choice choice
}

// reader is where a run is read from.
type reader interface {
	// read gives at least the windows that q wants to take, ordered by time within a level, and
	// returns the run's document. It may change r. A nil take wants no windows.
	read(ctx context.Context, r *Run, q *Query, take func(*window.Window) error) (*mapping.Run, error)
}

// Read gives the windows that q wants to take, ordered by time within a level, and returns the
// run's document. A nil take wants no windows. The document is nil of files that have nothing of a
// run. An error is take's, or says why the windows cannot be read.
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
	for _, w := range window.Totals(doc) {
		if !isWanted(q.Directions, w.Direction) {
			continue
		}
		if err := take(w); err != nil {
			return nil, err
		}
	}
	return doc, nil
}

// Has reports whether the run may have windows of a level: those of a run in the history are
// known.
func (r *Run) Has(level mapping.Level) bool {
	return r.Stored == nil || slices.Contains(r.Stored.Levels, level)
}

// OnlyTotals is why a run that was read has no windows with percentiles; empty where it has some,
// or where a warning or a note says so already.
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
