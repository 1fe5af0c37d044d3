package elastic

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// removedID is a field that only documents of removed runs have.
const removedID = mapping.RemovedField + ".id"

// MarkRemoved implements [history.Store]. The document is in the index of runs. It has no time and no run.id, so
// Kibana does not show it and no query for runs finds it.
func (e *Store) MarkRemoved(ctx context.Context, r *mapping.Removed) error {
	err := e.Prepare(ctx)
	if err == nil {
		err = e.index(ctx, "store removed run", esapi.IndexRequest{DocumentID: r.DocumentID(), Body: es.JSON(r.AppendJSON(nil))})
	}
	return e.fail(ctx, "write to", err)
}

// removedDoc is the document about a removed run.
type removedDoc struct{ Removed *mapping.Removed }

// Removed implements [history.Store].
func (e *Store) Removed(ctx context.Context, hashes []string) ([]*mapping.Removed, error) {
	found := map[string]*mapping.Removed{}
	for some := range slices.Chunk(hashes, mostTerms) {
		const most = 500 // documents on the first page, some KB each
		s := scan[removedDoc]{e: e, verb: "find removed runs", index: e.runs(), request: request{
			Size: min(most, e.limits.pageHits), Query: hashed(mapping.RemovedField+".source.list", some),
			Sort: []any{optionalField(removedID)},
		}}
		for hits, err := range s.pages(ctx) {
			if errors.Is(err, history.ErrNoIndex) {
				return nil, nil
			}
			if err != nil {
				return nil, e.fail(ctx, "read", err)
			}
			for _, h := range hits {
				if h.Source != nil && h.Source.Removed != nil {
					found[h.Source.Removed.ID] = h.Source.Removed
				}
			}
		}
	}
	var all []*mapping.Removed
	for _, id := range slices.Sorted(maps.Keys(found)) {
		all = append(all, found[id])
	}
	return all, ctx.Err()
}

// index stores one document in the index of runs and makes it visible.
func (e *Store) index(ctx context.Context, verb string, r esapi.IndexRequest) error {
	r.Index, r.Refresh = e.runs(), "true"
	return e.do(ctx, verb, es.Limited{Request: r}, nil)
}

// isRun finds run documents, but not documents about removed runs.
func isRun() any { return es.None(es.Exists(removedID)) }

// Restore implements [history.Store].
func (e *Store) Restore(ctx context.Context, runIDs ...string) error {
	if len(runIDs) == 0 {
		return ctx.Err()
	}
	_, err := e.remove(ctx, e.runs(), es.All(es.Terms(removedID, runIDs)))
	return e.fail(ctx, "write to", err)
}
