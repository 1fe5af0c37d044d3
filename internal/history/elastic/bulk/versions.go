package bulk

import (
	"context"
	"fmt"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// versions finds out which runs have other versions in the cluster. A new version is stored beside the old one, and
// dashboards would add up the documents of both. So the new documents get [mapping.PendingField], and dashboards
// skip them until the old version is deleted. Whether there is an old version must be known before the first
// document is sent. It is looked up once for each run, for all runs of a body in one request.
//
// Documents with the mark are only created, and never replace a document. A server may carry out a request after it has
// answered 504, and after the mark was removed: then it must not come back. What the id stands for does not change, so a
// document that is there already is stored.
type versions struct {
	*ledger
	client *es.Client
	index  string            // pattern of the indices of interval documents
	latest map[string]string // run.ingest of the last version of each run that was put; mu guards it
}

// mark sets the pending mark in documents of a body whose version replaces another one.
func (v *versions) mark(b *body) error {
	var keys []runKey
	for i := range b.docs {
		if key := b.docs[i].key; i == 0 || key != keys[len(keys)-1] {
			keys = append(keys, key)
		}
	}
	if err := v.look(keys); err != nil {
		return fmt.Errorf("look for other versions: %w", advised(err))
	}
	hidden := make(map[*runState]bool)
	v.mu.Lock()
	for i := range b.docs {
		if r := b.docs[i].run; r.hidden {
			hidden[r] = true
		}
	}
	v.mu.Unlock()
	if len(hidden) == 0 {
		return nil
	}
	marked := body{buf: make([]byte, 0, len(b.buf)+32*len(b.docs))}
	var text []byte
	for _, e := range b.docs {
		text = append(text[:0], b.buf[e.start:e.end]...)
		if hidden[e.run] {
			var err error
			if text, err = mapping.MarkPending(text, e.doc-e.start); err != nil {
				return err
			}
			text = e.createOnly(text)
		}
		e.end = e.start + len(text)
		marked.append(e, text)
	}
	b.buf, b.docs = marked.buf, marked.docs
	return nil
}

// look looks up which of the runs have other versions in the cluster.
func (v *versions) look(keys []runKey) error {
	ids := v.unknown(keys)
	if len(ids) == 0 {
		return nil
	}
	have, err := v.count(v.ctx, ids)
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, key := range keys {
		if r := v.run(key); !r.looked {
			r.looked, r.hidden = true, have.HasOthers(key.id, key.ingest)
		}
	}
	return nil
}

// unknown returns the ids of the runs that must be looked up. If this writer has put another version of a run, the
// answer is known.
func (v *versions) unknown(keys []runKey) (ids []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, key := range keys {
		r := v.run(key)
		if last, ok := v.latest[key.id]; ok && last != key.ingest && !r.looked {
			r.looked, r.hidden = true, true
		}
		if v.latest[key.id] = key.ingest; !r.looked {
			ids = append(ids, key.id)
		}
	}
	return ids
}

// count counts the visible interval documents of runs.
func (v *versions) count(ctx context.Context, ids []string) (history.Counts, error) {
	have := history.Counts{}
	return have, AddCounts(ctx, have, v.client, v.index, es.Terms("run.id", ids))
}

// AddCounts counts the visible interval documents that a query finds in indices, and adds them to to. One request
// counts a thousand versions of runs.
func AddCounts(ctx context.Context, to history.Counts, client *es.Client, indices string, query any) error {
	// part is the field that all parts of a split document have, except the first
	const run, ingest, level, part = "run.id", "run.ingest", "level", "part"
	found, err := client.Groups(ctx, query, []string{run, ingest, level}, []string{part, mapping.PendingField}, indices)
	if err != nil {
		return err
	}
	for _, g := range found {
		l, err := mapping.ParseLevel(g.Key[level])
		if err != nil {
			return fmt.Errorf("count documents: %w", err)
		}
		parts := g.Having[part]
		to.Add(g.Key[run], g.Key[ingest], l, int(g.Documents-parts), int(parts), int(g.Having[mapping.PendingField]))
	}
	return nil
}

// MakeCurrent deletes the visible interval documents of a run's other versions. Then it removes the pending mark
// from those of this version. In this order dashboards never see two versions.
func (s *Writer) MakeCurrent(ctx context.Context, run, ingest string) error {
	v, keys := s.senders.versions, []runKey{{run, ingest}}
	err := s.client.Refresh(ctx, v.index)
	if err == nil {
		err = v.deleteOthers(ctx, keys)
	}
	if err == nil {
		err = v.show(ctx, keys)
	}
	return err
}

// deleteOthers deletes the interval documents of other versions of runs.
func (v *versions) deleteOthers(ctx context.Context, keys []runKey) error {
	var others []any
	for _, key := range keys {
		others = append(others, es.All(es.Term("run.id", key.id), es.None(es.Term("run.ingest", key.ingest))))
	}
	_, err := v.client.DeleteAll(ctx, es.Any(others...), v.index)
	return err
}

// show removes the pending mark from interval documents of these versions.
func (v *versions) show(ctx context.Context, keys []runKey) error {
	var marked []any
	for _, key := range keys {
		marked = append(marked, es.All(es.Term("run.id", key.id), es.Term("run.ingest", key.ingest), es.Term(mapping.PendingField, "true")))
	}
	_, err := v.client.UpdateAll(ctx, es.Any(marked...), mapping.ShowPending, nil, v.index)
	return err
}
