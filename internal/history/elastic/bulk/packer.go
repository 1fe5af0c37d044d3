package bulk

import (
	"context"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/mapping"
)

// packer packs documents into the bodies of bulk requests. It sends a body when it is full, or
// when somebody waits for its documents.
type packer struct {
	*ledger
	throttle *throttle
	bodies   int // in memory at most
	send     func(b *body)

	open *body // the one that is being filled, or nil
	used int   // bodies in memory
}

// body is the text of one bulk request, and its documents.
type body struct {
	buf  []byte
	docs []entry
}

// entry is one document in a body: buf[start:doc] is the action and buf[doc:end] the
// document, each with the end of its line.
type entry struct {
	start, doc, end int
	id              string
	hash            uint64 // of id
	key             runKey
	run             *runState
	at              *docState // that it replaces; nil: any
	broken          int       // times that the server failed with status 500 or above for it
}

func newEntry(id string, key runKey) entry {
	return entry{id: id, hash: xxhash.Sum64String(id), key: key}
}

func (e *entry) size() int { return e.end - e.start }

// encode makes the two lines of a document, in the memory of dst if it is large enough.
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

// append copies a document into the body. text is its two lines.
func (b *body) append(e entry, text []byte) {
	shift := len(b.buf) - e.start
	e.start, e.doc, e.end = e.start+shift, e.doc+shift, e.end+shift
	b.buf = append(b.buf, text...)
	b.docs = append(b.docs, e)
}

// add takes a document. It waits while there is no room.
func (p *packer) add(ctx context.Context, e entry, text []byte) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		e.run = p.run(e.key) // each time, because the run may be finished meanwhile and begin again
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

// fits makes room for a document, if there is any. A document waits while another one with its
// id is under way: the cluster may serve two requests in any order, and the document that was
// put last has to stay. The caller has locked mu.
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
