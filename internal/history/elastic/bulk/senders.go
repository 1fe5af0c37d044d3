package bulk

import (
	"fmt"
	"time"

	"github.com/fio2es/fio2es/internal/es"
)

// senders send bodies to the cluster, several at a time, and settle their documents.
type senders struct {
	*ledger
	client      *es.Client
	throttle    *throttle
	versions    *versions
	rejects     *rejectFile
	mostRejects int
}

// send sends a body in another goroutine. An error ends the writer.
func (s *senders) send(b *body) {
	err := s.versions.mark(b)
	if err == nil {
		err = s.transfer(b, false)
	}
	if err != nil {
		s.fail(err)
	}
}

// sendNow is like send, but does not wait for other bodies.
func (s *senders) sendNow(b *body) {
	if err := s.transfer(b, true); err != nil {
		s.fail(err)
	}
}

// acquire waits until the throttle allows another request.
func (s *senders) acquire() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.fatal == nil && s.throttle.isFull() {
		if err := s.wait(s.ctx); err != nil {
			return err
		}
	}
	if s.fatal == nil {
		s.throttle.flying++
	}
	return s.fatal
}

func (s *senders) release() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.throttle.flying--
	s.changed()
}

// transfer sends one body, in one request or, after failures, in several.
type transfer struct {
	*senders
	buf  []byte
	todo []entry // documents that are not settled
	// limit of a request in bytes, while transfer searches for the document that makes it fail; 0: no limit
	narrow   int
	attempts *es.Attempts
}

// request is one bulk request.
type request struct {
	docs []entry
	ids  []string
	size int    // bytes of the text
	wire []byte // the text, compressed if the client compresses
	sent time.Time
}

// transfer sends a body until all its documents are settled. An error ends the writer.
func (s *senders) transfer(b *body, isUrgent bool) error {
	t := transfer{senders: s, buf: b.buf, todo: b.docs}
	r, err := t.next() // before waiting for the throttle, because it compresses
	if err != nil {
		return err
	}
	if !isUrgent {
		if err := s.acquire(); err != nil {
			return err
		}
		defer s.release()
	}
	t.attempts = s.client.NewAttempts(s.lastProgress)
	defer t.attempts.End()
	for {
		if err := t.send(r); err != nil || len(t.todo) == 0 {
			return err
		}
		if r, err = t.next(); err != nil {
			return err
		}
	}
}

// next makes a request of the first documents in todo: as many as the throttle allows, and at least one.
func (t *transfer) next() (*request, error) {
	t.mu.Lock()
	limit := t.throttle.body
	t.mu.Unlock()
	if t.narrow > 0 {
		limit = min(limit, t.narrow)
	}
	var r request
	var text []byte
	isWhole := true // the documents lie one after another in the body
	for i := range t.todo {
		e := &t.todo[i]
		if i > 0 && r.size+e.size() > limit {
			break
		}
		isWhole = isWhole && e.start == t.todo[0].start+r.size
		r.size += e.size()
		r.docs, r.ids = t.todo[:i+1], append(r.ids, e.id)
	}
	if first := t.todo[0].start; isWhole {
		text = t.buf[first : first+r.size]
	} else {
		for _, e := range r.docs {
			text = append(text, t.buf[e.start:e.end]...)
		}
	}
	var err error
	r.wire, err = t.client.Pack(text)
	return &r, err
}

// send sends one request, settles its documents, and waits if some must be retried.
func (t *transfer) send(r *request) error {
	ctx, cancel := t.attempts.Context(t.ctx)
	defer cancel()
	r.sent = time.Now()
	items, err := t.client.Bulk(ctx, r.wire, r.ids)
	if t.ctx.Err() != nil {
		return t.ctx.Err() // the writer has ended, and has recorded why
	}
	result := newResult(r.docs, items, err)
	if err := t.settle(r, &result); err != nil {
		return err
	}
	t.todo = append(result.again, t.todo[len(r.docs):]...)
	if result.isSettled() {
		t.attempts.Progress()
		t.narrow = 0
	}
	switch {
	case result.split:
		t.narrow = max(r.size/2, 1)
		return nil
	case len(result.again) == 0:
		return nil
	}
	return t.attempts.Wait(t.ctx, result.cause, result.wait)
}

// settle records the results of one request.
func (t *transfer) settle(r *request, result *result) error {
	for i := range result.rejected {
		if err := t.rejects.write(t.buf, &result.rejected[i]); err != nil {
			result.rejected, result.fatal = result.rejected[:i], err
			break
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch now := time.Now(); {
	case result.tooLarge:
		t.throttle.tooLarge(r.size)
	case result.tooMany:
		t.throttle.overloaded(r.sent, now)
	case result.cause == nil:
		t.throttle.kept(r.size, now.Sub(r.sent))
	}
	for _, i := range result.stored {
		t.store(&r.docs[i])
	}
	for i := range result.changed {
		t.conflict(&result.changed[i])
	}
	for i := range result.rejected {
		t.reject(&result.rejected[i], t.rejects.path != "")
	}
	if result.isSettled() {
		t.changed()
	}
	if n := len(result.rejected); n > 0 && t.rejected > t.mostRejects {
		return fmt.Errorf("%w: more than %d; the last one: %w", ErrRejects, t.mostRejects, result.rejected[n-1].err)
	}
	return result.fatal
}
