package query

import (
	"context"
	"errors"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// mostSingle is how many runs are read one by one. For more runs, one list of all runs is faster.
const mostSingle = 200

// Around reads the runs on both sides of each change with the fields that [workload.Differences] compares. Series
// are made of [mapping.Run.Brief], which lacks configurations. If one of the two runs was removed in the
// meantime or cannot be read, both stay as they are. Around returns the errors of runs that cannot be read.
func Around(ctx context.Context, store history.Store, series []*workload.Series) (skipped []error, err error) {
	ids, whole := map[string]bool{}, map[string]*mapping.Run{}
	var changes []*workload.Change
	for _, s := range series {
		for i := range s.Changes {
			c := &s.Changes[i]
			changes = append(changes, c)
			ids[c.Before.Run.ID], ids[c.After.Run.ID] = true, true
		}
	}
	take := func(run *mapping.Run, err error) error {
		switch {
		case history.IsSkipped(err):
			skipped = append(skipped, err)
		case err == nil:
			whole[run.Run.ID] = run.Light()
		case !errors.Is(err, history.ErrNotFound):
			return err
		}
		return nil
	}
	if len(ids) > mostSingle {
		for run, err := range store.Runs(ctx, history.RunFilter{Light: true, Where: named(ids)}) {
			if err := take(run, err); err != nil {
				return nil, err
			}
		}
	} else {
		for id := range ids {
			if err := take(store.Run(ctx, id)); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range changes {
		if before, after := whole[c.Before.Run.ID], whole[c.After.Run.ID]; before != nil && after != nil {
			c.Before, c.After = before, after
		}
	}
	return skipped, nil
}
