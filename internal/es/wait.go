package es

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// ErrGaveUp: there was no progress for [Config].GiveUpAfter.
var ErrGaveUp = errors.New("gave up without progress")

// Wait describes to [Config].Waiting that the client waits for a server.
type Wait struct {
	Server string        // service and addresses
	For    time.Duration // since the last progress
	Until  time.Time     // when the wait ends with an error
	Cause  error         // why the last request failed; nil if it has no answer yet
}

// A wait is reported after some seconds, and then every half minute. A failed request is
// reported earlier than one without an answer, because a busy server may need a few seconds.
const (
	reportFailure = 4 * time.Second
	reportSilence = 8 * time.Second
	reportAgain   = 30 * time.Second
)

// waits reports the waits of a client. Several at the same time are reported as one.
type waits struct {
	report func(Wait)
	server string

	mu       sync.Mutex
	reported time.Time // the last time
	progress time.Time // of any request
}

// waitState is the state of one wait: when there was progress last, when the wait ends, and why
// the last request failed (nil if it has no answer yet).
type waitState struct {
	progress, until time.Time
	cause           error
}

// watch reports a wait to [Config].Waiting until stop is called, as long as there is no progress.
// The first report comes within eight seconds. It calls state in another goroutine, which stop
// waits for, so the caller of stop must not have locked what state locks.
func (w *waits) watch(state func() waitState) (stop func()) {
	if w.report == nil {
		return func() {}
	}
	ended := false
	var timer *time.Timer
	w.mu.Lock()
	defer w.mu.Unlock()
	timer = time.AfterFunc(reportFailure, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if ended {
			return
		}
		s, now := state(), time.Now()
		if s.progress.Before(w.progress) {
			s.progress = w.progress
		}
		due := w.due(s)
		if !now.Before(due) {
			w.reported = now
			w.report(Wait{Server: w.server, For: now.Sub(s.progress), Until: s.until, Cause: short(s.cause)})
			due = now.Add(reportAgain)
		}
		timer.Reset(min(due.Sub(now), reportFailure))
	})
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		ended = true
		timer.Stop()
	}
}

// short is an error without the name of the server.
func short(err error) error {
	var reach *reachError
	if errors.As(err, &reach) {
		return errors.New(reach.short())
	}
	return err
}

// due is when a wait has to be reported. The caller has locked w.mu.
func (w *waits) due(s waitState) time.Time {
	due := s.progress.Add(reportSilence)
	if s.cause != nil {
		due = s.progress.Add(reportFailure)
	}
	if again := w.reported.Add(reportAgain); w.reported.After(w.progress) && again.After(due) {
		due = again // another wait for the same server was reported
	}
	return due
}

// succeeded notes progress: a wait that follows is a new one.
func (w *waits) succeeded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.progress = time.Now()
}

const firstPause = 100 * time.Millisecond

// backoff is how long to wait before attempt+1 is made: the first pause, doubled each time up
// to 30 s, less a random part of up to a half, so that many do not come back at once.
func backoff(first time.Duration, attempt int) time.Duration {
	const most = 30 * time.Second
	d := most
	if attempt < 16 {
		d = min(first<<attempt, most)
	}
	return d - rand.N(d/2+1)
}

// Pause waits after an attempt that did not succeed, longer each time: see [Config].Pause.
func (c *Client) Pause(ctx context.Context, attempt int) error {
	return sleep(ctx, backoff(c.pause, attempt))
}

// sleep waits, unless ctx ends before: then it returns the context's error.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
