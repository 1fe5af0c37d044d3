// Package tidy chooses runs of a history, and labels, annotates or removes them one by one. If it is interrupted,
// the changes so far stay, and the same choice finds the other runs again. It prints nothing.
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
	"github.com/fio2es/fio2es/mapping"
)

// Choice says which runs are wanted: those that a filter selects; with selectors, only those of them that the
// selectors name.
type Choice struct {
	Names  []string // selectors: see [query.Selector]
	Filter history.RunFilter
}

// FollowedFor is how long after its last update a live run counts as being followed. If follow is killed, the run
// stays live, but is not updated any more.
const FollowedFor = time.Hour

// ErrFollowed means that a run is being followed, so that the next update would undo a change.
var ErrFollowed = errors.New("it is being followed: wait until it is over, or end fio2es follow")

// Find finds the runs, the newest first, without histograms and files. Runs that are being followed are among the skipped
// ones. It fails if a selector names no run, or names a single run that is being followed.
func (c *Choice) Find(ctx context.Context, store history.Store, now time.Time) (*query.Chosen, error) {
	var selectors []*query.Selector
	isOne := len(c.Names) > 0
	for _, name := range c.Names {
		s, err := query.ParseSelector(name, now)
		if err != nil {
			return nil, err
		}
		s.AnyState = true // rm latest removes no older run in place of the newest
		selectors, isOne = append(selectors, s), isOne && s.IsOne()
	}
	chosen, err := query.Choose(ctx, store, c.Filter, selectors...)
	if errors.Is(err, history.ErrNotFound) && len(c.Names) == 0 {
		return &query.Chosen{}, nil
	}
	if err != nil {
		return nil, err
	}
	found := &query.Chosen{Skipped: chosen.Skipped, Notes: chosen.Notes}
	for _, run := range chosen.Runs {
		switch {
		case !run.Run.Live() || now.Sub(run.Ingested) >= FollowedFor:
			found.Runs = append(found.Runs, run)
		case isOne:
			return nil, ofRun(run, ErrFollowed)
		default:
			found.Skipped = append(found.Skipped, ofRun(run, ErrFollowed))
		}
	}
	slices.SortStableFunc(found.Runs, func(a, b *mapping.Run) int { return b.Run.Start.Compare(a.Run.Start) })
	return found, nil
}

// ofRun adds the name of a run to an error.
func ofRun(run *mapping.Run, err error) error {
	return fmt.Errorf("run %s (%s): %w", facts.ShortID(run.Run.ID), facts.Title(run), err)
}
