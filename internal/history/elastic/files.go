package elastic

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// bins are the fields of a run document that contain histograms, and the packed field for lists.
var bins = []string{mapping.LightField, "all.latency.histogram", "read.latency.histogram", "write.latency.histogram", "trim.latency.histogram"}

// Holding implements [history.Store], usually with one request. It also finds runs whose documents are of the first
// version, because these have the hashes in the same field.
func (e *Store) Holding(ctx context.Context, hashes []string) ([]*mapping.Run, error) {
	found := map[string]*mapping.Run{}
	for some := range slices.Chunk(hashes, mostTerms) {
		err := e.addHolding(ctx, found, some)
		if errors.Is(err, history.ErrNoIndex) {
			return nil, nil // no run has been stored yet
		}
		if err != nil {
			return nil, e.fail(ctx, "read", err)
		}
	}
	var runs []*mapping.Run
	for _, id := range slices.Sorted(maps.Keys(found)) {
		runs = append(runs, found[id])
	}
	return runs, ctx.Err()
}

// hashed finds documents whose list of files has one of these hashes, as in [mapping.Source.Hashes].
func hashed(list string, hashes []string) any {
	return es.Any(es.Terms(list+".hash", hashes), es.Terms(list+".begin", hashes))
}

// addHolding adds the runs that have a file with one of these hashes, page by page.
func (e *Store) addHolding(ctx context.Context, to map[string]*mapping.Run, hashes []string) error {
	const most = 500 // runs on the first page, some KB each
	s := scan[runDoc]{e: e, verb: "find runs by their files", index: e.runs(), request: request{
		Size: min(most, e.limits.pageHits), Query: hashed("source.list", hashes), Sort: []any{ascending("run.id")},
		Source: excludes(bins...),
	}}
	for h, err := range s.all(ctx, 0) {
		if err != nil {
			return err
		}
		if run, damaged := h.Source.result(); damaged == nil {
			to[run.Run.ID] = run.WithFiles()
		}
	}
	return nil
}
