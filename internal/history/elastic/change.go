package elastic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Annotate implements [history.Store]. It changes the run document first. If it is interrupted, some interval
// documents have other labels than the run document. The next call mends this, and [history.Check] reports it.
func (e *Store) Annotate(ctx context.Context, runID string, a mapping.Annotation) (*mapping.Run, error) {
	err := a.Check()
	if err == nil {
		err = e.Prepare(ctx)
	}
	var run *mapping.Run
	if err == nil {
		run, err = e.annotate(ctx, runID, a)
	}
	return run, e.fail(ctx, "write to", err)
}

// annotate changes the run document, and sets the labels of the interval documents until those of the run have not
// changed in the meantime.
func (e *Store) annotate(ctx context.Context, runID string, a mapping.Annotation) (*mapping.Run, error) {
	run, err := e.change(ctx, runID, func(run *mapping.Run, err error) (*mapping.Run, error) {
		if err == nil {
			run.Run.Annotate(a)
		}
		return run, err
	})
	if err != nil {
		return nil, err
	}
	err = e.client.Repeat(ctx, func(ctx context.Context) error {
		err := e.client.Refresh(ctx, e.intervals())
		if err == nil {
			err = e.relabel(ctx, &run.Run)
		}
		if err != nil {
			return err
		}
		now, _, err := e.current(ctx, runID)
		if err == nil && (now.Run.Ingest != run.Run.Ingest || now.Run.Edit() != run.Run.Edit()) {
			run, err = now, es.Again(fmt.Errorf("annotate run %q: %w", runID, history.ErrBusy))
		}
		return err
	})
	return run, err
}

// relabel sets the labels of a run in those of its visible interval documents that have others.
func (e *Store) relabel(ctx context.Context, run *mapping.RunInfo) error {
	labels, edit := run.Labels, run.Edit()
	if labels == nil {
		labels = map[string]string{}
	}
	others := es.Exists(mapping.EditField)
	if edit != "" {
		others = es.None(es.Term(mapping.EditField, edit))
	}
	query := es.All(es.Term(mapping.RunField, run.ID), es.Term(mapping.IngestField, run.Ingest), others)
	_, err := e.client.UpdateAll(ctx, query, mapping.Relabel, map[string]any{"labels": labels, "edit": edit}, e.intervals())
	return err
}

// Mark implements [history.Marker].
func (e *Store) Mark(ctx context.Context, changes map[string][]mapping.Change) error {
	err := e.Prepare(ctx)
	if err == nil {
		err = e.client.Refresh(ctx, e.runs())
	}
	const most = 500 // runs in one request
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(changes)), most) {
		some := map[string][]mapping.Change{}
		for _, id := range ids {
			some[id] = append([]mapping.Change{}, changes[id]...) // an empty list, not null
		}
		if err == nil {
			_, err = e.client.UpdateAll(ctx, es.All(es.Terms(mapping.RunField, ids)), mapping.MarkChanges, map[string]any{"changes": some}, e.runs())
		}
	}
	return e.fail(ctx, "write to", err)
}

// News returns a run of each workload that has new or removed runs since its last call, because its changes have to be found again. A nil
// run means that a workload is not known.
func (e *Store) News() []*mapping.Run {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := slices.Collect(maps.Values(e.news))
	e.news = nil
	return list
}

// isNews notes that a run is stored or removed, or one that is not known, if run is nil.
func (e *Store) isNews(run *mapping.Run) {
	of := ""
	switch {
	case run == nil:
	case run.Run.Live(): // it belongs to no series
		return
	default:
		of, run = cmp.Or(strings.Join(run.Workloads(), " "), run.Run.ID), run.Light()
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.news == nil {
		e.news = map[string]*mapping.Run{}
	}
	if _, isKnown := e.news[of]; !isKnown {
		e.news[of] = run
	}
}

// Delete implements [history.Store]. If it is interrupted, readers no longer see the run; a second call removes the
// rest.
func (e *Store) Delete(ctx context.Context, runID string) error {
	switch run, _, err := e.current(ctx, runID); {
	case err == nil, errors.Is(err, history.ErrDamaged):
		e.isNews(run)
	case !errors.Is(err, history.ErrNotFound):
		return e.fail(ctx, "write to", err)
	}
	runs, err := e.remove(ctx, e.runs(), es.Term(mapping.RunField, runID))
	intervals := 0
	if err == nil {
		err = e.removeParts(ctx, runID, "")
	}
	if err == nil {
		if intervals, err = e.remove(ctx, e.intervals(), es.Term(mapping.RunField, runID)); err != nil && runs > 0 {
			err = fmt.Errorf("%w; its run document is removed, but not all of its interval documents: remove these with fio2es check --repair", err)
		}
	}
	if err == nil && runs+intervals == 0 {
		if _, err = e.finished(ctx, []string{runID}); err == nil { // otherwise there is no index
			err = fmt.Errorf("delete run %q: %w", runID, history.ErrNotFound)
		}
	}
	return e.fail(ctx, "write to", err)
}

// remove deletes the documents that a query finds, and returns their number.
func (e *Store) remove(ctx context.Context, index string, query any) (int, error) {
	if err := e.client.Refresh(ctx, index); err != nil { // because only visible documents are deleted
		return 0, err
	}
	return e.client.DeleteAll(ctx, query, index)
}

// MarkRemoved implements [history.Store]. The document is in the index of runs. It has no time and no run.id, so
// Kibana does not show it and no query for runs finds it.
func (e *Store) MarkRemoved(ctx context.Context, r *mapping.Removed) error {
	err := e.Prepare(ctx)
	if err == nil {
		err = e.index(ctx, esapi.IndexRequest{DocumentID: r.DocumentID(), Body: es.JSON(r.AppendJSON(nil))})
	}
	return e.fail(ctx, "write to", err)
}

// index stores one document in the index of runs and makes it visible.
func (e *Store) index(ctx context.Context, r esapi.IndexRequest) error {
	r.Index, r.DocumentID, r.Refresh = e.runs(), url.PathEscape(r.DocumentID), "true"
	if err := e.client.Do(ctx, r, nil); err != nil {
		return fmt.Errorf("store document: %w", err)
	}
	return nil
}

// Removed implements [history.Store].
func (e *Store) Removed(ctx context.Context, hashes []string) ([]*mapping.Removed, error) {
	found := map[string]*mapping.Removed{}
	for some := range slices.Chunk(hashes, mostTerms) {
		byID := map[string]any{mapping.RemovedIDField: map[string]any{"order": "asc", "unmapped_type": "keyword"}} // old indices lack it
		for h, err := range e.hits(ctx, "find removed runs", e.runs(), request{
			Size: 500, Query: hashed(mapping.RemovedField+".", some), Sort: []any{byID},
		}) {
			if es.IsNotFound(err) { // there is no index yet
				break
			}
			var d struct{ Removed *mapping.Removed }
			if err == nil {
				if err = json.Unmarshal(h.Source, &d); err != nil {
					err = fmt.Errorf("document %s: %w: %w", h.ID, history.ErrDamaged, err)
				}
			}
			if err != nil {
				return nil, e.fail(ctx, "read", err)
			}
			if d.Removed != nil {
				found[d.Removed.ID] = d.Removed
			}
		}
	}
	return sortedByID(found), nil
}

// Restore implements [history.Store].
func (e *Store) Restore(ctx context.Context, runIDs ...string) error {
	if len(runIDs) == 0 {
		return ctx.Err()
	}
	_, err := e.remove(ctx, e.runs(), es.All(es.Terms(mapping.RemovedIDField, runIDs)))
	return e.fail(ctx, "write to", err)
}
