package sink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// ErrVerify is a run of which the cluster has not the documents that it confirmed.
var ErrVerify = errors.New("the cluster has not what was sent")

// Finish implements [Sink]. It waits until each document of this version of the run is
// stored or in the reject file, counts them in the cluster ([ErrVerify]), stores the
// run's document, and then, if the cluster has interval documents of other versions of
// the run, deletes those, counts again, and takes the mark from its own, by which dashboards
// have left them out. When it fails nothing of another version has
// been deleted before all of this one was there; calling it again goes on.
//
// Runs that are finished at the same time share the requests that this takes: to finish
// many small runs quickly, call it for many of them at once.
//
// When the cluster has the run's document already, equal in all but Ingested, that stays
// what it was.
func (s *Elastic) Finish(ctx context.Context, run *mapping.Run) error {
	err := run.Check()
	if err == nil {
		err = s.ready(ctx)
	}
	if err == nil {
		err = s.finish(ctx, run)
	}
	if err != nil {
		return fmt.Errorf("finish run %s: %w", run.Run.ID, err)
	}
	return nil
}

// ending is a run that is to be finished.
type ending struct {
	key      runKey
	complete bool
	state    *runState
	queued   int64 // documents that were put when it was settled
	want     int64 // different documents that the cluster has confirmed
	others   bool  // the cluster has documents of other versions
	done     chan error

	mu   sync.Mutex
	run  *mapping.Run // nil when nobody waits any more: it is the caller's again
	text []byte       // the run's document
}

// finish hands a run over to those who end runs, and waits.
func (s *Elastic) finish(ctx context.Context, run *mapping.Run) error {
	e := &ending{
		key: runKey{run.Run.ID, run.Run.Ingest}, complete: run.Run.Complete, run: run, done: make(chan error, 1),
	}
	s.mu.Lock()
	if s.fatal != nil {
		defer s.mu.Unlock()
		return s.fatal
	}
	e.state = s.run(e.key)
	s.endings = append(s.endings, e)
	s.changed()
	if !s.endsRuns {
		s.endsRuns = true
		s.senders.Go(s.endRuns)
	}
	s.mu.Unlock()
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
		e.mu.Lock()
		defer e.mu.Unlock()
		e.run = nil
		return ctx.Err()
	}
}

// abandoned tells whether nobody waits for it any more. Then it is left as it is, unless
// its document has been taken already.
func (e *ending) abandoned() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.run == nil
}

// encode makes the run's document, with the time at which it was stored first, if stored
// is the same but for that. It fails when nobody waits any more.
func (e *ending) encode(stored *mapping.Run) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.run == nil {
		return false
	}
	if stored != nil {
		same := *e.run
		same.Ingested = stored.Ingested
		if e.text = same.AppendJSON(nil); slices.Equal(e.text, stored.AppendJSON(nil)) {
			return true
		}
	}
	e.text = e.run.AppendJSON(nil)
	return true
}

// How often runs are ended while documents are under way, unless a query is full of them.
// An interruption loses what was sent since. The more often, the more the cluster has to
// refresh.
const (
	endEvery = time.Second
	mostEnds = 256 // runs that one query names
)

// endRuns ends runs for as long as there are some: all whose documents are settled at a
// time, so that the more there are the less each of them costs. A run whose documents are
// still under way does not hold up the others.
func (s *Elastic) endRuns() {
	for {
		b := s.nextEnds()
		if b == nil {
			return
		}
		b.end()
	}
}

// nextEnds waits for runs to end together, each of them once; nil when there are none left.
func (s *Elastic) nextEnds() *ends {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		s.endings = slices.DeleteFunc(s.endings, (*ending).abandoned)
		if len(s.endings) == 0 {
			s.endsRuns = false
			return nil
		}
		now, later := s.endable()
		pause := time.Until(s.lastEnd.Add(endEvery))
		isIdle := s.bodies == 0 || s.fatal != nil
		switch {
		case len(now) > 0 && (isIdle || len(now) == mostEnds || pause <= 0):
			s.endings, s.lastEnd = later, time.Now()
			return &ends{s: s, runs: now}
		case s.bodies == 1: // if it is the open one, nothing else is under way
			s.seal()
		}
		s.waitFor(pause)
	}
}

// endable are the runs that can be ended now, none of whose documents is under way, and the
// others; s.mu is held.
func (s *Elastic) endable() (now, later []*ending) {
	taken := make(map[string]bool)
	for _, e := range s.endings {
		isSettled := e.state.pending == 0 || e.state.err != nil || s.fatal != nil
		if !isSettled || len(now) == mostEnds || taken[e.key.id] {
			later = append(later, e)
			continue
		}
		taken[e.key.id] = true
		now = append(now, e)
	}
	return now, later
}

// waitFor gives s.mu up until something changed, or for some time if that is positive.
func (s *Elastic) waitFor(most time.Duration) {
	if most > 0 {
		timer := time.AfterFunc(most, func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.changed()
		})
		defer timer.Stop()
	}
	_ = s.wait(s.ctx) // the caller looks whether it is over
}

// settled waits until nothing of a run is under way, and returns how many documents it has.
func (s *Elastic) settled(r *runState) (queued int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r.pending > 0 && s.fatal == nil && r.err == nil {
		if err := s.wait(s.ctx); err != nil && s.fatal == nil {
			return 0, err
		}
	}
	switch {
	case s.fatal != nil:
		return 0, s.fatal
	case r.err != nil:
		return 0, r.err
	case r.queued != r.indexed+r.rejected:
		return 0, fmt.Errorf("%w: sent %d, indexed %d, rejected %d", ErrVerify, r.queued, r.indexed, r.rejected)
	}
	return r.queued, nil
}

// ended forgets a run that is over.
func (s *Elastic) ended(e *ending) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e.complete && e.state.pending == 0 { // while it goes on, the next Finish counts all of it
		delete(s.runs, e.key)
	}
}

// because is what ended everything, if that is why something else was cancelled.
func (s *Elastic) because(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fatal != nil && errors.Is(err, context.Canceled) {
		return s.fatal
	}
	return err
}
