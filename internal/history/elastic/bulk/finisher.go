package bulk

import (
	"context"
	"errors"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// ErrVerify means that the cluster lacks documents that it acknowledged.
var ErrVerify = errors.New("the cluster lacks documents that it acknowledged")

// finisher finishes runs whose documents are settled, together, so that they share requests. A run with documents
// under way does not delay the others.
type finisher struct {
	*ledger
	packer *packer
	batch  batch // a batch without runs, which each batch is copied from

	waiting   []*pendingRun // mu guards this and the next two
	isRunning bool
	last      time.Time // time of the last batch
}

// pendingRun is a run that waits until it is finished.
type pendingRun struct {
	key       runKey
	run       mapping.Run
	text      []byte // its run document
	abandoned bool   // the caller no longer waits; the ledger's mu guards it
	done      chan error

	state  *runState
	queued int64 // documents put until the run was settled
	others bool  // the cluster has interval documents of other versions
	at     *docState
}

// finishEvery is the time between batches while documents are under way. After an interruption, runs that are not
// finished must be sent again, so it is short. Each batch makes the cluster refresh its indices, so it is not
// shorter.
const (
	finishEvery = time.Second
	mostRuns    = 256 // most runs of one batch, because one query names them all
)

// finish waits until a run is finished, and returns its error.
func (f *finisher) finish(ctx context.Context, run *mapping.Run) error {
	r := &pendingRun{
		key: runKey{run.Run.ID, run.Run.Ingest}, run: *run, text: run.AppendJSON(nil), done: make(chan error, 1),
	}
	f.mu.Lock()
	if f.fatal != nil {
		defer f.mu.Unlock()
		return f.fatal
	}
	r.state = f.run(r.key)
	f.waiting = append(f.waiting, r)
	f.changed()
	if !f.isRunning {
		f.isRunning = true
		f.background.Go(f.work)
	}
	f.mu.Unlock()
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		f.mu.Lock()
		defer f.mu.Unlock()
		r.abandoned = true
		return ctx.Err()
	}
}

// work finishes batches until no run waits.
func (f *finisher) work() {
	for {
		b := f.next()
		if b == nil {
			return
		}
		b.finish()
	}
}

// next waits for runs that can be finished, and returns them as a batch. A batch has at most one version of a run.
// next returns nil when no run waits.
func (f *finisher) next() *batch {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		now, later := f.settled()
		f.waiting = append(now, later...)
		pause := time.Until(f.last.Add(finishEvery))
		isIdle := f.packer.used == 0 || f.fatal != nil
		switch {
		case len(f.waiting) == 0:
			f.isRunning = false
			return nil
		case len(now) > 0 && (isIdle || len(now) == mostRuns || pause <= 0):
			f.waiting, f.last = later, time.Now()
			b := f.batch
			b.runs = now
			return &b
		case f.packer.used == 1: // if this is the open body, all others are settled
			f.packer.flush()
		}
		f.waitFor(pause)
	}
}

// settled returns the runs without documents under way (now) and the others (later). It removes runs that failed or
// were abandoned. The caller has locked mu.
func (f *finisher) settled() (now, later []*pendingRun) {
	taken := make(map[string]bool)
	for _, r := range f.waiting {
		isSettled := r.state.pending == 0 || r.state.err != nil
		switch {
		case r.abandoned:
		case f.fatal != nil:
			r.done <- f.fatal
		case !isSettled || len(now) == mostRuns || taken[r.key.id]:
			later = append(later, r)
		default:
			if err := r.state.check(); err != nil {
				r.done <- err
				continue
			}
			taken[r.key.id] = true
			now = append(now, r)
		}
	}
	return now, later
}

// waitFor waits until something changes, or for at most most if that is positive. mu is unlocked in the meantime.
func (f *finisher) waitFor(most time.Duration) {
	if most > 0 {
		timer := time.AfterFunc(most, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.changed()
		})
		defer timer.Stop()
	}
	_ = f.wait(f.ctx) // the caller checks whether the writer has ended
}
