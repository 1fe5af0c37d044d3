package bulk

import (
	"errors"
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
)

// batch is a set of runs that are finished together. A run that fails does not delay the others. If a request fails,
// all runs of the batch fail.
type batch struct {
	*ledger
	client   *es.Client
	senders  *senders
	versions *versions
	light    lightPacker
	index    string // of run documents
	noVerify bool
	runs     []*pendingRun // without those that failed
}

// finish makes the stored versions of the runs current. For readers, a run document makes its version visible. So
// interval documents are visible before the run document is stored, and those of other versions are deleted only
// after that. Dashboards add up all interval documents that are not pending: they show the other version until it is
// deleted, and then this one.
func (b *batch) finish() {
	refresh := func(index string) func() error {
		return func() error { return b.client.Refresh(b.ctx, index) }
	}
	for _, step := range []func() error{
		refresh(b.versions.index), // also with NoVerify, because deleting finds only visible documents
		b.verify,
		b.storeAll,
		refresh(b.index),
		b.deleteOthers,
		b.show,
	} {
		if len(b.runs) == 0 {
			return
		}
		if err := step(); err != nil {
			b.each(func(*pendingRun) error { return err })
			return
		}
	}
	b.each(func(r *pendingRun) error {
		b.forget(r)
		r.done <- nil
		return nil
	})
}

// each calls do for each run, and drops the runs for which it fails.
func (b *batch) each(do func(r *pendingRun) error) {
	b.runs = slices.DeleteFunc(b.runs, func(r *pendingRun) bool {
		err := do(r)
		if err != nil {
			r.done <- advised(b.reason(err))
		}
		return err != nil
	})
}

// ids returns the ids of the runs.
func (b *batch) ids() (ids []string) {
	for _, r := range b.runs {
		ids = append(ids, r.key.id)
	}
	return ids
}

// verify compares, for each run, the number of documents in the cluster with the number that the cluster confirmed,
// and records which runs have other versions. A document that was sent twice counts once.
func (b *batch) verify() error {
	have, err := b.versions.count(b.ctx, b.ids())
	if err != nil {
		return err
	}
	b.each(func(r *pendingRun) error {
		r.others = have.HasOthers(r.key.id, r.key.ingest)
		if err := b.compare(r, have[r.key.id][r.key.ingest].All()); err != nil {
			return b.replaced(r, err)
		}
		return nil
	})
	return nil
}

// replaced returns the error of a run of which documents are gone. Another process has deleted them, because it stored
// another version, or removed the run. All of them must be put again.
func (b *batch) replaced(r *pendingRun, why error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.state.pending == 0 {
		delete(b.ledger.runs, r.key)
	}
	return fmt.Errorf("%w: %w", history.ErrReplaced, why)
}

// compare fails if the cluster has another number of documents of a run than it confirmed.
func (b *batch) compare(r *pendingRun, got int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	s := r.state
	r.queued = s.queued
	if want := s.different(); int64(got) != want && !b.noVerify {
		return fmt.Errorf("%w: sent %d, indexed %d (%d different), rejected %d, but there are %d",
			ErrVerify, s.queued, s.indexed, want, s.rejected, got)
	}
	return nil
}

// deleteOthers deletes the interval documents of other versions of the runs, if there are any. Another process may have
// stored another version in the meantime, which is current then, and these deletions may have removed documents of it,
// or its deletions some of these. So deleteOthers fails with [history.ErrReplaced] unless the version that is current
// afterwards has all of its documents. Each process does so after its own deletions, so the last of them finds what
// is missing.
func (b *batch) deleteOthers() error {
	var keys []runKey
	var ids []string
	for _, r := range b.runs {
		if r.others {
			keys, ids = append(keys, r.key), append(ids, r.key.id)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	err := b.versions.deleteOthers(b.ctx, keys)
	if err == nil {
		err = b.client.Refresh(b.ctx, b.index)
	}
	if err != nil {
		return err
	}
	current, err := b.stored(es.Terms("run.id", ids), len(ids), "run.id", "run.ingest", "documents")
	if err != nil {
		return err
	}
	have, err := b.versions.count(b.ctx, ids)
	if err != nil {
		return err
	}
	b.each(func(r *pendingRun) error {
		now := current[r.key.id]
		switch {
		case !r.others:
			return nil
		case now == nil:
			return b.replaced(r, errors.New("the run was removed"))
		case now.doc.Run.Ingest == r.key.ingest:
			if err := b.compare(r, have[r.key.id][r.key.ingest].All()); err != nil {
				return b.replaced(r, err)
			}
		case !have.IsWhole(&now.doc):
			return b.replaced(r, errors.New("the other version is not whole"))
		}
		return nil
	})
	return nil
}

// show removes the pending mark from the documents of runs whose documents have it. Their other versions are deleted
// before.
func (b *batch) show() error {
	var keys []runKey
	b.mu.Lock()
	for _, r := range b.runs {
		if r.state.hidden {
			keys = append(keys, r.key)
		}
	}
	b.mu.Unlock()
	if len(keys) == 0 {
		return nil
	}
	if err := b.versions.show(b.ctx, keys); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, r := range b.runs {
		if r.state.queued == r.queued { // otherwise documents were put in the meantime, and these have the mark too
			r.state.hidden = false
		}
	}
	return nil
}

// forget removes the state of a run that is complete. For a run that is not, the next Finish must count its earlier
// documents too, so its state stays.
func (b *batch) forget(r *pendingRun) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.run.Run.Complete && r.state.pending == 0 {
		delete(b.ledger.runs, r.key)
	}
}
