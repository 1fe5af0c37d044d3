package main

import (
	"context"
	"fmt"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/mapping"
)

// notWhole are the runs of which a store lacks documents, by id, with what is missing. For the
// others it finishes what an interrupted ingest left: documents of other versions go, and
// dashboards show those of this one.
func (a *app) notWhole(ctx context.Context, store history.Store, runs []*mapping.Run) (map[string]string, error) {
	if len(runs) == 0 {
		return nil, nil
	}
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.Run.ID
	}
	counts, err := store.Count(ctx, ids)
	if err != nil {
		return nil, err
	}
	lacking := map[string]string{}
	for _, r := range runs {
		switch {
		case r.Run.Live():
		case !counts.IsWhole(r):
			lacking[r.Run.ID] = counts.LackText(r)
		case !counts.IsCurrent(r):
			if err := store.MakeCurrent(ctx, r.Run.ID, r.Run.Ingest); err != nil {
				return nil, err
			}
			a.log.Info(fmt.Sprintf("note: finished replacing %s %s: an ingest was interrupted", r.Run.ID[:8], query.Title(r)))
		}
	}
	return lacking, nil
}
