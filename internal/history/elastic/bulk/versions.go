package bulk

import (
	"context"
	"fmt"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/mapping"
)

// versions knows which runs replace others. A version of a run that replaces another one is
// stored beside it, and dashboards add up what they find. So its documents have
// [mapping.PendingField], which dashboards leave out, until it is the only one. Whether there
// is another one has to be known before the first document is sent: it is looked up in the
// cluster once for each run, for all in a body together.
type versions struct {
	*ledger
	client *es.Client
	index  string            // pattern of the indices of interval documents
	latest map[string]string // ingest of the version of a run that was put last; mu guards it
}

// mark marks those documents of a body that are of versions which replace others.
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
	hidden := v.hidden(b)
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
		}
		e.end = e.start + len(text)
		marked.append(e, text)
	}
	b.buf, b.docs = marked.buf, marked.docs
	return nil
}

// hidden are the runs of a body whose documents are to be marked.
func (v *versions) hidden(b *body) map[*runState]bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	var hidden map[*runState]bool
	for i := range b.docs {
		if r := b.docs[i].run; r.hidden {
			if hidden == nil {
				hidden = make(map[*runState]bool)
			}
			hidden[r] = true
		}
	}
	return hidden
}

// look finds out of which of some runs the cluster has other versions.
func (v *versions) look(keys []runKey) error {
	ids := v.unknown(keys)
	if len(ids) == 0 {
		return nil
	}
	have, err := v.tally(v.ctx, ids)
	if err != nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, key := range keys {
		if r := v.run(key); !r.looked {
			r.looked, r.hidden = true, hasOther(have, key)
		}
	}
	return nil
}

// hasOther reports whether there are documents of another version of a run.
func hasOther(have map[es.Pair]int64, key runKey) bool {
	for version := range have {
		if version.First == key.id && version.Second != key.ingest {
			return true
		}
	}
	return false
}

// unknown are the ids of those runs that have to be looked up. A run that this sink has stored
// in another version has not.
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

// tally counts the visible interval documents of runs, by run.id and run.ingest.
func (v *versions) tally(ctx context.Context, ids []string) (map[es.Pair]int64, error) {
	return v.client.Tally(ctx, es.Terms("run.id", ids), "run.id", "run.ingest", v.index)
}
