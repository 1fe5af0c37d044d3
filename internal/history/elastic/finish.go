package elastic

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/pack"
	"github.com/fio2es/fio2es/mapping"
)

// Finish implements [history.Store]. It waits until each document of this version is stored, and then makes the version
// current. It fails with [history.ErrRejected] if the cluster rejects one. Nothing of another version is deleted before all
// of this version is stored. After a failure, a second call continues. It may be called again and again while a followed run grows.
//
// If the cluster has the same run document except for Ingested, the stored Ingested stays.
func (e *Store) Finish(ctx context.Context, run *mapping.Run) error {
	e.isNews(run)
	err := run.Check()
	if err == nil {
		err = e.Prepare(ctx)
	}
	if err == nil {
		err = e.finish(ctx, *run)
	}
	if err != nil {
		return e.fail(ctx, "write to", fmt.Errorf("finish run %s: %w", run.Run.ID, err))
	}
	return nil
}

func (e *Store) finish(ctx context.Context, run mapping.Run) error {
	of := history.Version{Run: run.Run.ID, Ingest: run.Run.Ingest}
	s, err := e.settled(ctx, of)
	if err != nil {
		return err
	}
	e.mu.Lock()
	mayBeNew := !s.hidden && !s.again && !s.finished
	e.mu.Unlock()
	isDone := false
	if mayBeNew {
		isDone, err = e.together(ctx, &finishing{of: of, state: s, run: &run, over: make(chan struct{})})
	}
	if err == nil && !isDone {
		err = e.makeCurrent(ctx, of, s, run)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	switch {
	case err == nil && run.Run.Complete, errors.Is(err, history.ErrReplaced): // then all documents must be put again
		maps.DeleteFunc(e.versions, func(v history.Version, _ *versionState) bool { return v.Run == of.Run })
	case err == nil: // the next Finish must count the earlier documents, too
		s.hidden, s.finished = false, true
	}
	return advised(err)
}

// inOneForm returns a run document with the members of its configuration sorted: after a script, a cluster returns them in another order.
func inOneForm(run mapping.Run) []byte {
	run.Config = mapping.ConfigOf(run.Configuration())
	return run.AppendJSON(nil)
}

// withSummary returns a run document with its summary.
func withSummary(run *mapping.Run) []byte {
	b := run.AppendJSON(nil)
	b = append(b[:len(b)-1], `,"`+mapping.SummaryField+`":"`...)
	return append(base64.StdEncoding.AppendEncode(b, pack.Summary(run)), `"}`...)
}

// finishing is a version that waits to be finished together with others.
type finishing struct {
	of     history.Version
	state  *versionState
	run    *mapping.Run
	isDone bool
	err    error
	over   chan struct{} // closed when these two are known
}

// together finishes a new version with all that wait at the same time: the caller whose turn it is does this for all of them, while others
// come. What is not done then, the caller does alone: a version that replaces something after all, or whose request failed.
func (e *Store) together(ctx context.Context, f *finishing) (isDone bool, err error) {
	e.mu.Lock()
	e.waiting = append(e.waiting, f)
	e.mu.Unlock()
	select {
	case e.turn <- struct{}{}:
	case <-f.over:
		return f.isDone, f.err
	case <-ctx.Done():
		e.mu.Lock()
		e.waiting = slices.DeleteFunc(e.waiting, func(w *finishing) bool { return w == f })
		e.mu.Unlock()
		return false, ctx.Err()
	}
	defer func() { <-e.turn }()
	e.mu.Lock()
	all := e.waiting
	e.waiting = nil
	e.mu.Unlock()
	if len(all) > 0 {
		err = e.makeAllCurrent(ctx, all)
	}
	for _, w := range all {
		if ctx.Err() == nil { // otherwise it is the error of this caller alone
			w.err = err
		}
		close(w.over)
	}
	<-f.over
	return f.isDone, f.err
}

// makeAllCurrent does for new runs what makeCurrent does, with three requests for all. A run that is there is left out.
func (e *Store) makeAllCurrent(ctx context.Context, all []*finishing) error {
	starts := map[string]time.Time{}
	for _, f := range all {
		starts[f.of.Run] = f.run.Run.Start
	}
	if err := e.client.Refresh(ctx, e.intervals()); err != nil {
		return err
	}
	have, outside, err := e.counts(ctx, starts)
	if err != nil {
		return err
	}
	var docs []*document
	var of []*finishing
	size, into := 0, &versionState{stored: map[uint64]struct{}{}}
	for _, f := range all {
		e.mu.Lock()
		isKept, most := f.state.kept, e.body
		e.mu.Unlock()
		isPlain := !isKept && !have.HasOthers(f.of.Run, f.of.Ingest) && len(outside[f.of.Run]) == 0 && have[f.of.Run][f.of.Ingest].Pending == 0
		d := &document{index: mapping.RunsIndex(e.prefix), id: f.of.Run, text: withSummary(f.run), of: into}
		if isPlain && e.compare(f.of, f.state, have) == nil && size+d.bytes() <= most {
			docs, of, size = append(docs, d), append(of, f), size+d.bytes()
		}
	}
	if len(docs) == 0 {
		return nil
	}
	var items []es.Error
	err = e.client.Repeat(ctx, func(ctx context.Context) error { // which reports that it waits
		items, _ = e.bulk(ctx, docs, "true") // after an error each is tried again alone
		return nil
	})
	for i := range items {
		of[i].isDone = items[i].Type == "" && items[i].Status == http.StatusCreated
	}
	return err
}

// makeCurrent makes a version current whose interval documents are all stored. For readers, the run document
// makes it visible. So the interval documents are visible before the run document is stored, and those of other
// versions are deleted only after that. Dashboards add up all interval documents that are not pending: they show the
// other version until it is deleted, and then this one.
func (e *Store) makeCurrent(ctx context.Context, of history.Version, s *versionState, run mapping.Run) error {
	if err := e.client.Refresh(ctx, e.intervals()); err != nil {
		return err
	}
	have, outsides, err := e.counts(ctx, map[string]time.Time{of.Run: run.Run.Start})
	if err != nil {
		return err
	}
	outside := outsides[of.Run]
	if err := e.compare(of, s, have); err != nil {
		return err
	}
	hasOthers, isPending := have.HasOthers(of.Run, of.Ingest) || len(outside) > 0, have[of.Run][of.Ingest].Pending > 0
	e.mu.Lock()
	isKept := s.kept
	e.mu.Unlock()

	// The run document keeps the labels and the note that people gave to the stored one.
	_, err = e.change(ctx, of.Run, func(stored *mapping.Run, err error) (*mapping.Run, error) {
		isThere, isOther := err == nil, false
		switch {
		case isThere:
			e.isNews(stored)                                        // which may be of another workload
			hasOthers = hasOthers || stored.Run.Ingest != of.Ingest // its documents may have become visible after they were counted
			isOther = run.Run.AnnotateAs(&stored.Run)
		case errors.Is(err, history.ErrDamaged):
			e.isNews(nil)
			hasOthers = true
		case !errors.Is(err, history.ErrNotFound):
			return nil, err
		}
		// documents that an interrupted ingest or push has left may have earlier labels
		if isOther || isPending || isKept {
			if err := e.relabel(ctx, &run.Run); err != nil {
				return nil, err
			}
		}
		if isThere && stored.Run.Ingest == of.Ingest {
			same := *stored
			same.Ingested, same.Changes = run.Ingested, nil
			if slices.Equal(inOneForm(same), inOneForm(run)) {
				return nil, nil
			}
		}
		return &run, nil
	})
	if err != nil {
		return fmt.Errorf("store the run's document: %w", err)
	}

	// Another process may have stored another version in the meantime, which is current then, and these deletions may
	// remove documents of it, or its deletions some of these. So the version that is current afterwards must have all of
	// its documents. Each process looks after its own deletions, so the last of them finds what is missing.
	if hasOthers {
		if err := e.removeOthers(ctx, of, outside); err != nil {
			return err
		}
		now, _, err := e.current(ctx, of.Run)
		if errors.Is(err, history.ErrNotFound) {
			return fmt.Errorf("%w: the run was removed", history.ErrReplaced)
		}
		if err != nil {
			return err
		}
		if have, _, err = e.counts(ctx, map[string]time.Time{of.Run: now.Run.Start}); err != nil {
			return err
		}
		if now.Run.Ingest == of.Ingest {
			if err := e.compare(of, s, have); err != nil {
				return err
			}
		} else if !have.IsWhole(now) {
			return fmt.Errorf("%w: the other version is not whole", history.ErrReplaced)
		}
	}
	if isPending {
		return e.show(ctx, of)
	}
	return nil
}

// compare fails with [history.ErrReplaced] if the cluster has another number of documents of a version than it confirmed.
// Another process has deleted them, because it stored another version, or removed the run. A document that was sent
// twice counts once.
func (e *Store) compare(of history.Version, s *versionState, have history.Counts) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	got, want := have[of.Run][of.Ingest].All(), len(s.stored)
	if got == want {
		return nil
	}
	return fmt.Errorf("%w: the cluster lacks documents that it acknowledged: indexed %d, but there are %d", history.ErrReplaced, want, got)
}

// change replaces a run document. edit gets the stored one, or the error of reading it, and returns the new one, or nil
// if nothing changes. If another process changes the stored document in between, change reads it again. The condition
// also makes a late repetition of the request harmless.
func (e *Store) change(ctx context.Context, id string, edit func(*mapping.Run, error) (*mapping.Run, error)) (*mapping.Run, error) {
	var run *mapping.Run
	err := e.client.Repeat(ctx, func(ctx context.Context) error {
		stored, at, err := e.current(ctx, id)
		isOld := err == nil && !at.hasSummary // an earlier fio2es stored it, so it has no workload.all either
		if run, err = edit(stored, err); err != nil {
			return err
		}
		if run == nil && isOld {
			run = stored
		}
		if run == nil { // an earlier attempt may have stored it without an answer, and not made it visible
			return e.client.Refresh(ctx, e.runs())
		}
		request := esapi.IndexRequest{DocumentID: id, Body: es.JSON(withSummary(run)), OpType: "create"}
		if seq, term := int(at.seq), int(at.term); term > 0 {
			request.OpType, request.IfSeqNo, request.IfPrimaryTerm = "", &seq, &term
		}
		err = e.index(ctx, request)
		refusal, _ := errors.AsType[*es.Error](err)
		switch {
		case err == nil || refusal == nil || es.Temporary(err):
		case refusal.Status == http.StatusConflict:
			err = es.Again(fmt.Errorf("change run %q: its document has changed since it was read: %w", id, history.ErrBusy))
		case refusal.Status == http.StatusBadRequest, refusal.Status == http.StatusRequestEntityTooLarge:
			err = fmt.Errorf("%w: %w", history.ErrRejected, err)
		}
		return err
	})
	return run, err
}

// current returns the run with this full id, and the state of its document. Searches may not see it yet.
func (e *Store) current(ctx context.Context, id string) (*mapping.Run, state, error) {
	var answer struct {
		Index  string          `json:"_index"`
		Source json.RawMessage `json:"_source"`
		Seq    int64           `json:"_seq_no"`
		Term   int64           `json:"_primary_term"`
	}
	var err error
	if id != "" {
		err = e.client.Do(ctx, esapi.GetRequest{Index: e.runs(), DocumentID: url.PathEscape(id)}, &answer)
	}
	switch {
	case id == "", es.IsNotFound(err):
		err = fmt.Errorf("read run %q: %w", id, history.ErrNotFound)
	case err == nil && answer.Index == "":
		err = es.ErrAnswer
	}
	if err != nil {
		return nil, state{}, err
	}
	run, err := (&hit{ID: id, Source: answer.Source}).run()
	var has struct {
		Summary json.RawMessage `json:"summary"`
	}
	_ = json.Unmarshal(answer.Source, &has) // run has failed, too
	return run, state{answer.Seq, answer.Term, has.Summary != nil}, err
}

// MakeCurrent implements [history.Store]: it deletes the visible interval documents of a run's other versions, and then
// removes the pending mark from those of this version. In this order dashboards never see two versions. If this version was
// to replace itself in indices of another period, and not all of its documents came, the first ones stay.
func (e *Store) MakeCurrent(ctx context.Context, run, ingest string) error {
	this := history.Version{Run: run, Ingest: ingest}
	err := e.Prepare(ctx)
	if err == nil {
		_, _ = e.settled(ctx, this) // so that no document of a version that was given up comes later
		err = e.client.Refresh(ctx, e.intervals())
	}
	if err == nil {
		err = e.settleVersion(ctx, this)
	}
	if err == nil {
		err = e.show(ctx, this)
	}
	return e.fail(ctx, "write to", err)
}

func (e *Store) settleVersion(ctx context.Context, this history.Version) error {
	now, _, err := e.current(ctx, this.Run)
	if err != nil {
		return err
	}
	have, outsides, err := e.counts(ctx, map[string]time.Time{this.Run: now.Run.Start})
	outside := outsides[this.Run]
	if err == nil && len(outside) > 0 && !have.IsWhole(now) {
		_, err = e.client.DeleteAll(ctx, pendingOf(this), e.intervals())
		outside = nil
	}
	if err == nil {
		err = e.removeOthers(ctx, this, outside)
	}
	return err
}

// removeOthers deletes the interval documents of a run's other versions, and those of this version in some indices.
func (e *Store) removeOthers(ctx context.Context, this history.Version, outside []string) error {
	if err := e.removeParts(ctx, this.Run, this.Ingest); err != nil {
		return err
	}
	others := es.All(es.Term(mapping.RunField, this.Run), es.None(es.Term(mapping.IngestField, this.Ingest)))
	_, err := e.client.DeleteAll(ctx, others, e.intervals())
	for _, index := range outside {
		if err == nil {
			_, err = e.client.DeleteAll(ctx, es.All(es.Term(mapping.RunField, this.Run), es.Term(mapping.IngestField, this.Ingest)), url.PathEscape(index))
		}
	}
	return err
}

// pendingOf finds the documents of a version that have the pending mark.
func pendingOf(this history.Version) any {
	return es.All(es.Term(mapping.RunField, this.Run), es.Term(mapping.IngestField, this.Ingest), es.Term(mapping.PendingField, "true"))
}

// show removes the pending mark from the interval documents of a version.
func (e *Store) show(ctx context.Context, this history.Version) error {
	_, err := e.client.UpdateAll(ctx, pendingOf(this), mapping.ShowPending, nil, e.intervals())
	return err
}
