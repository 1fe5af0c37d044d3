package elastic

import (
	"context"
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
		if err := e.relabel(ctx, &run.Run); err != nil {
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

// relabel sets the labels of a run in those of its interval documents that have others.
func (e *Store) relabel(ctx context.Context, run *mapping.RunInfo) error {
	if err := e.client.Refresh(ctx, e.intervals()); err != nil {
		return err
	}
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
