package elastic

import (
	"context"
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Count implements [history.Store]. One request counts a thousand versions.
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
			return nil, e.fail(ctx, "read", because(ctx, "count documents", err))
		}
	}
	return out, ctx.Err()
}

// counts counts the visible interval documents that a query finds.
func (e *Store) counts(ctx context.Context, query any) (history.Counts, error) {
	out := history.Counts{}
	return out, e.addCounts(ctx, out, query)
}

func (e *Store) addCounts(ctx context.Context, to history.Counts, query any) error {
	// part is the field that all parts of a split document have, except the first
	const run, ingest, level, part = "run.id", "run.ingest", "level", "part"
	found, err := e.client.Groups(ctx, query, []string{run, ingest, level}, []string{part, mapping.PendingField}, e.intervals())
	if err != nil {
		return err
	}
	for _, g := range found {
		l, err := mapping.ParseLevel(g.Key[level])
		if err != nil {
			return fmt.Errorf("count documents: %w", err)
		}
		parts := g.Having[part]
		to.Add(g.Key[run], g.Key[ingest], l, int(g.Documents-parts), int(parts), int(g.Having[mapping.PendingField]))
	}
	return nil
}
