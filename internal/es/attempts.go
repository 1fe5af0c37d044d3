package es

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Attempts is a series of requests for one purpose: each sends what the requests before it left undone. The series
// continues while there is progress, and fails after [Config].GiveUpAfter without progress.
type Attempts struct {
	client   *Client
	started  time.Time
	progress func() time.Time // time of the last progress; if nil, only success counts
	single   bool             // retry only if no connection could be made
	unwatch  func()
	failed   int // failures in a row

	mu    sync.Mutex
	cause error // error of the last request; nil after progress
}

// NewAttempts begins a series. The caller must call End. progress returns the time of the last progress, also that
// of other requests.
func (c *Client) NewAttempts(progress func() time.Time) *Attempts {
	return c.newAttempts(progress, false)
}

func (c *Client) newAttempts(progress func() time.Time, single bool) *Attempts {
	a := &Attempts{client: c, started: time.Now(), progress: progress, single: single}
	a.unwatch = c.waits.watch(a.state)
	return a
}

// End ends the series and its reports to [Config].Waiting.
func (a *Attempts) End() { a.unwatch() }

// Context returns the context of the next request. After a failure it has a deadline: the time when the series gives
// up.
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

// Progress records that a request did at least a part of its work.
func (a *Attempts) Progress() {
	a.failed = 0
	a.setCause(nil)
}

// Wait sleeps before the next request: with backoff, and at least for the time that the server wants (least). It
// fails with [ErrGaveUp] after too long without progress, or if ctx ends.
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

// patience returns the time of the last progress, or of the start if there was none, and when the series gives up.
func (a *Attempts) patience() (last, ends time.Time) {
	last = a.started
	if a.progress != nil && a.progress().After(last) {
		last = a.progress()
	}
	return last, last.Add(max(a.client.giveUp, 0))
}

// state returns the state of the series for reports.
func (a *Attempts) state() waitState {
	last, ends := a.patience()
	if first := a.started.Add(a.client.timeout); first.After(ends) || a.single {
		ends = first // the first request runs until its own timeout
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
