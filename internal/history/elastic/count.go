package elastic

import (
	"context"
	"slices"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic/bulk"
	"github.com/fio2es/fio2es/mapping"
)

// Count implements [history.Store]. One request counts a thousand versions.
func (e *reader) Count(ctx context.Context, runs []string, levels ...mapping.Level) (history.Counts, error) {
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
		if err := bulk.AddCounts(ctx, out, e.client, e.intervals(), es.All(queries...)); err != nil {
			return nil, e.fail(ctx, "read", because(ctx, "count documents", err))
		}
	}
	return out, ctx.Err()
}

// MakeCurrent implements [history.Store].
func (e *Store) MakeCurrent(ctx context.Context, runID, ingest string) error {
	return e.fail(ctx, "write to", because(ctx, "remove other versions", e.writer.MakeCurrent(ctx, runID, ingest)))
}
