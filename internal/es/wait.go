package es

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"
)

// ErrGaveUp means that there was no progress for [Config].GiveUpAfter.
var ErrGaveUp = errors.New("gave up without progress")

// Wait is a report for [Config].Waiting: the client is waiting for a server.
type Wait struct {
	Server string        // service and its addresses
	For    time.Duration // time since the last progress
	Until  time.Time     // when the client gives up
	Cause  error         // error of the last request; nil if it has no answer yet
}

// A wait is reported after some seconds, and then every half minute. A failed request is reported earlier than a
// request without an answer, because a busy server may need a few seconds.
const (
	reportFailure = 4 * time.Second
	reportSilence = 8 * time.Second
	reportAgain   = 30 * time.Second
)

// waits reports the waits of a client. Waits at the same time share their reports.
type waits struct {
	report func(Wait)
	server string

	mu       sync.Mutex
	reported time.Time // time of the last report
	progress time.Time // of any request of the client
}

// waitState is the state of one wait: the time of the last progress, when the client gives up, and the error of the
// last request (nil if it has no answer yet).
type waitState struct {
	progress, until time.Time
	cause           error
}

// watch reports a wait to [Config].Waiting until stop is called, unless there is progress. The first report comes
// within eight seconds. watch calls state in another goroutine, and stop waits for that call. So the caller of stop
// must not hold a lock that state needs.
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

// short returns the text of an error without the name of the server.
func short(err error) error {
	var reach *reachError
	if errors.As(err, &reach) {
		return errors.New(reach.short())
	}
	return err
}

// due returns when a wait has to be reported. The caller has locked w.mu.
func (w *waits) due(s waitState) time.Time {
	due := s.progress.Add(reportSilence)
	if s.cause != nil {
		due = s.progress.Add(reportFailure)
	}
	if again := w.reported.Add(reportAgain); w.reported.After(w.progress) && again.After(due) {
		due = again // a request that waits for the same server was reported already
	}
	return due
}

// succeeded records progress. A later wait counts as a new one.
func (w *waits) succeeded() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.progress = time.Now()
}

const firstPause = 100 * time.Millisecond

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

// Pause waits after a failed attempt, longer after each: see [Config].Pause.
func (c *Client) Pause(ctx context.Context, attempt int) error {
	return sleep(ctx, backoff(c.pause, attempt))
}

// sleep waits for d. If ctx ends first, it returns the context's error.
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
