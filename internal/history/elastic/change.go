package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

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
	if err == nil {
		run, err = e.relabelled(ctx, run)
	}
	return run, e.fail(ctx, "write to", err)
}

// relabelled sets the labels of a run in its interval documents, and returns the run. Another process may change the
// labels at the same time, so relabelled then reads the run again and repeats.
func (e *Store) relabelled(ctx context.Context, run *mapping.Run) (*mapping.Run, error) {
	for range e.limits.settle {
		err := e.client.Refresh(ctx, e.intervals())
		if err == nil {
			err = e.relabel(ctx, &run.Run)
		}
		if err != nil {
			return nil, because(ctx, "relabel documents", err)
		}
		now, _, err := e.fetch(ctx, run.Run.ID)
		if err != nil || now.Run.Ingest == run.Run.Ingest && now.Run.Edit() == run.Run.Edit() {
			return run, err
		}
		run = now
	}
	return nil, fmt.Errorf("annotate run %q: %w", run.Run.ID, history.ErrBusy)
}

// annotate changes the run document. If another process changes it at the same time, annotate reads it again and
// repeats.
func (e *Store) annotate(ctx context.Context, runID string, a mapping.Annotation) (*mapping.Run, error) {
	for try := range e.limits.settle {
		if err := e.client.Refresh(ctx, e.runs()); err != nil {
			return nil, err
		}
		run, state, err := e.fetch(ctx, runID)
		if err != nil {
			return nil, err
		}
		run.Run.Annotate(a)
		err = e.replace(ctx, run, state)
		if !isConflict(err) {
			return run, err
		}
		if err := e.client.Pause(ctx, try/4); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("annotate run %q: %w", runID, history.ErrBusy)
}

// replace stores a run document if the stored one is still in this state.
func (e *Store) replace(ctx context.Context, run *mapping.Run, state finished) error {
	seq, term := int(state.seq), int(state.term)
	return e.index(ctx, "store run", esapi.IndexRequest{
		DocumentID: run.ID(), Body: es.JSON(RunDocument(run)), IfSeqNo: &seq, IfPrimaryTerm: &term,
	})
}

func isConflict(err error) bool {
	var e *es.Error
	return errors.As(err, &e) && e.Status == http.StatusConflict
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
	query := es.All(es.Term("run.id", run.ID), es.Term("run.ingest", run.Ingest), others)
	_, err := e.client.UpdateAll(ctx, query, mapping.Relabel, map[string]any{"labels": labels, "edit": edit}, e.intervals())
	return err
}

// removedID is a field that only documents of removed runs have.
const removedID = mapping.RemovedField + ".id"

// MarkRemoved implements [history.Store]. The document is in the index of runs. It has no time and no run.id, so
// Kibana does not show it and no query for runs finds it.
func (e *Store) MarkRemoved(ctx context.Context, r *mapping.Removed) error {
	err := e.Prepare(ctx)
	if err == nil {
		err = e.index(ctx, "store removed run", esapi.IndexRequest{DocumentID: r.DocumentID(), Body: es.JSON(r.AppendJSON(nil))})
	}
	return e.fail(ctx, "write to", err)
}

// index stores one document in the index of runs and makes it visible.
func (e *Store) index(ctx context.Context, verb string, r esapi.IndexRequest) error {
	r.Index, r.Refresh = e.runs(), "true"
	return e.do(ctx, verb, es.Limited{Request: r}, nil)
}

// isRun finds run documents, but not documents about removed runs.
func isRun() any { return es.None(es.Exists(removedID)) }

// Restore implements [history.Store].
func (e *Store) Restore(ctx context.Context, runIDs ...string) error {
	if len(runIDs) == 0 {
		return ctx.Err()
	}
	_, err := e.remove(ctx, e.runs(), es.All(es.Terms(removedID, runIDs)))
	return e.fail(ctx, "write to", err)
}

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

// UnmarshalJSON never fails, so that one damaged document does not make a whole page unreadable.
func (d *runDoc) UnmarshalJSON(text []byte) error {
	run, err := history.DecodeRun(text)
	*d = runDoc{run, run.Run.ID, err}
	if err != nil {
		var of struct{ Run struct{ ID string } }
		_ = json.Unmarshal(text, &of) // the id may be readable although the document is not
		d.id = of.Run.ID
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
