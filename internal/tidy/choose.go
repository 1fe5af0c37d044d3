package tidy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Choice says which runs are wanted: those of the names, or those that a filter selects.
type Choice struct {
	Names  []string // ids, the beginnings of ids, or [query.Latest]
	Filter history.RunFilter
}

// Chosen are the runs of a choice, the newest first, without histograms and files.
type Chosen struct {
	Runs    []*mapping.Run
	Skipped []error // of runs that a filter may have selected, but which cannot be read or are being followed
}

// FollowedFor is how long a live run counts as being followed after its document was stored last.
const FollowedFor = time.Hour

// ErrFollowed is a run that is being followed: what follows writes would undo the change.
var ErrFollowed = errors.New("it is being followed: wait until it is over, or end fio2es follow")

// IsFollowed reports whether a run is being followed. If follow was killed, its run stays live for ever, but is not
// stored again.
func IsFollowed(run *mapping.Run, now time.Time) bool {
	return run.Run.Live() && now.Sub(run.Ingested) < FollowedFor
}

// Find finds the runs. A name that is none, or that of a run that is being followed, is an error.
func (c *Choice) Find(ctx context.Context, store history.Store, now time.Time) (*Chosen, error) {
	found := &Chosen{}
	if len(c.Names) > 0 {
		return found, found.named(ctx, store, c.Names, now)
	}
	filter := c.Filter
	filter.Light = true
	for run, err := range store.Runs(ctx, filter) {
		switch {
		case history.IsSkipped(err):
			found.Skipped = append(found.Skipped, err)
		case err != nil:
			return nil, err
		case IsFollowed(run, now):
			found.Skipped = append(found.Skipped, ofRun(run, ErrFollowed))
		default:
			found.Runs = append(found.Runs, run)
		}
	}
	return found, nil
}

func (f *Chosen) named(ctx context.Context, store history.Store, names []string, now time.Time) error {
	for _, name := range names {
		run, err := query.Find(ctx, store, name)
		if errors.Is(err, history.ErrNotFound) {
			return notFound(ctx, store, name, err)
		}
		if err != nil {
			return err
		}
		if IsFollowed(run, now) {
			return ofRun(run, ErrFollowed)
		}
		if !slices.ContainsFunc(f.Runs, func(r *mapping.Run) bool { return r.Run.ID == run.Run.ID }) {
			f.Runs = append(f.Runs, run.Light())
		}
	}
	slices.SortStableFunc(f.Runs, func(a, b *mapping.Run) int { return b.Run.Start.Compare(a.Run.Start) })
	return nil
}

// notFound says how many runs there are.
func notFound(ctx context.Context, store history.Store, name string, err error) error {
	n, failed := query.Count(ctx, store)
	if failed != nil {
		return err
	}
	return fmt.Errorf("%s: %w, which has %s: fio2es runs lists them", name, history.ErrNotFound, unit.Plural(n, "run"))
}

// ofRun adds to an error which run it is about.
func ofRun(run *mapping.Run, err error) error {
	return fmt.Errorf("run %s (%s): %w", facts.ShortID(run.Run.ID), facts.Title(run), err)
}
