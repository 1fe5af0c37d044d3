package elastic

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// ErrVerify means that the cluster lacks documents that it acknowledged.
var ErrVerify = errors.New("the cluster lacks documents that it acknowledged")

// errConflict means that a document was not replaced, because another process has changed it since it was read.
var errConflict = fmt.Errorf("the run's document has changed since it was read: %w", history.ErrBusy)

// pendingRun is a run that waits until it is finished.
type pendingRun struct {
	of        version
	run       mapping.Run
	abandoned bool // the caller no longer waits; the writer's mu guards it
	done      chan error

	state  *versionState
	queued int  // documents put until the run was settled
	others bool // the cluster has interval documents of other versions
}

// Finish implements [history.Store]. It waits until each document of this version is stored or in the reject file, and
// makes the version current as finishAll says. Nothing of another version is deleted before all of this version is
// stored. After a failure, a second call continues. It may be called again and again while a followed run grows.
//
// Runs that are finished at the same time share requests. So to finish many small runs quickly, call Finish for many
// of them at once. If the cluster has the same run document except for Ingested, the stored Ingested stays.
func (e *Store) Finish(ctx context.Context, run *mapping.Run) error {
	if !run.Run.Live() {
		e.news.Store(true)
	}
	err := run.Check()
	if err == nil {
		err = e.Prepare(ctx)
	}
	if err == nil {
		err = e.finish(ctx, run)
	}
	if err != nil {
		return e.fail(ctx, "write to", fmt.Errorf("finish run %s: %w", run.Run.ID, err))
	}
	return nil
}

// finish lets a goroutine finish the run together with others, and waits.
func (e *Store) finish(ctx context.Context, run *mapping.Run) error {
	w := e.writer
	r := &pendingRun{of: version{run.Run.ID, run.Run.Ingest}, run: *run, done: make(chan error, 1)}
	w.mu.Lock()
	if w.fatal != nil {
		defer w.mu.Unlock()
		return w.fatal
	}
	r.state = w.state(r.of)
	w.waiting = append(w.waiting, r)
	w.changed()
	if !w.isFinishing {
		w.isFinishing = true
		w.background.Go(func() {
			for runs := e.settled(); runs != nil; runs = e.settled() {
				e.finishAll(runs)
			}
		})
	}
	w.mu.Unlock()
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		w.mu.Lock()
		defer w.mu.Unlock()
		r.abandoned = true
		return ctx.Err()
	}
}

// settled waits for runs without documents under way, and returns them, at most one version of a run. A run with
// documents under way does not delay the others. It returns nil when no run waits.
//
// While documents are under way, runs are finished each second. After an interruption, runs that are not finished must
// be sent again, so the time is short. Each time the cluster refreshes its indices, so it is not shorter.
func (e *Store) settled() []*pendingRun {
	const every, most = time.Second, 256 // most runs at a time, because one query names them all
	w := e.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		var now, later []*pendingRun
		taken := make(map[string]bool)
		for _, r := range w.waiting {
			switch {
			case r.abandoned:
			case w.fatal != nil:
				r.done <- w.fatal
			case r.state.err != nil:
				r.done <- r.state.err
			case r.state.pending > 0 || len(now) == most || taken[r.of.id]:
				later = append(later, r)
			default:
				taken[r.of.id] = true
				now = append(now, r)
			}
		}
		pause := time.Until(w.finished.Add(every))
		switch w.waiting = append(now, later...); {
		case len(w.waiting) == 0:
			w.isFinishing = false
			return nil
		case len(now) > 0 && (w.bodies == 0 || len(now) == most || pause <= 0):
			w.waiting, w.finished = later, time.Now()
			return now
		case w.bodies == 1: // if this is the open body, all others are settled
			e.flush()
		}
		if pause > 0 {
			time.AfterFunc(pause, func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.changed()
			})
		}
		_ = w.wait(w.ctx) // whether the store has ended is looked up above
	}
}

// finishAll makes the stored versions of runs current, and reports to those who wait. For readers, a run document makes
// its version visible. So interval documents are visible before the run document is stored, and those of other
// versions are deleted only after that. Dashboards add up all interval documents that are not pending: they show the
// other version until it is deleted, and then this one.
//
// A run that fails does not delay the others. If a request fails, all runs fail.
func (e *Store) finishAll(runs []*pendingRun) {
	w := e.writer
	runs, err := e.makeCurrent(w.ctx, runs)
	e.each(runs, func(r *pendingRun) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		// the next Finish of a run that is not complete must count its earlier documents, too
		if err == nil && r.run.Run.Complete && r.state.pending == 0 {
			delete(w.runs, r.of)
		}
		if err == nil {
			r.done <- nil
		}
		return err
	})
}

// each calls do for runs, and returns those for which it succeeds. The others get the error.
func (e *Store) each(runs []*pendingRun, do func(r *pendingRun) error) []*pendingRun {
	return slices.DeleteFunc(runs, func(r *pendingRun) bool {
		err := do(r)
		if err == nil {
			return false
		}
		e.writer.mu.Lock()
		defer e.writer.mu.Unlock()
		if e.writer.fatal != nil && errors.Is(err, context.Canceled) {
			err = e.writer.fatal // the cancellation followed from it
		}
		r.done <- advised(err)
		return true
	})
}

// makeCurrent is finishAll without reports of success. It returns the runs that were not reported yet, and an error
// that is of all of them.
func (e *Store) makeCurrent(ctx context.Context, runs []*pendingRun) ([]*pendingRun, error) {
	// Count the documents of each run, and find out which runs have other versions. The indices are refreshed also with
	// NoVerify, because deleting finds only visible documents.
	if err := e.client.Refresh(ctx, e.intervals()); err != nil {
		return runs, err
	}
	have, err := e.counts(ctx, ids(runs))
	if err != nil {
		return runs, err
	}
	runs = e.each(runs, func(r *pendingRun) error {
		r.others = have.HasOthers(r.of.id, r.of.ingest)
		return e.compare(r, have)
	})
	if runs, err = e.storeRuns(ctx, runs); err != nil || len(runs) == 0 {
		return runs, err
	}
	if err := e.client.Refresh(ctx, e.runs()); err != nil {
		return runs, err
	}

	if runs, err = e.deleteOthers(ctx, runs); err != nil {
		return runs, err
	}
	var versions []version
	for _, r := range runs {
		if r.isHidden(e) {
			versions = append(versions, r.of)
		}
	}
	if len(versions) > 0 {
		if err := e.show(ctx, versions); err != nil {
			return runs, err
		}
		e.writer.mu.Lock()
		defer e.writer.mu.Unlock()
		for _, r := range runs {
			if r.state.queued == r.queued { // otherwise documents were put in the meantime, and these are pending, too
				r.state.hidden = false
			}
		}
	}
	return runs, nil
}

// deleteOthers deletes the interval documents of other versions of the runs, if there are any. Another process may have
// stored another version in the meantime, which is current then, and these deletions may have removed documents of it,
// or its deletions some of these. So the version that is current afterwards must have all of its documents. Each
// process looks after its own deletions, so the last of them finds what is missing.
func (e *Store) deleteOthers(ctx context.Context, runs []*pendingRun) ([]*pendingRun, error) {
	var replacing []*pendingRun
	var versions []version
	for _, r := range runs {
		if r.others {
			replacing, versions = append(replacing, r), append(versions, r.of)
		}
	}
	if len(replacing) == 0 {
		return runs, nil
	}
	if err := e.removeOthers(ctx, versions); err != nil {
		return runs, err
	}
	if err := e.client.Refresh(ctx, e.runs()); err != nil {
		return runs, err
	}
	current, err := e.stored(ctx, ids(replacing))
	if err != nil {
		return runs, err
	}
	have, err := e.counts(ctx, ids(replacing))
	if err != nil {
		return runs, err
	}
	return e.each(runs, func(r *pendingRun) error {
		now, isThere := current[r.of.id]
		switch {
		case !r.others:
			return nil
		case !isThere:
			return e.replaced(r, errors.New("the run was removed"))
		case now.run == nil:
			return fmt.Errorf("its document: %w", history.ErrDamaged)
		case now.run.Run.Ingest == r.of.ingest:
			return e.compare(r, have)
		case !have.IsWhole(now.run):
			return e.replaced(r, errors.New("the other version is not whole"))
		}
		return nil
	}), nil
}

func ids(runs []*pendingRun) (ids []string) {
	for _, r := range runs {
		ids = append(ids, r.of.id)
	}
	return ids
}

// compare fails with [history.ErrReplaced] if the cluster has another number of documents of a run than it confirmed.
// Another process has deleted them, because it stored another version, or removed the run. A document that was sent
// twice counts once.
func (e *Store) compare(r *pendingRun, have history.Counts) error {
	e.writer.mu.Lock()
	s := r.state
	r.queued = s.queued
	got, want := have[r.of.id][r.of.ingest].All(), len(s.stored)
	err := fmt.Errorf("%w: sent %d, indexed %d, rejected %d, but there are %d", ErrVerify, s.queued, want, s.rejected, got)
	e.writer.mu.Unlock()
	if got == want || e.opt.NoVerify {
		return nil
	}
	return e.replaced(r, err)
}

// replaced returns the error of a run that lost documents. All of its documents must be put again.
func (e *Store) replaced(r *pendingRun, why error) error {
	e.writer.mu.Lock()
	defer e.writer.mu.Unlock()
	if r.state.pending == 0 {
		delete(e.writer.runs, r.of)
	}
	return fmt.Errorf("%w: %w", history.ErrReplaced, why)
}

// storeRuns stores the run documents. Each keeps the labels and the note that people gave to the stored one. If
// another process changes a stored document in between, as fio2es label does, storeRuns reads it again.
func (e *Store) storeRuns(ctx context.Context, runs []*pendingRun) (stored []*pendingRun, err error) {
	const most = 20 // attempts
	for try := 0; len(runs) > 0; try++ {
		if try == most {
			e.each(runs, func(*pendingRun) error { return errConflict })
			break
		}
		if try > 0 {
			if err := errors.Join(e.client.Pause(ctx, try/4), e.client.Refresh(ctx, e.runs())); err != nil {
				return append(stored, runs...), err
			}
		}
		there, err := e.stored(ctx, ids(runs))
		if err != nil {
			return append(stored, runs...), err
		}
		w, docs := e.writer, map[*pendingRun]*document{}
		var list []*document
		for _, r := range runs {
			d := &document{index: mapping.RunsIndex(e.prefix), id: r.of.id, hash: xxhash.Sum64String(r.of.id), isNew: true}
			d.run = &versionState{stored: map[uint64]struct{}{}}
			if s := there[r.of.id]; s != nil {
				if err := e.keep(ctx, r, s.run); err != nil {
					return append(stored, runs...), err
				}
				d.isNew, d.at = false, &s.state
			}
			d.text = r.run.AppendJSON(nil)
			w.mu.Lock()
			if !r.abandoned {
				docs[r], list = d, append(list, d)
				w.take(d)
			}
			w.mu.Unlock()
		}
		if err := e.send(list); err != nil { // it does not wait for interval documents of other runs
			w.fail(err)
		}
		var again []*pendingRun
		e.each(runs, func(r *pendingRun) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			d := docs[r]
			switch {
			case d == nil:
				return context.Canceled // abandoned: its caller does not wait
			case w.fatal != nil:
				return fmt.Errorf("store the run's document: %w", w.fatal)
			case d.run.err == errConflict: //nolint:errorlint // it is set as it is
				again = append(again, r)
			case d.run.err != nil || d.run.rejected > 0:
				return fmt.Errorf("store the run's document: %w", cmp.Or(d.run.err, ErrRejected))
			default:
				stored = append(stored, r)
			}
			return nil
		})
		runs = again
	}
	return stored, nil
}

// keep copies labels, the note, and further values from the stored document of a run. It is nil if it cannot be read,
// because it is replaced.
func (e *Store) keep(ctx context.Context, r *pendingRun, stored *mapping.Run) error {
	if stored == nil {
		r.others = true
		return nil
	}
	r.others = r.others || stored.Run.Ingest != r.of.ingest // its documents may have become visible after they were counted
	// documents that an interrupted ingest has left may have earlier labels
	if r.run.Run.AnnotateAs(&stored.Run) || r.isHidden(e) {
		if err := e.relabel(ctx, &r.run.Run); err != nil {
			return err
		}
	}
	if stored.Run.Ingest == r.of.ingest {
		same := *stored
		same.Ingested, same.Changes = r.run.Ingested, nil
		if slices.Equal(same.AppendJSON(nil), r.run.AppendJSON(nil)) {
			r.run = *stored
		}
	}
	return nil
}

func (r *pendingRun) isHidden(e *Store) bool {
	e.writer.mu.Lock()
	defer e.writer.mu.Unlock()
	return r.state.hidden
}

// storedRun is a stored run document and its state. The run is nil if it cannot be read.
type storedRun struct {
	run *mapping.Run
	state
}

// stored returns the stored documents of runs, by id.
func (e *Store) stored(ctx context.Context, ids []string) (map[string]*storedRun, error) {
	there := map[string]*storedRun{}
	return there, chunked(ids, func(some []string) error {
		for h, err := range e.runDocs(ctx, "look for the runs' documents", es.Terms("run.id", some), len(some)+1) {
			if err != nil {
				return err
			}
			run, _ := h.run()
			there[h.ID] = &storedRun{run, state{h.Seq, h.Term}}
		}
		return nil
	})
}

// MakeCurrent implements [history.Store]: it deletes the visible interval documents of a run's other versions, and then
// removes the pending mark from those of this version. In this order dashboards never see two versions.
func (e *Store) MakeCurrent(ctx context.Context, run, ingest string) error {
	err, this := e.client.Refresh(ctx, e.intervals()), []version{{run, ingest}}
	if err == nil {
		err = e.removeOthers(ctx, this)
	}
	if err == nil {
		err = e.show(ctx, this)
	}
	return e.fail(ctx, "write to", err)
}

// removeOthers deletes the interval documents of other versions of runs.
func (e *Store) removeOthers(ctx context.Context, these []version) error {
	var others []any
	for _, v := range these {
		others = append(others, es.All(es.Term("run.id", v.id), es.None(es.Term("run.ingest", v.ingest))))
	}
	_, err := e.client.DeleteAll(ctx, es.Any(others...), e.intervals())
	return err
}

// show removes the pending mark from interval documents of these versions.
func (e *Store) show(ctx context.Context, these []version) error {
	var marked []any
	for _, v := range these {
		marked = append(marked, es.All(es.Term("run.id", v.id), es.Term("run.ingest", v.ingest), es.Term(mapping.PendingField, "true")))
	}
	_, err := e.client.UpdateAll(ctx, es.Any(marked...), mapping.ShowPending, nil, e.intervals())
	return err
}
