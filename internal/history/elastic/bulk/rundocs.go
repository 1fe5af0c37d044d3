package bulk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// docState is the state of a stored document when it was read. With it, Elasticsearch refuses to replace the
// document if the document has changed since.
type docState struct{ seq, term int64 }

// errConflict means that a document was not replaced, because another process has changed it since it was read.
var errConflict = fmt.Errorf("the run's document has changed since it was read: %w", history.ErrBusy)

// storeAll stores the run documents. Each keeps the labels and the note that people gave to the stored one. If
// another process changes a stored document in between, as fio2es label does, storeAll reads it again.
func (b *batch) storeAll() error {
	const most = 20 // attempts
	var stored []*pendingRun
	var err error
	for try := 0; len(b.runs) > 0 && err == nil; try++ {
		if try == most {
			b.each(func(*pendingRun) error { return errConflict })
			break
		}
		if try > 0 {
			err = errors.Join(b.client.Pause(b.ctx, try/4), b.client.Refresh(b.ctx, b.index))
		}
		var conflicts []*pendingRun
		if err == nil {
			err = b.keep()
		}
		if err == nil {
			conflicts = b.store()
			stored, b.runs = append(stored, b.runs...), conflicts
		}
	}
	b.runs = append(stored, b.runs...)
	return err
}

// keep copies labels and notes from the stored run documents to the runs, and Ingested if nothing else changes.
// Interval documents get the labels, too.
func (b *batch) keep() error {
	stored, err := b.stored(es.Terms("run.id", b.ids()), len(b.runs), "run.id", "run.ingest", "run.labels", "run.edited", "run.note")
	if err != nil {
		return err
	}
	same := false
	for _, r := range b.runs {
		s := stored[r.key.id]
		if r.at = nil; s == nil {
			continue
		}
		r.at = &s.docState
		same = same || s.doc.Run.Ingest == r.key.ingest
		r.others = r.others || s.doc.Run.Ingest != r.key.ingest // its documents may have become visible after they were counted
		// documents that an interrupted ingest has left may have earlier labels
		if !r.run.Run.AnnotateAs(&s.doc.Run) && !r.state.hidden {
			continue
		}
		r.text = r.run.AppendJSON(nil)
		if err := Relabel(b.ctx, b.client, b.versions.index, &r.run.Run); err != nil {
			return err
		}
	}
	if !same {
		return nil
	}
	return b.keepIngested()
}

// Relabel sets the labels of a run in its visible interval documents that still have other labels.
func Relabel(ctx context.Context, client *es.Client, indices string, run *mapping.RunInfo) error {
	labels, edit := run.Labels, run.Edit()
	if labels == nil {
		labels = map[string]string{}
	}
	others := es.Exists(mapping.EditField)
	if edit != "" {
		others = es.None(es.Term(mapping.EditField, edit))
	}
	query := es.All(es.Term("run.id", run.ID), es.Term("run.ingest", run.Ingest), others)
	_, err := client.UpdateAll(ctx, query, mapping.Relabel, map[string]any{"labels": labels, "edit": edit}, indices)
	return err
}

// keepIngested copies Ingested and Changes from stored run documents that are otherwise equal. It reads the stored
// documents of the same versions; in most calls there are none.
func (b *batch) keepIngested() error {
	var ingests []string
	for _, r := range b.runs {
		ingests = append(ingests, r.key.ingest)
	}
	query := es.All(es.Terms("run.id", b.ids()), es.Terms("run.ingest", ingests))
	stored, err := b.stored(query, len(b.runs))
	if err != nil {
		return err
	}
	for _, r := range b.runs {
		if s := stored[r.key.id]; s != nil {
			first, changes := s.doc.Ingested, s.doc.Changes
			s.doc.Ingested, s.doc.Changes = r.run.Ingested, nil
			if slices.Equal(s.doc.AppendJSON(nil), r.text) {
				s.doc.Ingested, s.doc.Changes = first, changes
				r.run, r.text = s.doc, s.doc.AppendJSON(nil)
			}
		}
	}
	return nil
}

// storedRun is a stored run document and its state.
type storedRun struct {
	doc mapping.Run
	docState
}

// stored returns the run documents that a query finds, by id: the given fields, or all. Of a document that cannot be read
// it returns only the state, because it will be replaced.
func (b *batch) stored(query any, most int, fields ...string) (map[string]*storedRun, error) {
	var answer struct {
		es.Whole
		Hits struct {
			Hits []struct {
				ID     string          `json:"_id"`
				Source json.RawMessage `json:"_source"`
				Seq    int64           `json:"_seq_no"`
				Term   int64           `json:"_primary_term"`
			}
		}
	}
	request := map[string]any{"size": most, "query": query, "seq_no_primary_term": true}
	if len(fields) > 0 {
		request["_source"] = fields
	}
	err := b.client.Do(b.ctx, esapi.SearchRequest{Index: []string{b.index}, Body: es.JSON(request)}, &answer)
	var e *es.Error
	if errors.As(err, &e) && e.Status == http.StatusNotFound && e.Type == es.MissingType {
		return nil, nil // no run has been stored yet
	}
	if err != nil {
		return nil, fmt.Errorf("look for the runs' documents: %w", err)
	}
	runs := make(map[string]*storedRun)
	for _, h := range answer.Hits.Hits {
		run := &storedRun{docState: docState{h.Seq, h.Term}}
		if json.Unmarshal(h.Source, &run.doc) != nil {
			run.doc = mapping.Run{}
		}
		runs[h.ID] = run
	}
	return runs, nil
}

// store stores the documents of the runs whose callers still wait. It does not wait for interval documents of other
// runs. It returns the runs whose stored documents have changed since they were read.
func (b *batch) store() (conflicts []*pendingRun) {
	b.mu.Lock()
	b.runs = slices.DeleteFunc(b.runs, func(r *pendingRun) bool { return r.abandoned })
	b.mu.Unlock()
	states := make(map[*pendingRun]*runState, len(b.runs))
	var full body
	var text []byte
	for _, r := range b.runs {
		e := newEntry(r.key.id, runKey{})
		e.at = r.at
		text = e.encode(text, b.index, func(dst []byte) []byte { return append(dst, mapping.WithLight(r.text, b.light.pack(&r.run))...) })
		if r.at == nil {
			text = e.createOnly(text)
		}
		e.run = new(runState)
		states[r] = e.run
		b.mu.Lock()
		b.take(&e)
		b.mu.Unlock()
		full.append(e, text)
	}
	if len(full.docs) > 0 {
		b.senders.sendNow(&full)
	}
	b.runs = slices.DeleteFunc(b.runs, func(r *pendingRun) bool {
		if states[r].err == errConflict { //nolint:errorlint // it is set as it is
			conflicts = append(conflicts, r)
			return true
		}
		return false
	})
	b.each(func(r *pendingRun) error {
		b.mu.Lock()
		defer b.mu.Unlock()
		err := states[r].check()
		switch {
		case b.fatal != nil:
			err = b.fatal
		case err == nil && states[r].rejected > 0:
			err = ErrRejected
		}
		if err != nil {
			return fmt.Errorf("store the run's document: %w", err)
		}
		return nil
	})
	return conflicts
}
