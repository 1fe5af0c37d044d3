package sink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/elastic"
	"github.com/fio2es/fio2es/mapping"
)

// ErrVerify is a run of which the cluster has not the documents that it confirmed.
var ErrVerify = errors.New("the cluster has not what was sent")

// Finish implements [Sink]. It waits until each document of this version of the run is
// stored or in the reject file, counts them in the cluster ([ErrVerify]), stores the
// run's document, deletes the interval documents of all other versions of the run, and
// counts again. When it fails nothing of another version has been deleted before all of
// this one was there; calling it again goes on.
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

func (s *Elastic) finish(ctx context.Context, run *mapping.Run) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()

	key := runKey{run.Run.ID, run.Run.Ingest}
	s.mu.Lock()
	state := s.run(key)
	s.mu.Unlock()
	err := s.settled(ctx, state)
	if err == nil {
		err = s.rejects.sync()
	}
	if err == nil {
		err = s.replace(ctx, run, state)
	}
	if err != nil {
		return s.because(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if run.Run.Complete && state.pending == 0 { // while it goes on, the next Finish counts all of it
		delete(s.runs, key)
	}
	return nil
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

// settled waits until nothing of a run is under way.
func (s *Elastic) settled(ctx context.Context, r *runState) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seal()
	for r.pending > 0 && s.fatal == nil && r.err == nil {
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
	switch {
	case s.fatal != nil:
		return s.fatal
	case r.err != nil:
		return r.err
	case r.queued != r.indexed+r.rejected:
		return fmt.Errorf("%w: sent %d, indexed %d, rejected %d", ErrVerify, r.queued, r.indexed, r.rejected)
	}
	return nil
}

// replace makes this version of the run the only one.
func (s *Elastic) replace(ctx context.Context, run *mapping.Run, state *runState) error {
	intervals := s.opt.Prefix + "-latency.*"
	id, ingest := term("run.id", run.Run.ID), term("run.ingest", run.Run.Ingest)
	this := map[string]any{"bool": map[string]any{"filter": []any{id, ingest}}}
	others := map[string]any{"bool": map[string]any{"filter": []any{id}, "must_not": []any{ingest}}}

	// Also without verifying: what is not visible is not deleted.
	if err := s.again(ctx, func() error { return s.client.Refresh(ctx, intervals) }); err != nil {
		return err
	}
	if err := s.verify(ctx, state, this, intervals); err != nil {
		return err
	}
	if err := s.putRun(ctx, run); err != nil {
		return err
	}
	// Until readers see the new document, they look for the documents of the old version.
	if err := s.again(ctx, func() error { return s.client.Refresh(ctx, mapping.RunsIndex(s.opt.Prefix)) }); err != nil {
		return err
	}
	if err := s.deleteAll(ctx, others, intervals); err != nil {
		return err
	}
	return s.verify(ctx, state, id, intervals)
}

func term(field, value string) map[string]any {
	return map[string]any{"term": map[string]any{field: value}}
}

// verify compares what the cluster has with what it has confirmed. Documents that came
// twice count once.
func (s *Elastic) verify(ctx context.Context, r *runState, query any, index string) error {
	if s.opt.NoVerify {
		return nil
	}
	s.mu.Lock()
	slices.Sort(r.hashes)
	r.hashes = slices.Compact(r.hashes)
	want, state := int64(len(r.hashes)), *r
	s.mu.Unlock()
	var got int64
	err := s.again(ctx, func() (err error) {
		got, err = s.client.Count(ctx, query, index)
		return err
	})
	if err == nil && got != want {
		err = fmt.Errorf("%w: sent %d, indexed %d (%d different), rejected %d, but there are %d",
			ErrVerify, state.queued, state.indexed, want, state.rejected, got)
	}
	return err
}

// putRun stores the run's document.
func (s *Elastic) putRun(ctx context.Context, run *mapping.Run) error {
	var c chunk
	var state runState
	c.add(mapping.RunsIndex(s.opt.Prefix), run.ID(), runKey{}, run.AppendJSON)
	if err := s.take(ctx, &c, &state); err != nil {
		return fmt.Errorf("store the run's document: %w", err)
	}
	err := s.settled(ctx, &state)
	if err == nil && state.rejected > 0 {
		err = errors.Join(ErrRejected, s.rejects.sync())
	}
	if err != nil {
		return fmt.Errorf("store the run's document: %w", err)
	}
	return nil
}

// deleteAll deletes in steps that are short enough not to time out.
func (s *Elastic) deleteAll(ctx context.Context, query any, index string) error {
	const step, patience = 20_000, 8
	for stalled := 0; ; {
		var done elastic.Deleted
		err := s.again(ctx, func() (err error) {
			done, err = s.client.DeleteByQuery(ctx, query, step, index)
			return err
		})
		switch {
		case err != nil:
			return err
		case done.Deleted == 0 && done.Conflicts == 0:
			return nil
		case done.Deleted > 0:
			stalled = 0
			continue
		case stalled == patience:
			return fmt.Errorf("delete other versions of the run: %d documents change all the time; does another process write them?", done.Conflicts)
		}
		if err := elastic.Sleep(ctx, elastic.Backoff(stalled)); err != nil {
			return err
		}
		stalled++
		if err := s.again(ctx, func() error { return s.client.Refresh(ctx, index) }); err != nil {
			return err
		}
	}
}

// again does what can be done twice without harm until it succeeds, for as long as that
// can be hoped for.
func (s *Elastic) again(ctx context.Context, do func() error) error {
	until := time.Now().Add(s.opt.MaxRetryTime)
	for attempt := 0; ; attempt++ {
		err := do()
		var e *elastic.Error
		known := errors.As(err, &e)
		switch {
		case err == nil:
			return nil
		case known && advise(e) != nil:
			return fmt.Errorf("%w: %w", advise(e), err)
		case !elastic.Temporary(err) || ctx.Err() != nil:
			return err
		case !time.Now().Before(until):
			return fmt.Errorf("%w for %v, last: %w", ErrNoProgress, s.opt.MaxRetryTime, err)
		}
		delay := elastic.Backoff(attempt)
		if known {
			delay = max(delay, e.RetryAfter)
		}
		if err := elastic.Sleep(ctx, min(delay, time.Until(until))); err != nil {
			return err
		}
	}
}
