package bulk

import (
	"context"
	"errors"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// ErrVerify: the cluster lacks documents that it acknowledged.
var ErrVerify = errors.New("the cluster lacks documents that it acknowledged")

// finisher finishes runs whose documents are settled, all of them together, so that they share
// requests. A run whose documents are still under way does not delay the others.
type finisher struct {
	*ledger
	packer *packer
	batch  batch // without runs

	waiting   []*pendingRun // mu guards these three
	isRunning bool
	last      time.Time // when runs were finished last
}

// pendingRun is a run that waits to be finished.
type pendingRun struct {
	key       runKey
	run       mapping.Run
	text      []byte // its document
	abandoned bool   // the caller no longer waits; the ledger's mu guards it
	done      chan error

	state  *runState
	queued int64 // documents that had been put when it was settled
	others bool  // the cluster has documents of other versions
	at     *docState
}

// How often runs are finished while documents are under way, and how many at most. Runs that are
// not finished have to be sent again after an interruption; finishing makes the cluster refresh.
const (
	finishEvery = time.Second
	mostRuns    = 256 // that one query names
)

// finish waits until a run is finished.
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

// work finishes runs as long as there are some.
func (f *finisher) work() {
	for {
		b := f.next()
		if b == nil {
			return
		}
		b.finish()
	}
}

// next waits for runs to finish together, each run once. It is nil when none are left.
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
		case f.packer.used == 1: // if that is the open one, nothing else is under way
			f.packer.flush()
		}
		f.waitFor(pause)
	}
}

// settled returns the runs without documents under way, and the others. It drops those that
// have failed or were abandoned. The caller has locked mu.
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

// waitFor unlocks mu until something changes, or at most for some time if that is positive.
func (f *finisher) waitFor(most time.Duration) {
	if most > 0 {
		timer := time.AfterFunc(most, func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			f.changed()
		})
		defer timer.Stop()
	}
	_ = f.wait(f.ctx) // the caller checks whether everything has ended
}
