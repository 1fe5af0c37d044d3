package sink

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/elastic"
)

// ErrNoProgress is a cluster that has taken nothing for as long as the client waits.
var ErrNoProgress = elastic.ErrGaveUp

// carrier brings one body to the cluster, in one request or, after trouble, several.
type carrier struct {
	s       *Elastic
	b       *body
	todo    []entry       // not settled
	ready   int           // documents at the begin of todo that are packed
	size    int           // of these, unpacked
	wire    []byte        // what is sent of them
	gzip    bool          // it is compressed
	took    time.Duration // to make it
	started time.Time
	failed  int   // requests in a row in which nothing was settled
	retry   int   // documents at the begin of todo that were sent before
	narrow  int   // bytes of a request while a document is searched that spoils it; 0 is no limit
	cause   error // why the last request failed in which nothing was settled; guarded by s.mu
}

// carry ends when all documents of the body are settled, or everything ends. What is urgent
// does not wait for a slot.
func (s *Elastic) carry(b *body, isUrgent bool) {
	defer s.land(b)
	if !isUrgent {
		if err := s.mark(b); err != nil {
			s.stop(err)
			return
		}
	}
	c := &carrier{s: s, b: b, todo: b.docs}
	if err := c.pack(s.limit()); err != nil { // before the slot is taken, which others use meanwhile
		s.stop(err)
		return
	}
	if !isUrgent {
		if !s.occupy() {
			return
		}
		defer s.vacate()
	}
	c.started = time.Now()
	defer s.client.Watch(c.state)()
	for len(c.todo) > 0 && s.ctx.Err() == nil {
		if err := c.request(); err != nil {
			s.stop(err)
			return
		}
	}
}

func (s *Elastic) limit() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.pace.limit
}

func (s *Elastic) stop(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail(err)
}

// occupy waits for a slot; false is the end of everything.
func (s *Elastic) occupy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.fatal == nil && s.flying >= s.pace.flight {
		if s.wait(s.ctx) != nil {
			return false
		}
	}
	if s.fatal != nil {
		return false
	}
	s.flying++
	return true
}

func (s *Elastic) vacate() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flying--
	s.changed()
}

// pack prepares a request of the first documents, as many as limit lets in and at
// least one.
func (c *carrier) pack(limit int) error {
	start := time.Now()
	c.ready, c.size = 0, 0
	var parts [][]byte
	for from := 0; c.ready < len(c.todo); c.ready++ {
		e := &c.todo[c.ready]
		if c.ready > 0 && c.size+e.size() > limit {
			break
		}
		c.size += e.size()
		if c.ready == 0 || c.todo[c.ready-1].end != e.start {
			parts, from = append(parts, nil), e.start
		}
		parts[len(parts)-1] = c.b.buf[from:e.end]
	}
	c.b.ids = slices.Grow(c.b.ids[:0], c.ready)
	for i := range c.todo[:c.ready] {
		c.b.ids = append(c.b.ids, c.todo[i].id)
	}
	c.gzip = c.s.squeezes(c.size)
	c.b.packed.Reset()
	switch {
	case c.gzip:
		if err := c.s.client.Pack(&c.b.packed, parts...); err != nil {
			return err
		}
		c.wire = c.b.packed.Bytes()
	case len(parts) == 1: // as it is
		c.wire = parts[0]
	default:
		for _, p := range parts {
			c.b.packed.Write(p)
		}
		c.wire = c.b.packed.Bytes()
	}
	c.took = time.Since(start)
	return nil
}

// request sends one request and settles what can be. An error ends everything.
func (c *carrier) request() error {
	limit := c.s.limit()
	if c.narrow > 0 {
		limit = min(limit, c.narrow)
	}
	if c.ready == 0 || c.size > limit && c.ready > 1 {
		if err := c.pack(limit); err != nil {
			return err
		}
	}
	c.b.fates = slices.Grow(c.b.fates[:0], c.ready)[:c.ready]
	clear(c.b.fates)
	r := result{sent: time.Now(), fates: c.b.fates}
	var out stopwatch
	ctx, cancel := c.deadline()
	defer cancel()
	r.err = c.s.client.Bulk(out.trace(ctx), c.wire, c.b.ids, func(i int, item elastic.BulkItem) { r.add(c.todo, i, item) })
	if c.s.ctx.Err() != nil {
		return nil // whoever ended it has said why
	}
	for i, f := range r.fates {
		if f == unknown {
			r.again = append(r.again, c.todo[i])
		}
	}
	if isTooLarge(r.err) && c.s.mustSqueeze(c) {
		c.retry, c.ready = c.ready, 0
		return nil
	}
	r.written = out.took()
	r.judge(c.ready)
	err := c.s.settle(c, &r)
	c.s.tell()
	if err != nil || r.fatal != nil {
		return errors.Join(r.fatal, err)
	}
	return c.next(&r)
}

// deadline is when a request ends that is sent while there is no progress.
func (c *carrier) deadline() (context.Context, context.CancelFunc) {
	if c.failed == 0 {
		return c.s.ctx, func() {}
	}
	until := time.Now().Add(time.Second)
	if _, ends := c.progress(); ends.After(until) {
		until = ends
	}
	return context.WithDeadlineCause(c.s.ctx, until, elastic.ErrTimeout)
}

// progress is when a document was settled last, or else the body was begun, and when there
// will have been no progress for too long.
func (c *carrier) progress() (last, ends time.Time) {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	last = c.started
	if c.s.progress.After(last) {
		last = c.s.progress
	}
	return last, last.Add(max(c.s.client.GiveUpAfter(), 0))
}

// state is what the body waits for.
func (c *carrier) state() elastic.WaitState {
	last, ends := c.progress()
	if first := c.started.Add(c.s.client.Timeout()); first.After(ends) {
		ends = first // of its first request
	}
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return elastic.WaitState{Progress: last, Until: ends, Cause: c.cause}
}

// next arranges what is left, and waits as long as it should.
func (c *carrier) next(r *result) error {
	left := len(c.todo) - c.ready
	copy(c.todo[c.ready-len(r.again):], r.again)
	c.todo = c.todo[len(c.todo)-left-len(r.again):]
	c.ready, c.retry = 0, len(r.again)
	if r.settled() {
		c.failed, c.narrow = 0, 0
	}
	if r.split && !r.tooLarge {
		c.narrow = max(c.size/2, 1)
	}
	if len(r.again) == 0 || r.split {
		return nil
	}
	delay := max(elastic.Backoff(c.failed), r.wait)
	c.failed++
	_, ends := c.progress()
	pause := time.Until(ends)
	if pause <= 0 {
		return fmt.Errorf("%w for %v, last: %w", ErrNoProgress, max(c.s.client.GiveUpAfter(), 0), r.cause)
	}
	_ = elastic.Sleep(c.s.ctx, min(delay, pause)) // carry looks whether it is over
	return nil
}

// settle writes down what became of the documents of one request.
func (s *Elastic) settle(c *carrier, r *result) error {
	var failed error
	for i := range r.refused {
		if err := s.rejects.write(c.b, &r.refused[i]); err != nil && failed == nil {
			failed = err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	st := &s.stats
	st.count(c)
	now := time.Now()
	switch {
	case r.tooLarge && c.ready > 1:
		s.pace.tooLarge(c.size)
	case r.tooMany:
		st.TooMany++
		s.pace.overloaded(r.sent, now)
	case r.err == nil && len(r.again) == 0:
		s.pace.kept(c.size, now.Sub(r.sent))
		if r.written > 0 {
			s.squeeze.learn(c.gzip, c.size, c.took+r.written)
		}
	}
	for i, f := range r.fates {
		if f != stored {
			continue
		}
		e := &c.todo[i]
		s.forget(e)
		e.run.indexed++
		e.run.hashes = append(e.run.hashes, e.hash)
	}
	st.Indexed += int64(r.stored)
	if failed != nil {
		return failed
	}
	for i := range r.refused {
		s.refuse(&r.refused[i])
	}
	if c.cause = r.cause; r.settled() {
		s.progress, c.cause = now, nil
		s.changed()
	}
	if most := int64(s.opt.MaxRejects); st.Rejected > most && len(r.refused) > 0 {
		return fmt.Errorf("%w: more than %d; the last one: %w", ErrRejects, most, r.refused[len(r.refused)-1].err)
	}
	return nil
}

// count adds a request.
func (st *Stats) count(c *carrier) {
	st.Requests++
	st.Sent += int64(c.ready)
	st.Retried += int64(min(c.retry, c.ready))
	st.Bytes += int64(c.size)
	st.Wire += int64(len(c.wire))
}

// forget takes a document off the list of those under way; s.mu is held.
func (s *Elastic) forget(e *entry) {
	delete(s.pending, e.hash)
	e.run.pending--
}

// refuse counts a document that is not to be stored; s.mu is held.
func (s *Elastic) refuse(r *refusal) {
	s.forget(&r.entry)
	r.run.rejected++
	s.stats.Rejected++
	if s.opt.RejectFile == "" && r.run.err == nil {
		r.run.err = fmt.Errorf("%w: %s: %w", ErrRejected, r.id, r.err)
	}
}
