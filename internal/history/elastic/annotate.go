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

// Annotate implements [history.Store]. The run's document comes first, so an interrupted call leaves
// a run whose interval documents have labels that its document does not have: the next call and
// [history.Check] compare them.
func (e *Store) Annotate(ctx context.Context, runID string, a mapping.Annotation) (*mapping.Run, error) {
	err := a.Check()
	if err == nil {
		err = e.writer.Prepare(ctx)
	}
	var run *mapping.Run
	if err == nil {
		run, err = e.annotate(ctx, runID, a)
	}
	if err == nil {
		err = because(ctx, "relabel documents", e.relabel(ctx, &run.Run))
	}
	return run, e.fail(ctx, "write to", err)
}

// annotate changes the run's document, unless another process changes it at the same time: then it
// begins again.
func (e *reader) annotate(ctx context.Context, runID string, a mapping.Annotation) (*mapping.Run, error) {
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

// replace stores a run's document in place of one in a known state.
func (e *reader) replace(ctx context.Context, run *mapping.Run, state finished) error {
	seq, term := int(state.seq), int(state.term)
	return e.index(ctx, "store run", esapi.IndexRequest{
		DocumentID: run.ID(), Body: es.JSON(run.AppendJSON(nil)), IfSeqNo: &seq, IfPrimaryTerm: &term,
	})
}

func isConflict(err error) bool {
	var e *es.Error
	return errors.As(err, &e) && e.Status == http.StatusConflict
}

// relabel gives the run's labels to those of its interval documents that have others.
func (e *reader) relabel(ctx context.Context, run *mapping.RunInfo) error {
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
