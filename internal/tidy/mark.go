package tidy

import (
	"context"
	"slices"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Marked is the result of [Mark].
type Marked struct {
	Runs    int // number of runs in the history
	Changes int // number of changes found in them
	Updated int // number of runs whose marks have changed
	Skipped []error
}

// Mark finds the changes over all runs of a history, and stores each with the first run after it. It removes marks
// of changes that are no longer found.
func Mark(ctx context.Context, store history.Marker) (m Marked, err error) {
	skip := func(err error) { m.Skipped = append(m.Skipped, err) }
	runs, err := history.Collect(store.Runs(ctx, history.RunFilter{Brief: true}), skip)
	if err != nil {
		return m, err
	}
	m.Runs = len(runs)
	changes, n := workload.Marks(runs)
	m.Changes = n
	for _, run := range runs {
		if id := run.Run.ID; slices.Equal(changes[id], run.Changes) {
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
