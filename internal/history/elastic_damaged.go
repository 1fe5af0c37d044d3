package history

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/fio2es/fio2es/mapping"
)

// removeDamaged removes the interval documents of a run's level that cannot be read, and
// returns where they were.
func (e *Elastic) removeDamaged(ctx context.Context, run string, level mapping.Level) ([]string, error) {
	err := e.refresh(ctx, e.intervals()) // a removal sees what is refreshed
	var names, ids []string
	if err == nil {
		names, ids, err = e.damaged(ctx, run, level)
	}
	for from := 0; err == nil && from < len(ids); from += mostTerms {
		_, err = e.remove(ctx, e.level(level), all(term("run.id", run), terms("_id", ids[from:min(from+mostTerms, len(ids))])))
	}
	return names, e.fail(ctx, "repair", err)
}

// damaged finds the interval documents of a run's level that cannot be read, with their ids.
func (e *Elastic) damaged(ctx context.Context, run string, level mapping.Level) (names, ids []string, err error) {
	const verb, most = "find damaged documents", 500
	point, err := e.openPIT(ctx, e.level(level))
	if err != nil {
		return nil, nil, err
	}
	defer func() { e.closePIT(ctx, point) }()
	r := request{Size: min(most, e.limits.pageHits), Query: all(term("run.id", run)), Sort: []any{ascending("@timestamp")}}
	for {
		r.PIT = &pit{ID: point, KeepAlive: e.keepAlive()}
		var page rawPage
		if err := e.ask(ctx, verb, http.MethodPost, "/_search?allow_partial_search_results=false", &r, &page); err != nil {
			return nil, nil, err
		}
		if page.Hits == nil || page.PIT == "" || page.TimedOut {
			return nil, nil, fmt.Errorf("%s: %w", verb, ErrIncomplete)
		}
		if err := page.Shards.check(verb); err != nil {
			return nil, nil, err
		}
		for _, h := range page.Hits.Hits {
			if d := new(mapping.Interval); json.Unmarshal(h.Source, d) != nil || len(h.Source) == 0 {
				names, ids = append(names, h.Index+"/"+h.ID), append(ids, h.ID)
			}
		}
		n := len(page.Hits.Hits)
		if point = page.PIT; n < r.Size {
			return names, ids, nil
		}
		last := page.Hits.Hits[n-1].Sort
		if len(last) != len(r.Sort)+1 || isSame(last, r.After) {
			return nil, nil, fmt.Errorf("%s: %w", verb, errOdd)
		}
		r.After = last
	}
}

// rawPage is an answer with documents as they are, and where they are.
type rawPage struct {
	PIT      string `json:"pit_id"`
	TimedOut bool   `json:"timed_out"`
	Shards   shards `json:"_shards"`
	Hits     *struct {
		Hits []struct {
			Index  string            `json:"_index"`
			ID     string            `json:"_id"`
			Source json.RawMessage   `json:"_source"`
			Sort   []json.RawMessage `json:"sort"`
		} `json:"hits"`
	} `json:"hits"`
}
