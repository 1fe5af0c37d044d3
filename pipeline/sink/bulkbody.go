package sink

import (
	"bytes"
	"context"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/mapping"
)

// body is the text of one bulk request, and what is in it.
type body struct {
	buf   []byte
	docs  []entry
	timer *time.Timer // sends it when it does not fill up; nil before the first document

	// What is sent of it at a time, for the carrier.
	packed bytes.Buffer
	ids    []string
	fates  []fate
}

// entry is one document in a body: buf[start:doc] is the action and buf[doc:end] the
// document, each with the end of its line.
type entry struct {
	start, doc, end int
	id              string
	hash            uint64 // of id
	key             runKey
	run             *runState
	broken          int  // times that the server failed on it
	hidden          bool // it is to be marked as pending
}

func newEntry(id string, key runKey) entry {
	return entry{id: id, hash: xxhash.Sum64String(id), key: key}
}

func (e *entry) size() int { return e.end - e.start }

// chunkBytes is as much as is encoded before the lock is taken: what stays in the cache of
// a processor.
const chunkBytes = 256 << 10

// chunk is documents that are encoded and not taken yet.
type chunk struct {
	buf  []byte
	docs []entry

	name  string // of the index that was used last, for
	level mapping.Level
	start time.Time
}

func (s *Elastic) newChunk() *chunk {
	c, ok := s.chunks.Get().(*chunk)
	if !ok {
		c = new(chunk)
	}
	c.buf, c.docs = c.buf[:0], c.docs[:0] // an error may have left something
	return c
}

// index is the name of the index of a level's documents of a run that began at start.
func (c *chunk) index(prefix string, level mapping.Level, start time.Time) string {
	if c.name == "" || c.level != level || c.start != start {
		c.name, c.level, c.start = mapping.LatencyIndex(prefix, level, start), level, start
	}
	return c.name
}

func (c *chunk) add(index, id string, key runKey, document func([]byte) []byte) {
	e := newEntry(id, key)
	e.start = len(c.buf)
	c.buf = append(mapping.AppendAction(c.buf, index, id), '\n')
	e.doc = len(c.buf)
	c.buf = append(document(c.buf), '\n')
	e.end = len(c.buf)
	c.docs = append(c.docs, e)
}

// take puts a chunk's documents into bodies and empties it. It waits while there is no
// room. They count for run, or, when that is nil, for the runs they are of.
func (s *Elastic) take(ctx context.Context, c *chunk, run *runState) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range c.docs {
		e := &c.docs[i]
		if err := s.takeOne(ctx, *e, run, c.buf[e.start:e.doc], c.buf[e.doc:e.end]); err != nil {
			return err
		}
	}
	c.buf, c.docs = c.buf[:0], c.docs[:0]
	return nil
}

// takeOne puts a document into a body, on the account that take says; s.mu is held but for
// the time that it waits, in which the run may be ended and its account begun anew.
func (s *Elastic) takeOne(ctx context.Context, e entry, run *runState, action, document []byte) error {
	for {
		if e.run = run; run == nil {
			e.run = s.run(e.key)
		}
		if s.fatal != nil {
			return s.fatal
		}
		if e.run.err != nil {
			return e.run.err
		}
		if s.fits(&e) {
			s.append(e, action, document)
			return nil
		}
		if err := s.wait(ctx); err != nil {
			return err
		}
	}
}

func (s *Elastic) run(key runKey) *runState {
	r := s.runs[key]
	if r == nil {
		r = new(runState)
		s.runs[key] = r
	}
	return r
}

// fits makes room for a document, if there is any. A document whose id is under way
// waits until that is settled: which of two requests is served first is up to chance,
// and the last one taken has to be the one that stays. s.mu is held.
func (s *Elastic) fits(e *entry) bool {
	if _, ok := s.pending[e.hash]; ok {
		s.seal()
		return false
	}
	if s.open != nil && len(s.open.docs) > 0 && len(s.open.buf)+e.size() > s.pace.limit {
		s.seal()
	}
	if s.open != nil {
		return true
	}
	if s.bodies >= s.opt.InFlight+2 {
		return false
	}
	s.open = s.newBody()
	return true
}

// newBody is an empty one, in memory until it lands; s.mu is held.
func (s *Elastic) newBody() *body {
	s.bodies++
	if last := len(s.free) - 1; last >= 0 {
		b := s.free[last]
		s.free = s.free[:last]
		return b
	}
	return new(body)
}

// append copies a document into the open body; s.mu is held.
func (s *Elastic) append(e entry, action, document []byte) {
	b := s.open
	if b.buf == nil && e.size() < s.pace.limit {
		b.buf = make([]byte, 0, s.pace.limit)
	}
	s.addTo(b, e, action, document)
	switch {
	case len(b.docs) > 1:
	case b.timer == nil:
		b.timer = time.AfterFunc(s.opt.FlushInterval, func() { s.due(b) })
	default:
		b.timer.Reset(s.opt.FlushInterval)
	}
}

// addTo copies a document into a body; s.mu is held.
func (s *Elastic) addTo(b *body, e entry, action, document []byte) {
	e.start = len(b.buf)
	b.buf = append(b.buf, action...)
	e.doc = len(b.buf)
	b.buf = append(b.buf, document...)
	if !bytes.HasSuffix(document, []byte{'\n'}) {
		b.buf = append(b.buf, '\n')
	}
	e.end = len(b.buf)
	b.docs = append(b.docs, e)
	s.pending[e.hash] = struct{}{}
	e.run.queued++
	e.run.pending++
	s.stats.Queued++
}

// sendNow sends the documents of a chunk, each on the account that it has, before all that
// waits. It empties the chunk, and returns when they are settled, or everything ends.
func (s *Elastic) sendNow(c *chunk) {
	s.mu.Lock()
	b := s.newBody()
	for _, e := range c.docs {
		s.addTo(b, e, c.buf[e.start:e.doc], c.buf[e.doc:e.end])
	}
	s.mu.Unlock()
	c.buf, c.docs = c.buf[:0], c.docs[:0]
	s.carry(b, true)
}

// due sends a body that did not fill up in time; while others hold all slots it would
// only wait, and may as well fill.
func (s *Elastic) due(b *body) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.open != b || s.fatal != nil || len(b.docs) == 0: // was sent meanwhile
	case s.flying >= s.pace.flight:
		b.timer.Reset(s.opt.FlushInterval)
	default:
		s.seal()
	}
}

// seal sends the open body off; s.mu is held.
func (s *Elastic) seal() {
	b := s.open
	if b == nil || len(b.docs) == 0 || s.fatal != nil {
		return
	}
	b.timer.Stop()
	s.open = nil
	s.senders.Go(func() { s.carry(b, false) })
}

// land takes a body that was carried back. Documents that are not settled stay pending:
// that happens only at the end of everything.
func (s *Elastic) land(b *body) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bodies--
	if cap(b.buf) <= 2*s.opt.BodyBytes { // not the one that was made for a huge document
		b.buf, b.docs = b.buf[:0], b.docs[:0]
		s.free = append(s.free, b)
	}
	s.changed()
}
