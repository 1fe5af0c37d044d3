package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// ledger records the documents that were taken, and their runs. Its lock also guards the
// packer, the throttle and the finisher, which wait for one another.
type ledger struct {
	ctx        context.Context // of all requests, until Close
	cancel     context.CancelFunc
	background sync.WaitGroup // goroutines that end with ctx

	mu       sync.Mutex
	wake     chan struct{}       // closed and replaced when something changes
	pending  map[uint64]struct{} // hashes of the ids of documents that are not settled
	runs     map[runKey]*runState
	stats    Stats
	progress time.Time // when a document was settled last
	fatal    error     // ends everything
}

// runKey is one version of one run.
type runKey struct{ id, ingest string }

// runState counts a run's documents and their results.
type runState struct {
	queued, pending, indexed, rejected int64

	hashes []uint64 // of the ids of those that were indexed, to count each once
	err    error    // the run cannot be finished
	looked bool     // it is known whether the cluster has other versions of the run
	hidden bool     // it has, so documents are marked as pending
}

func newLedger() *ledger {
	ctx, cancel := context.WithCancel(context.Background())
	return &ledger{
		ctx: ctx, cancel: cancel, wake: make(chan struct{}),
		pending: make(map[uint64]struct{}), runs: make(map[runKey]*runState),
	}
}

// run is the state of a run. The caller has locked mu.
func (l *ledger) run(key runKey) *runState {
	r := l.runs[key]
	if r == nil {
		r = new(runState)
		l.runs[key] = r
	}
	return r
}

// take counts a document that is to be sent. The caller has locked mu.
func (l *ledger) take(e *entry) {
	l.pending[e.hash] = struct{}{}
	e.run.queued++
	e.run.pending++
	l.stats.Queued++
}

// store counts a document that the cluster has confirmed. The caller has locked mu.
func (l *ledger) store(e *entry) {
	l.settle(e)
	e.run.indexed++
	e.run.hashes = append(e.run.hashes, e.hash)
	l.stats.Indexed++
}

// reject counts a document that the cluster rejects for good. Unless it is recorded in the
// reject file, its run fails. The caller has locked mu.
func (l *ledger) reject(r *rejection, isRecorded bool) {
	l.settle(&r.entry)
	r.run.rejected++
	l.stats.Rejected++
	if !isRecorded && r.run.err == nil {
		r.run.err = fmt.Errorf("%w: %s: %w", ErrRejected, r.id, r.err)
	}
}

// conflict counts a document that the cluster has not stored, because it has changed since it was read. The caller has
// locked mu.
func (l *ledger) conflict(e *entry) {
	l.settle(e)
	e.run.err = errConflict
}

func (l *ledger) settle(e *entry) {
	delete(l.pending, e.hash)
	e.run.pending--
	l.progress = time.Now()
}

// lastProgress is when a document was settled last.
func (l *ledger) lastProgress() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.progress
}

// check fails unless all of a run's documents are stored, or rejected and recorded. None may be
// under way. The caller has locked the ledger's mu.
func (r *runState) check() error {
	if r.err == nil && r.queued != r.indexed+r.rejected {
		return fmt.Errorf("%w: sent %d, indexed %d, rejected %d", ErrVerify, r.queued, r.indexed, r.rejected)
	}
	return r.err
}

// different is how many different documents of a run the cluster has confirmed. The caller has
// locked the ledger's mu.
func (r *runState) different() int64 {
	slices.Sort(r.hashes)
	r.hashes = slices.Compact(r.hashes)
	return int64(len(r.hashes))
}

// fail ends everything with err, unless it has ended before.
func (l *ledger) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fatal == nil {
		l.fatal = err
	}
	l.cancel()
	l.changed()
}

// reason is the error that ended everything, if err is only the cancellation that followed.
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

// wait unlocks mu until something changes.
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
