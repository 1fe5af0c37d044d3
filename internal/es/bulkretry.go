package es

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Attempts are requests for one purpose, each for what the ones before have left. They follow
// the rule of all requests: they are repeated as long as there is progress, and for
// [Config].GiveUpAfter beyond.
type Attempts struct {
	client   *Client
	started  time.Time
	progress func() time.Time
	unwatch  func()
	failed   int // in a row

	mu    sync.Mutex
	cause error // why the last one failed; nil if there was progress
}

// NewAttempts begins a series, which End ends. progress is when anything went forward that
// counts for it, also if other requests did it.
func (c *Client) NewAttempts(progress func() time.Time) *Attempts {
	a := &Attempts{client: c, started: time.Now(), progress: progress}
	a.unwatch = c.Watch(a.state)
	return a
}

// End ends the series.
func (a *Attempts) End() { a.unwatch() }

// Context is that of the next request. After a failure it has a deadline: when the series
// would be given up.
func (a *Attempts) Context(ctx context.Context) (context.Context, context.CancelFunc) {
	if a.failed == 0 {
		return ctx, func() {}
	}
	until := time.Now().Add(time.Second)
	if _, ends := a.patience(); ends.After(until) {
		until = ends
	}
	return context.WithDeadlineCause(ctx, until, ErrTimeout)
}

// Progress is to be called when a request did at least a part.
func (a *Attempts) Progress() {
	a.failed = 0
	a.setCause(nil)
}

// Wait waits until the next request is to be sent, at least for the time that the server
// wants. It fails with [ErrGaveUp], or when ctx ends.
func (a *Attempts) Wait(ctx context.Context, cause error, least time.Duration) error {
	a.setCause(cause)
	delay := max(Backoff(a.failed), least)
	a.failed++
	_, ends := a.patience()
	left := time.Until(ends)
	if left <= 0 {
		return fmt.Errorf("%w for %v, last: %w", ErrGaveUp, max(a.client.giveUp, 0), cause)
	}
	return Sleep(ctx, min(delay, left))
}

// patience is when there was progress last, or else the series began, and when there will have
// been none for too long.
func (a *Attempts) patience() (last, ends time.Time) {
	last = a.started
	if p := a.progress(); p.After(last) {
		last = p
	}
	return last, last.Add(max(a.client.giveUp, 0))
}

// state is what is waited for.
func (a *Attempts) state() WaitState {
	last, ends := a.patience()
	if first := a.started.Add(a.client.timeout); first.After(ends) {
		ends = first // of the first request
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return WaitState{Progress: last, Until: ends, Cause: a.cause}
}

func (a *Attempts) setCause(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cause = err
}
