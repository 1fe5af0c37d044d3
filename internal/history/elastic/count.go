package elastic

import (
	"context"
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Count implements [history.Store], in one request for a thousand versions.
func (e *Store) Count(ctx context.Context, runs []string, levels ...mapping.Level) (history.Counts, error) {
	out, chunks := history.Counts{}, slices.Collect(slices.Chunk(runs, mostTerms))
	if len(runs) == 0 {
		chunks = [][]string{nil}
	}
	for _, some := range chunks {
		var queries []any
		if len(some) > 0 {
			queries = append(queries, es.Terms("run.id", some))
		}
		if len(levels) > 0 {
			var names []string
			for _, l := range levels {
				names = append(names, l.String())
			}
			queries = append(queries, es.Terms("level", names))
		}
		if err := e.addCounts(ctx, out, es.All(queries...)); err != nil {
			return nil, e.fail(ctx, "read", err)
		}
	}
	return out, ctx.Err()
}

func (e *Store) addCounts(ctx context.Context, to history.Counts, query any) error {
	const verb = "count documents"
	const run, ingest, level, part = "run.id", "run.ingest", "level", "part" // a part but for the first of a document
	found, err := e.client.Groups(ctx, query, []string{run, ingest, level}, []string{part, mapping.PendingField}, e.intervals())
	if err != nil {
		return because(ctx, verb, err)
	}
	for _, g := range found {
		l, err := mapping.ParseLevel(g.Key[level])
		if err != nil {
			return fmt.Errorf("%s: %w", verb, err)
		}
		to.Add(g.Key[run], g.Key[ingest], l, int(g.Documents-g.Having[part]), int(g.Having[mapping.PendingField]))
	}
	return nil
}

// MakeCurrent implements [history.Store]. Other versions go first: dashboards never see two.
func (e *Store) MakeCurrent(ctx context.Context, runID, ingest string) error {
	run, version := es.Term("run.id", runID), es.Term("run.ingest", ingest)
	_, err := e.remove(ctx, e.intervals(), es.All(run, es.None(version)))
	if err == nil {
		pending := es.All(run, version, es.Term(mapping.PendingField, "true"))
		_, err = e.client.UpdateAll(ctx, pending, mapping.ShowPending, e.intervals())
		err = because(ctx, "show documents", err)
	}
	return e.fail(ctx, "write to", err)
}
