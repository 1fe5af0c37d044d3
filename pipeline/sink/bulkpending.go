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
// document is sent: the cluster is asked once for each run, and for all in a body together.

// mark marks those documents of a body that are of versions which replace others.
func (s *Elastic) mark(b *body) error {
	var keys []runKey
	for i := range b.docs {
		if key := b.docs[i].key; i == 0 || key != keys[len(keys)-1] {
			keys = append(keys, key)
		}
	}
	if err := s.look(s.ctx, keys); err != nil {
		return fmt.Errorf("look for other versions: %w", err)
	}
	if !s.hides(b) {
		return nil
	}
	buf := make([]byte, 0, len(b.buf)+32*len(b.docs))
	for i := range b.docs {
		e := &b.docs[i]
		from, document := len(buf), b.buf[e.doc:e.end]
		buf = append(buf, b.buf[e.start:e.doc]...)
		e.start, e.doc = from, len(buf)
		buf = append(buf, document...)
		if e.hidden {
			var err error
			if buf, err = mapping.MarkPending(buf, e.doc); err != nil {
				return err
			}
		}
		e.end = len(buf)
	}
	b.buf = buf
	return nil
}

// hides reports whether documents of a body are to be marked, and says which.
func (s *Elastic) hides(b *body) (some bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range b.docs {
		e := &b.docs[i]
		e.hidden = e.run.hidden
		some = some || e.hidden
	}
	return some
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
	err := s.again(s.ctx, func() error {
		_, err := s.client.UpdateAll(s.ctx, elastic.Any(marked...), mapping.ShowPending, index)
		return err
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
