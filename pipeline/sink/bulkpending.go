package sink

import (
	"context"
	"fmt"

	"github.com/fio2es/fio2es/internal/elastic"
	"github.com/fio2es/fio2es/mapping"
)

// A version of a run that replaces another one is stored beside it, and dashboards add up
// what they find. So its documents have [mapping.PendingField], which dashboards leave out,
// until it is the only one. Whether there is another one has to be known before the first
// document is sent.

// Expect looks up, in one request, which of some runs replace other versions. Put does it for
// each run by itself otherwise.
func (s *Elastic) Expect(ctx context.Context, runs []*mapping.Run) error {
	err := s.ready(ctx)
	if err == nil {
		keys := make([]runKey, len(runs))
		for i, r := range runs {
			keys[i] = runKey{r.Run.ID, r.Run.Ingest}
		}
		err = s.look(ctx, keys)
	}
	if err != nil {
		return fmt.Errorf("look for other versions: %w", err)
	}
	return nil
}

// replaces reports whether there is another version of the run in the cluster.
func (s *Elastic) replaces(ctx context.Context, key runKey) (bool, error) {
	s.mu.Lock()
	looked := s.run(key).looked
	s.mu.Unlock()
	if !looked {
		if err := s.look(ctx, []runKey{key}); err != nil {
			return false, fmt.Errorf("look for other versions: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.run(key).hidden, nil
}

// look finds out of which of some runs the cluster has other versions.
func (s *Elastic) look(ctx context.Context, keys []runKey) error {
	ids := s.unknown(keys)
	if len(ids) == 0 {
		return nil
	}
	have, err := s.tally(ctx, ids, s.intervals())
	if err != nil {
		return err
	}
	others := make(map[string][]string)
	for version := range have {
		others[version.First] = append(others[version.First], version.Second)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		r := s.run(key)
		if r.looked {
			continue
		}
		r.looked = true
		for _, ingest := range others[key.id] {
			r.hidden = r.hidden || ingest != key.ingest
		}
	}
	return nil
}

// unknown are the ids of those runs about which the cluster has to be asked. Of a run that
// this sink has stored in another version there is nothing to ask.
func (s *Elastic) unknown(keys []runKey) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, key := range keys {
		r := s.run(key)
		if last, ok := s.latest[key.id]; ok && last != key.ingest && !r.looked {
			r.looked, r.hidden = true, true
		}
		if s.latest[key.id] = key.ingest; !r.looked {
			ids = append(ids, key.id)
		}
	}
	return ids
}

// show takes the mark from the documents of those runs that have it. They are the only
// ones by now.
func (b *ends) show(index string) error {
	s := b.s
	var marked []any
	s.mu.Lock()
	for _, e := range b.runs {
		if e.state.hidden {
			marked = append(marked, all(term("run.id", e.key.id), term("run.ingest", e.key.ingest), term(mapping.PendingField, "true")))
		}
	}
	s.mu.Unlock()
	if len(marked) == 0 {
		return nil
	}
	query := map[string]any{"bool": map[string]any{"should": marked}}
	err := s.changeAll(index, "show the new version", func(limit int) (elastic.Changed, error) {
		return s.client.UpdateByQuery(s.ctx, query, mapping.ShowPending, limit, index)
	})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range b.runs {
		if e.state.queued == e.queued { // what was put since has the mark, too
			e.state.hidden = false
		}
	}
	return nil
}
