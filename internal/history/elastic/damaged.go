package elastic

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// RemoveDamaged removes the unreadable interval documents of a run at one level. It returns them as INDEX/ID.
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

// damaged finds the unreadable interval documents of a run at one level. It returns their names and their ids.
func (e *Store) damaged(ctx context.Context, run string, level mapping.Level) (names, ids []string, err error) {
	const most = 500 // documents on the first page
	point, err := e.openPIT(ctx, e.level(level))
	if err != nil {
		return nil, nil, err
	}
	s := scan[json.RawMessage]{e: e, verb: "find damaged documents", request: request{
		PIT:  &pit{ID: point, KeepAlive: e.keepAlive()},
		Size: min(most, e.limits.pageHits), Query: es.All(es.Term("run.id", run)), Sort: []any{ascending("@timestamp")},
	}}
	defer func() { e.closePIT(ctx, s.request.PIT.ID) }()
	for hits, err := range s.pages(ctx) {
		if err != nil {
			return nil, nil, err
		}
		for _, h := range hits {
			if d := new(mapping.Interval); h.Source == nil || json.Unmarshal(*h.Source, d) != nil {
				names, ids = append(names, h.Index+"/"+h.ID), append(ids, h.ID)
			}
		}
	}
	return names, ids, nil
}

// runDoc is a run document, or the reason why it cannot be read.
type runDoc struct {
	run *mapping.Run
	id  string
	err error
}

// UnmarshalJSON fails only if the text is not JSON. So one damaged document does not make a whole page unreadable.
func (d *runDoc) UnmarshalJSON(text []byte) error {
	*d = runDoc{}
	if d.run, d.err = history.DecodeRun(text); d.err != nil {
		var of struct{ Run struct{ ID string } }
		err := json.Unmarshal(text, &of) // the id may be readable although the document is not
		d.id = of.Run.ID
		if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
			return err
		}
	}
	return nil
}

// result returns the run, or a [history.DamagedRunError].
func (d *runDoc) result() (*mapping.Run, error) {
	if d.err != nil {
		return nil, &history.DamagedRunError{ID: d.id, Err: d.err}
	}
	return d.run, nil
}
