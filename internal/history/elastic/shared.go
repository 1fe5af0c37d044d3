package elastic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Join implements [history.Store]. A run that is there is read by its id, without a search: many hosts may begin at once.
func (e *Store) Join(ctx context.Context, run *mapping.Run) (stored *mapping.Run, err error) {
	if err = run.Check(); err == nil {
		err = e.prepare(ctx, false)
	}
	if err == nil {
		stored, _, err = e.current(ctx, run.Run.ID)
	}
	if errors.Is(err, history.ErrNotFound) {
		_, err = e.change(ctx, run.Run.ID, func(there *mapping.Run, err error) (*mapping.Run, error) {
			if errors.Is(err, history.ErrNotFound) {
				stored = run
				return run, nil
			}
			stored = there
			return nil, err
		})
	}
	return stored, e.fail(ctx, "write to", err)
}

// PutPart implements [history.Store]. It makes nothing visible: a cluster with many hosts would do little else. Readers do
// that.
func (e *Store) PutPart(ctx context.Context, p *mapping.Part) error {
	err := p.Check()
	if err == nil {
		err = e.prepare(ctx, false)
	}
	if err == nil {
		_, err = e.settled(ctx, history.Version{Run: p.Run, Ingest: p.Ingest})
	}
	isThere := false
	if err == nil && p.Document == nil {
		isThere, err = e.renew(ctx, p)
	} else if err == nil {
		err = e.putPart(ctx, p)
	}
	if err == nil && !isThere { // Only now, or the part could outlive its run.
		err = e.isTheirs(ctx, p)
	}
	return e.fail(ctx, "write to", err)
}

// renew stores a sign of life in the place of the last one. A part whose run was replaced or removed has none: so this is one request,
// and a small one, because many hosts send one every few seconds.
func (e *Store) renew(ctx context.Context, p *mapping.Part) (isThere bool, err error) {
	body := append(p.AppendJSON([]byte(`{"doc":`)), '}')
	err = e.client.Do(ctx, esapi.UpdateRequest{Index: e.runs(), DocumentID: url.PathEscape(p.ID()), Body: es.JSON(body)}, nil)
	if es.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		err = fmt.Errorf("store a sign of life of run %s: %w", p.Run, err)
	}
	return err == nil, err
}

// putPart stores a part and its sign of life.
func (e *Store) putPart(ctx context.Context, p *mapping.Part) error {
	of := &versionState{again: true, stored: map[uint64]struct{}{}}
	var docs []*document
	for _, d := range []*mapping.Part{p.Rest(), p.Sign()} {
		docs = append(docs, &document{index: mapping.RunsIndex(e.prefix), id: d.ID(), text: d.AppendJSON(nil), of: of})
	}
	if err := cmp.Or(e.send(ctx, docs), of.err); err != nil {
		return fmt.Errorf("store a part of run %s: %w", p.Run, err)
	}
	return nil
}

// isTheirs fails unless the version of a part is current, and then removes what is left of it.
func (e *Store) isTheirs(ctx context.Context, p *mapping.Part) error {
	ingest, err := e.ingest(ctx, p.Run)
	switch {
	case err != nil:
		return err
	case ingest == p.Ingest && p.Document == nil:
		return fmt.Errorf("a sign of life of run %s without its part: %w", p.Run, history.ErrNotFound)
	case ingest == p.Ingest:
		return nil
	}
	for _, index := range []string{e.intervals(), e.runs()} {
		if err := e.client.Refresh(ctx, index); err != nil {
			return err
		}
	}
	mine := es.All(es.Term(mapping.RunField, p.Run), es.Term(mapping.IngestField, p.Ingest))
	if _, err := e.client.DeleteAll(ctx, mine, e.intervals()); err != nil {
		return err
	}
	if _, err := e.client.DeleteAll(ctx, es.All(es.Term(mapping.SharedRunField, p.Run), es.Term(mapping.SharedIngestField, p.Ingest)), e.runs()); err != nil {
		return err
	}
	return history.ErrReplaced
}

// ingest returns the version of a run that readers see, or "" if there is none. It reads no more than that.
func (e *Store) ingest(ctx context.Context, id string) (string, error) {
	var answer struct {
		Source struct {
			Run struct{ Ingest string }
		} `json:"_source"`
	}
	r := esapi.GetRequest{Index: e.runs(), DocumentID: url.PathEscape(id), SourceIncludes: []string{mapping.IngestField}}
	err := e.client.Do(ctx, r, &answer)
	if es.IsNotFound(err) {
		return "", nil
	}
	return answer.Source.Run.Ingest, err
}

// Parts implements [history.Store]. It makes visible what hosts have sent, unless the user may not do that.
func (e *Store) Parts(ctx context.Context, runID string) ([]*mapping.Part, error) {
	docs, err := e.parts(ctx, es.Term(mapping.SharedRunField, runID), e.runs(), e.intervals())
	return mapping.JoinParts(docs), err
}

// Signs implements [history.Store].
func (e *Store) Signs(ctx context.Context, runID string, all bool) ([]*mapping.Part, error) {
	var refreshed []string
	if all {
		refreshed = []string{e.runs(), e.intervals()}
	}
	return e.parts(ctx, es.All(es.Term(mapping.SharedRunField, runID), es.None(es.Exists(mapping.SharedFilesField))), refreshed...)
}

// Sign implements [history.Store]. It reads a document by its id, which needs no refresh.
func (e *Store) Sign(ctx context.Context, of *mapping.Part) (*mapping.Part, error) {
	var answer struct {
		Source json.RawMessage `json:"_source"`
	}
	err := e.client.Do(ctx, esapi.GetRequest{Index: e.runs(), DocumentID: url.PathEscape(of.Sign().ID())}, &answer)
	if es.IsNotFound(err) {
		return nil, nil
	}
	var p *mapping.Part
	if err == nil {
		p, err = mapping.ReadPart(answer.Source)
	}
	return p, e.fail(ctx, "read", err)
}

// parts returns the documents of parts that a query finds, after what was stored in some indices has become visible.
func (e *Store) parts(ctx context.Context, query any, refreshed ...string) (docs []*mapping.Part, err error) {
	for _, index := range refreshed {
		if err := e.client.Refresh(ctx, index); err != nil && !errors.Is(err, es.ErrForbidden) {
			return nil, e.fail(ctx, "read", err)
		}
	}
	byRun := map[string]any{mapping.SharedRunField: map[string]any{"order": "asc", "unmapped_type": "keyword"}}
	for h, err := range e.hits(ctx, "read the parts of a run", e.runs(), request{Size: 200, Query: query, Sort: []any{byRun}, Stable: true}) {
		if es.IsNotFound(err) { // there is no index yet
			break
		}
		var p *mapping.Part
		if err == nil {
			p, err = mapping.ReadPart(h.Source)
		}
		if err != nil {
			return nil, e.fail(ctx, "read", err)
		}
		docs = append(docs, p)
	}
	return docs, nil
}

// Now implements [history.Store]. The time comes from an ordinary search, which needs no privilege of its own: the node that gets it
// says what "now" means.
func (e *Store) Now(ctx context.Context) (time.Time, error) {
	var answer struct {
		es.Whole
		Aggregations struct {
			Now struct {
				Buckets []struct {
					To float64 `json:"to"` // milliseconds since 1970
				} `json:"buckets"`
			} `json:"now"`
		} `json:"aggregations"`
	}
	body := map[string]any{"size": 0, "track_total_hits": false, "aggs": map[string]any{"now": map[string]any{
		"date_range": map[string]any{"field": mapping.TimeField, "ranges": []any{map[string]any{"to": "now"}}},
	}}}
	err := e.client.Do(ctx, esapi.SearchRequest{Index: []string{e.runs()}, Body: es.JSON(body)}, &answer)
	if err == nil {
		err = answer.Err()
	}
	if err == nil && len(answer.Aggregations.Now.Buckets) == 0 {
		err = es.ErrAnswer
	}
	if err != nil {
		return time.Time{}, e.fail(ctx, "read", fmt.Errorf("ask for the time: %w", err))
	}
	return time.UnixMilli(int64(answer.Aggregations.Now.Buckets[0].To)), nil
}

// removeParts deletes the parts of a run but those of a version.
func (e *Store) removeParts(ctx context.Context, runID, but string) error {
	if err := e.client.Refresh(ctx, e.runs()); err != nil {
		return err
	}
	_, err := e.client.DeleteAll(ctx, es.All(es.Term(mapping.SharedRunField, runID), es.None(es.Term(mapping.SharedIngestField, but))), e.runs())
	return err
}
