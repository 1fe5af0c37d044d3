package tidy

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Annotate gives runs labels or a note. It calls done after each run.
func Annotate(ctx context.Context, store history.Store, runs []*mapping.Run, a mapping.Annotation, done func(*mapping.Run)) error {
	return each(ctx, runs, func(ctx context.Context, run *mapping.Run) error {
		now, err := store.Annotate(ctx, run.Run.ID, a)
		if err == nil {
			done(now)
		}
		return err
	})
}

// Remove removes runs: see [history.Remove]. It returns how many it removed. A run that no longer exists
// is no error.
func Remove(ctx context.Context, store history.Store, runs []*mapping.Run, now time.Time, progress func(*mapping.Run)) (removed int, err error) {
	err = each(ctx, runs, func(ctx context.Context, run *mapping.Run) error {
		progress(run)
		whole, err := store.Run(ctx, run.Run.ID) // the run with its list of files
		if err == nil {
			err = history.Remove(ctx, store, whole, facts.Title(whole), now)
		}
		if errors.Is(err, history.ErrNotFound) {
			return nil
		}
		if err == nil {
			removed++
		}
		return err
	})
	return removed, err
}

// each changes the runs, one after another. If ctx ends, it first completes the run that is being changed.
func each(ctx context.Context, runs []*mapping.Run, change func(ctx context.Context, run *mapping.Run) error) error {
	for _, run := range runs {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := change(context.WithoutCancel(ctx), run); err != nil {
			return ofRun(run, err)
		}
	}
	return nil
}

// Marked is the result of [Mark].
type Marked struct {
	Runs    int // number of runs in the history
	Changes int // number of changes found in them
	Updated int // number of runs whose marks have changed
	Skipped []error
}

// marked are the members of run documents that decide which changes are found, and which are stored.
var marked = append([]string{"run", "workload", "cbt", "fio", "hosts", "sections", mapping.AllDirections, "changes"}, mapping.Directions[:]...)

// Mark finds the changes over all runs of a history, or over those of the workloads of some, and stores each with the first run after it,
// and the time if it is new. It removes marks of changes that are no longer found.
func Mark(ctx context.Context, store history.Marker, of []*mapping.Run, now time.Time) (m Marked, err error) {
	skip := func(err error) { m.Skipped = append(m.Skipped, err) }
	var runs []*mapping.Run
	of = facts.Parts(of...)
	for known := -1; known < len(workload.Keys(of)); {
		known, m.Skipped = len(workload.Keys(of)), nil
		f := history.RunFilter{Light: true, Members: marked}
		if known > 0 {
			f.Where = query.SameSettings(of...)
		}
		if runs, err = history.Collect(store.Runs(ctx, f), skip); err != nil {
			return m, err
		}
		if known > 0 { // a run has the marks of all of its sections, so all runs of their workloads are needed
			of = append(of, facts.Parts(runs...)...)
		}
	}
	m.Runs = len(runs)
	changes, n := workload.Marks(runs)
	m.Changes = n
	for _, run := range runs {
		id := run.Run.ID
		setMarked(changes[id], run.Changes, now.UTC().Truncate(time.Millisecond))
		if slices.Equal(changes[id], run.Changes) {
			delete(changes, id)
		} else if changes[id] == nil {
			changes[id] = []mapping.Change{}
		}
	}
	if m.Updated = len(changes); m.Updated == 0 {
		return m, nil
	}
	return m, store.Mark(ctx, changes)
}

// setMarked sets when the changes of a run were first found: those that the run has already keep their time.
func setMarked(changes, stored []mapping.Change, now time.Time) {
	stored = slices.Clone(stored)
	for i := range changes {
		c := &changes[i]
		c.Marked = now
		same := func(s mapping.Change) bool {
			return s.Direction == c.Direction && s.Metric == c.Metric && s.Verdict == c.Verdict
		}
		if at := slices.IndexFunc(stored, same); at >= 0 {
			c.Marked = stored[at].Marked
			stored = slices.Delete(stored, at, at+1) // sections of a run have changes of the same number
		}
	}
}
