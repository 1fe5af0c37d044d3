package bulk

import (
	"context"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/mapping"
)

// packer packs documents into the bodies of bulk requests. It sends a body when it is full, or when a run waits for
// its documents.
type packer struct {
	*ledger
	throttle *throttle
	bodies   int // most bodies in memory
	send     func(b *body)

	open *body // body that is being filled, or nil
	used int   // bodies in memory
}

// body is the text of one bulk request and the list of its documents.
type body struct {
	buf  []byte
	docs []entry
}

// entry is one document in a body: buf[start:doc] is the action and buf[doc:end] the document, both with the
// newline.
type entry struct {
	start, doc, end int
	id              string
	hash            uint64 // hash of id
	key             runKey
	run             *runState
	at              *docState // state of the stored document that it may replace; nil: any
	broken          int       // how often the server answered status 500 or above for it
}

func newEntry(id string, key runKey) entry {
	return entry{id: id, hash: xxhash.Sum64String(id), key: key}
}

func (e *entry) size() int { return e.end - e.start }

// encode appends the two lines of a document to dst[:0].
func (e *entry) encode(dst []byte, index string, document func([]byte) []byte) []byte {
	if dst = dst[:0]; e.at == nil {
		dst = mapping.AppendAction(dst, index, e.id)
	} else {
		dst = mapping.AppendActionIf(dst, index, e.id, e.at.seq, e.at.term)
	}
	dst = append(dst, '\n')
	e.start, e.doc = 0, len(dst)
	dst = append(document(dst), '\n')
	e.end = len(dst)
	return dst
}

// createOnly changes the action of a document, whose two lines are text: it replaces no other document.
func (e *entry) createOnly(text []byte) []byte {
	changed := mapping.CreateOnly(text)
	longer := len(changed) - len(text)
	e.doc, e.end = e.doc+longer, e.end+longer
	return changed
}

// append copies a document to the end of the body. text is its two lines.
func (b *body) append(e entry, text []byte) {
	shift := len(b.buf) - e.start
	e.start, e.doc, e.end = e.start+shift, e.doc+shift, e.end+shift
	b.buf = append(b.buf, text...)
	b.docs = append(b.docs, e)
}

// add takes a document. It waits until there is room.
func (p *packer) add(ctx context.Context, e entry, text []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		e.run = p.run(e.key) // looked up each time, because the run may have been finished while add waited
		switch {
		case p.fatal != nil:
			return p.fatal
		case e.run.err != nil:
			return e.run.err
		case p.fits(&e):
			p.take(&e)
			p.open.append(e, text)
			return nil
		}
		if err := p.wait(ctx); err != nil {
			return err
		}
	}
}

// fits makes room for a document and reports whether there is room. A document waits while another one with its id
// is under way: the cluster may handle two requests in any order, and the later document must win. The caller has
// locked mu.
func (p *packer) fits(e *entry) bool {
	if _, ok := p.pending[e.hash]; ok {
		p.flush()
		return false
	}
	if p.open != nil && len(p.open.buf)+e.size() > p.throttle.body {
		p.flush()
	}
	if p.open != nil {
		return true
	}
	if p.used >= p.bodies {
		return false
	}
	p.open = &body{buf: make([]byte, 0, max(p.throttle.body, e.size()))}
	p.used++
	return true
}

// flush sends the open body. The caller has locked mu.
func (p *packer) flush() {
	b := p.open
	if b == nil || p.fatal != nil {
		return
	}
	p.open = nil
	p.background.Go(func() {
		p.send(b)
		p.mu.Lock()
		defer p.mu.Unlock()
		p.used--
		p.changed()
	})
}
