package elastic

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// RemoveDamaged removes the interval documents of a run's level that cannot be read, and
// returns where they were.
func (e *Store) RemoveDamaged(ctx context.Context, run string, level mapping.Level) ([]string, error) {
	err := because(ctx, "refresh", e.client.Refresh(ctx, e.intervals()))
	var names, ids []string
	if err == nil {
		names, ids, err = e.damaged(ctx, run, level)
	}
	for from := 0; err == nil && from < len(ids); from += mostTerms {
		_, err = e.remove(ctx, e.level(level), es.All(es.Term("run.id", run), es.Terms("_id", ids[from:min(from+mostTerms, len(ids))])))
	}
	return names, e.fail(ctx, "repair", err)
}

// damaged finds the interval documents of a run's level that cannot be read, with their ids.
func (e *Store) damaged(ctx context.Context, run string, level mapping.Level) (names, ids []string, err error) {
	const verb, most = "find damaged documents", 500
	point, err := e.openPIT(ctx, e.level(level))
	if err != nil {
		return nil, nil, err
	}
	defer func() { e.closePIT(ctx, point) }()
	r := request{Size: min(most, e.limits.pageHits), Query: es.All(es.Term("run.id", run)), Sort: []any{ascending("@timestamp")}}
	for {
		r.PIT = &pit{ID: point, KeepAlive: e.keepAlive()}
		page, err := search[json.RawMessage](ctx, e, verb, "", &r)
		if err != nil {
			if r.shrink(err) {
				continue
			}
			return nil, nil, err
		}
		for _, h := range page.hits {
			if d := new(mapping.Interval); h.Source == nil || json.Unmarshal(*h.Source, d) != nil {
				names, ids = append(names, h.Index+"/"+h.ID), append(ids, h.ID)
			}
		}
		n := len(page.hits)
		if point = page.pit; n < r.Size {
			return names, ids, nil
		}
		last := page.hits[n-1].Sort
		if len(last) != len(r.Sort)+1 || isSame(last, r.After) {
			return nil, nil, fmt.Errorf("%s: %w", verb, es.ErrAnswer)
		}
		r.After = last
	}
}

// runDoc is a run's document, or why it cannot be read.
type runDoc struct {
	run *mapping.Run
	id  string
	err error
}

// UnmarshalJSON never fails, so that one document does not spoil a page of them.
func (d *runDoc) UnmarshalJSON(text []byte) error {
	*d = runDoc{run: new(mapping.Run)}
	if d.err = json.Unmarshal(text, d.run); d.err == nil && (d.run.Run.ID == "" || d.run.Run.Ingest == "") {
		d.err = mapping.ErrIdentity
	}
	var of struct{ Run struct{ ID string } }
	_ = json.Unmarshal(text, &of) // as far as that goes
	d.id = of.Run.ID
	return nil
}

// result is the run, or a [history.DamagedRunError].
func (d *runDoc) result() (*mapping.Run, error) {
	if d.err != nil {
		return nil, &history.DamagedRunError{ID: d.id, Err: d.err}
	}
	return d.run, nil
}
