package elastic

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic/bulk"
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
		run, err = e.relabelled(ctx, run)
	}
	return run, e.fail(ctx, "write to", err)
}

// relabelled gives the labels of a run to its interval documents. If another process has annotated the
// run meanwhile, its labels may have been overwritten: then they are set again. It returns the run as
// it is then.
func (e *reader) relabelled(ctx context.Context, run *mapping.Run) (*mapping.Run, error) {
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
		DocumentID: run.ID(), Body: es.JSON(bulk.RunDocument(run)), IfSeqNo: &seq, IfPrimaryTerm: &term,
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
	return bulk.Relabel(ctx, e.client, e.intervals(), run)
}
