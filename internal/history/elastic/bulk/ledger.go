package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ledger counts the documents that the writer took, and their results, for each run. Its lock also guards the
// packer, the throttle and the finisher, because they wait for one another.
type ledger struct {
	ctx        context.Context // context of all requests; ends with Close
	cancel     context.CancelFunc
	background sync.WaitGroup // goroutines that end after ctx

	mu       sync.Mutex
	wake     chan struct{}       // closed and replaced when anything changes
	pending  map[uint64]struct{} // hashes of the ids of documents that are not settled
	runs     map[runKey]*runState
	rejected int       // documents rejected for good
	progress time.Time // when a document was last settled
	fatal    error     // the error that ended the writer
}

// runKey is one version of one run.
type runKey struct{ id, ingest string }

// runState counts the documents of one version of a run by result.
type runState struct {
	queued, pending, indexed, rejected int64

	hashes []uint64 // hashes of the ids of indexed documents, so that each counts once
	err    error    // why the run cannot be finished
	looked bool     // whether the cluster has other versions of the run is known
	hidden bool     // the cluster has other versions, so new documents are marked as pending
}

func newLedger() *ledger {
	ctx, cancel := context.WithCancel(context.Background())
	return &ledger{
		ctx: ctx, cancel: cancel, wake: make(chan struct{}),
		pending: make(map[uint64]struct{}), runs: make(map[runKey]*runState),
	}
}

// run returns the state of a run. The caller has locked mu.
func (l *ledger) run(key runKey) *runState {
	r := l.runs[key]
	if r == nil {
		r = new(runState)
		l.runs[key] = r
	}
	return r
}

// take counts a document that will be sent. The caller has locked mu.
func (l *ledger) take(e *entry) {
	l.pending[e.hash] = struct{}{}
	e.run.queued++
	e.run.pending++
}

// store counts a document that the cluster confirmed. The caller has locked mu.
func (l *ledger) store(e *entry) {
	l.settle(e)
	e.run.indexed++
	e.run.hashes = append(e.run.hashes, e.hash)
}

// reject counts a document that the cluster rejected for good. If it is not in the reject file, its run fails. The
// caller has locked mu.
func (l *ledger) reject(r *rejection, isRecorded bool) {
	l.settle(&r.entry)
	r.run.rejected++
	l.rejected++
	if !isRecorded && r.run.err == nil {
		r.run.err = fmt.Errorf("%w: %s: %w", ErrRejected, r.id, r.err)
	}
}

// conflict counts a document that the cluster did not store, because the stored document has changed since it was
// read. The caller has locked mu.
func (l *ledger) conflict(e *entry) {
	l.settle(e)
	e.run.err = errConflict
}

func (l *ledger) settle(e *entry) {
	delete(l.pending, e.hash)
	e.run.pending--
	l.progress = time.Now()
}

// lastProgress returns when a document was last settled.
func (l *ledger) lastProgress() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.progress
}

// check fails unless each document of a run is stored, or rejected and in the reject file. No document may be under
// way. The caller has locked the ledger's mu.
func (r *runState) check() error {
	if r.err == nil && r.queued != r.indexed+r.rejected {
		return fmt.Errorf("%w: sent %d, indexed %d, rejected %d", ErrVerify, r.queued, r.indexed, r.rejected)
	}
	return r.err
}

// different returns how many documents with different ids the cluster confirmed. The caller has locked the ledger's
// mu.
func (r *runState) different() int64 {
	slices.Sort(r.hashes)
	r.hashes = slices.Compact(r.hashes)
	return int64(len(r.hashes))
}

// fail ends the writer with err, unless it has ended before.
func (l *ledger) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == nil {
		l.fatal = err
	}
	l.cancel()
	l.changed()
}

// reason returns the error that ended the writer if err is only the cancellation that followed from it. Otherwise it
// returns err.
func (l *ledger) reason(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal != nil && errors.Is(err, context.Canceled) {
		return l.fatal
	}
	return err
}

// changed wakes all goroutines in wait. The caller has locked mu.
func (l *ledger) changed() {
	close(l.wake)
	l.wake = make(chan struct{})
}

// wait waits until something changes. mu is unlocked in the meantime.
func (l *ledger) wait(ctx context.Context) error {
	wake := l.wake
	l.mu.Unlock()
	defer l.mu.Lock()
	select {
	case <-wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
