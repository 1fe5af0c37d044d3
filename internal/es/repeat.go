package es

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"
)

// ErrGaveUp means that there was no progress for [Config].GiveUpAfter.
var ErrGaveUp = errors.New("gave up without progress")

// Repeat calls attempt until it succeeds, with a pause after each error that is [Temporary] or of [Again]: [Config].Pause,
// doubled each time up to 30 s, and at least the server's Retry-After. After [Config].GiveUpAfter without progress it
// fails with [ErrGaveUp].
//
// This is the only rule for retries. Waiting is reported to [Config].Waiting, also while an attempt runs.
func (c *Client) Repeat(ctx context.Context, attempt func(context.Context) error) error {
	started, giveUp := time.Now(), max(c.config.GiveUpAfter, 0)
	var cause error // of the last failure; the lock of waits guards it and last
	last := started // time of the last progress
	defer c.waits.watch(func() (Wait, time.Time) {
		ends := last.Add(giveUp)
		if first := started.Add(c.config.Timeout); first.After(ends) {
			ends = first // the first request runs until its own timeout
		}
		return Wait{Until: ends, Cause: cause}, last
	})()
	for failed := 0; ; failed++ {
		next, cancel := ctx, context.CancelFunc(func() {})
		if failed > 0 { // the attempt ends when Repeat gives up, but gets at least a second
			ends := max(time.Until(last.Add(giveUp)), time.Second)
			next, cancel = context.WithTimeoutCause(ctx, ends, ErrTimeout)
		}
		err := attempt(next)
		cancel()
		if err == nil {
			c.waits.succeeded(&last)
			return nil
		}
		if ctx.Err() != nil || !Temporary(err) || c.config.GiveUpAfter < 0 {
			return err
		}
		c.waits.set(&cause, err)
		if again, ok := errors.AsType[*againError](err); ok && again.part {
			failed = 0
			c.waits.succeeded(&last)
		}
		delay := backoff(c.config.Pause, failed)
		if e, ok := errors.AsType[*Error](err); ok {
			delay = max(delay, e.RetryAfter)
		}
		left := time.Until(last.Add(giveUp))
		if left <= 0 {
			return fmt.Errorf("%w for %v: %w", ErrGaveUp, giveUp, err)
		}
		select {
		case <-time.After(min(delay, left)):
		case <-ctx.Done():
			return fmt.Errorf("wait to send request again: %w", ctx.Err())
		}
	}
}

// backoff returns the pause before the next attempt: first, doubled for each attempt up to 30 s, less a random part
// of up to one half. The random part keeps many clients from coming back at the same moment.
func backoff(first time.Duration, attempt int) time.Duration {
	const most = 30 * time.Second
	d := most
	if attempt < 16 {
		d = min(first<<attempt, most)
	}
	return d - rand.N(d/2+1)
}

// Again returns an error after which [Client.Repeat] tries again, also if err is not [Temporary].
func Again(err error) error { return &againError{err, false} }

// Further is like Again, and means that a part has succeeded, which is progress.
func Further(err error) error { return &againError{err, true} }

type againError struct {
	error
	part bool
}

// Unwrap returns the error itself.
func (a *againError) Unwrap() error { return a.error }

// Wait is a report for [Config].Waiting: the client is waiting for a server.
type Wait struct {
	Server string        // service and its addresses
	For    time.Duration // time since the last progress
	Until  time.Time     // when the client gives up
	Cause  error         // error of the last request; nil if it has no answer yet
}

// A wait is reported after some seconds, because a busy server may need a few, and then every half minute.
const (
	reportFirst = 8 * time.Second
	reportAgain = 30 * time.Second
)

// waits reports the waits of a client. Waits at the same time share their reports.
type waits struct {
	report func(Wait)
	server string

	mu       sync.Mutex
	reported time.Time // time of the last report
	progress time.Time // of any request of the client
}

// watch reports a wait to [Config].Waiting until stop is called, unless there is progress. It calls state, which returns
// Until, Cause and the time of the last progress, in another goroutine, and stop waits for that call. So the caller of
// stop must not hold a lock that state needs.
func (w *waits) watch(state func() (Wait, time.Time)) (stop func()) {
	if w.report == nil {
		return func() {}
	}
	hasEnded := false
	var timer *time.Timer
	w.mu.Lock()
	defer w.mu.Unlock()
	timer = time.AfterFunc(reportFirst, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if hasEnded {
			return
		}
		wait, progress := state()
		if progress.Before(w.progress) {
			progress = w.progress
		}
		wait.Server, wait.For = w.server, time.Since(progress)
		if wait.For >= reportFirst && (w.reported.Before(w.progress) || time.Since(w.reported) >= reportAgain) {
			if reach, ok := errors.AsType[*reachError](wait.Cause); ok {
				wait.Cause = errors.New(reach.short())
			}
			w.reported = time.Now()
			w.report(wait)
		}
		timer.Reset(time.Second)
	})
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		hasEnded = true
		timer.Stop()
	}
}

func (w *waits) set(cause *error, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*cause = err
}

// succeeded records progress, and its time. A later wait counts as a new one.
func (w *waits) succeeded(at *time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	*at = time.Now()
	w.progress = *at
}
