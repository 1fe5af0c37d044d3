package es

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Attempts are requests for one purpose, each for what the ones before have left. They are
// repeated as long as there is progress, and then for [Config].GiveUpAfter.
type Attempts struct {
	client   *Client
	started  time.Time
	progress func() time.Time // nil: only the end is progress
	single   bool             // it is sent again only where no connection could be made
	unwatch  func()
	failed   int // in a row

	mu    sync.Mutex
	cause error // why the last one failed; nil if there was progress
}

// NewAttempts begins a series, which End ends. progress is when there was progress last, also
// by other requests.
func (c *Client) NewAttempts(progress func() time.Time) *Attempts {
	return c.newAttempts(progress, false)
}

func (c *Client) newAttempts(progress func() time.Time, single bool) *Attempts {
	a := &Attempts{client: c, started: time.Now(), progress: progress, single: single}
	a.unwatch = c.waits.watch(a.state)
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

// Progress notes that a request did at least a part.
func (a *Attempts) Progress() {
	a.failed = 0
	a.setCause(nil)
}

// Wait waits until the next request, at least for the time that the server wants. It fails
// with [ErrGaveUp], or when ctx ends.
func (a *Attempts) Wait(ctx context.Context, cause error, least time.Duration) error {
	a.setCause(cause)
	delay := max(backoff(a.client.pause, a.failed), least)
	a.failed++
	_, ends := a.patience()
	left := time.Until(ends)
	if left <= 0 {
		return fmt.Errorf("%w for %v: %w", ErrGaveUp, max(a.client.giveUp, 0), cause)
	}
	if err := sleep(ctx, min(delay, left)); err != nil {
		return fmt.Errorf("wait to send request again: %w", err)
	}
	return nil
}

// patience is when there was progress last, or else the series began, and when there will have
// been none for too long.
func (a *Attempts) patience() (last, ends time.Time) {
	last = a.started
	if a.progress != nil && a.progress().After(last) {
		last = a.progress()
	}
	return last, last.Add(max(a.client.giveUp, 0))
}

// state is what the client waits for.
func (a *Attempts) state() waitState {
	last, ends := a.patience()
	if first := a.started.Add(a.client.timeout); first.After(ends) || a.single {
		ends = first // of the first request
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return waitState{progress: last, until: ends, cause: a.cause}
}

func (a *Attempts) setCause(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.cause = err
}
