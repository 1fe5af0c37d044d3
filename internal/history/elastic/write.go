package elastic

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// versionState is what is known of the documents of a version that were put.
type versionState struct {
	sending  []chan struct{}     // one for each request, closed when the request has ended
	stored   map[uint64]struct{} // hashes of the ids of stored documents, so that each counts once
	err      error               // why a document cannot be stored, and so the run cannot be finished
	looked   bool                // whether the cluster has other versions of the run is known
	hidden   bool                // the cluster has other versions, so new documents are marked as pending
	again    bool                // the cluster has visible documents of this version only, so new ones replace them
	kept     bool                // the cluster had some of the documents, and kept them
	finished bool                // its run document was stored once
}

// document is an interval document for a bulk request.
type document struct {
	index, id string
	text      []byte
	of        *versionState
	broken    int // how often the server answered status 500 or above for it
}

// bytes returns about the size of a document in a request.
func (d *document) bytes() int { return len(d.text) + len(d.index) + len(d.id) + 40 }

// action returns the action line of the document in a request. A document does not replace another one, unless the version
// is stored again: its labels may have changed since, or a later fio2es makes other numbers of the same files. A server may
// carry out a request after it has answered 504: by then the document may have other labels, or have lost its pending mark,
// and must keep that. Documents of a shared version replace their own, because a host that starts again sends them again.
func (d *document) action() []byte {
	if d.of.again {
		return mapping.AppendAction(nil, "index", d.index, d.id)
	}
	return mapping.AppendAction(nil, "create", d.index, d.id)
}

// Put implements [history.Store]. It returns before the documents are stored: that they are, Finish says. Put waits while the cluster is slower than the caller. Its error may be about documents of earlier
// calls. If no document of a request is stored for the time that the client waits without progress, the error is [es.ErrGaveUp].
//
// Failed requests are retried while that can help. Ids are fixed, so a document that arrives twice is stored once.
func (e *Store) Put(ctx context.Context, docs []*mapping.Interval) error {
	if err := e.put(ctx, docs); err != nil {
		return e.fail(ctx, "write to", fmt.Errorf("put documents: %w", err))
	}
	return nil
}

func (e *Store) put(ctx context.Context, docs []*mapping.Interval) error {
	for _, d := range docs {
		if err := d.Check(); err != nil {
			return err
		}
	}
	if err := e.prepare(ctx, len(docs) > 0 && !docs[0].Run.IsShared()); err != nil {
		return err
	}
	for len(docs) > 0 {
		of, err := e.look(ctx, history.VersionOf(docs[0]), docs[0].Run.Start)
		if err != nil {
			return err
		}
		select {
		case e.slots <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
		body, over := e.pack(docs, of), make(chan struct{})
		docs = docs[len(body):]
		e.mu.Lock()
		of.sending = append(of.sending, over)
		e.mu.Unlock()
		e.background.Go(func() {
			err := e.send(e.ctx, body)
			e.mu.Lock()
			of.err = cmp.Or(of.err, err)
			e.mu.Unlock()
			close(over)
			<-e.slots
		})
	}
	return nil
}

// pack returns the first documents of some, as many as one request has, all of the version of the first.
func (e *Store) pack(docs []*mapping.Interval, of *versionState) (body []*document) {
	e.mu.Lock()
	size, most := 0, e.body
	e.mu.Unlock()
	var text []byte
	for _, d := range docs {
		marked := *d
		marked.Run.Pending = of.hidden
		text = marked.AppendJSON(text[:0])
		one := &document{index: d.Index(e.prefix, e.period), id: d.ID(), text: bytes.Clone(text), of: of}
		if size += one.bytes(); len(body) > 0 && (size > most || history.VersionOf(d) != history.VersionOf(docs[0])) {
			break
		}
		body = append(body, one)
	}
	return body
}

// state returns the state of a version. The caller has locked mu.
func (e *Store) state(of history.Version) *versionState {
	s := e.versions[of]
	if s == nil {
		s = &versionState{stored: make(map[uint64]struct{})}
		e.versions[of] = s
	}
	return s
}

// settled waits until each document of a version is stored or cannot be, and returns its state or the error.
func (e *Store) settled(ctx context.Context, of history.Version) (*versionState, error) {
	e.mu.Lock()
	s := e.state(of)
	sending := s.sending
	e.mu.Unlock()
	for _, over := range sending {
		select {
		case <-over:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s.sending = nil
	return s, s.failed(of)
}

// failed returns why a document cannot be stored. Those of a shared version are put again then.
func (s *versionState) failed(of history.Version) (err error) {
	if err = s.err; (&mapping.RunRef{Ingest: of.Ingest}).IsShared() {
		s.err = nil
	}
	return err
}

// look returns the state of a version, or the error of its documents. Before the first one is sent, it must be known whether
// the version replaces another one: then its documents are marked as pending. Dashboards, which add up all documents, skip
// them until the old version is deleted. And it must be known whether the version itself is there.
func (e *Store) look(ctx context.Context, of history.Version, start time.Time) (*versionState, error) {
	e.mu.Lock()
	s := e.state(of)
	if (&mapping.RunRef{Ingest: of.Ingest}).IsShared() { // it replaces no other version: Join has refused that
		s.looked, s.again = true, true
	}
	if !s.looked {
		for other := range e.versions { // documents that this store has put may not be visible yet
			if other.Run == of.Run && other.Ingest != of.Ingest {
				s.looked, s.hidden = true, true
			}
		}
	}
	looked, err := s.looked, s.failed(of)
	e.mu.Unlock()
	if looked || err != nil {
		return s, err
	}
	return s, e.lookAt(ctx, map[history.Version]time.Time{of: start})
}

// Expect looks with one request at what the cluster has of new versions that will be put, so that Put need not do so for each.
func (e *Store) Expect(ctx context.Context, runs []*mapping.Run) error {
	err := e.Prepare(ctx)
	if err == nil && len(runs) > 0 {
		starts := map[history.Version]time.Time{}
		for _, r := range runs {
			starts[history.Version{Run: r.Run.ID, Ingest: r.Run.Ingest}] = r.Run.Start
		}
		err = e.lookAt(ctx, starts)
	}
	return e.fail(ctx, "write to", err)
}

// lookAt looks at what the cluster has of versions of runs that started at these times.
func (e *Store) lookAt(ctx context.Context, of map[history.Version]time.Time) error {
	starts := map[string]time.Time{}
	for v, start := range of {
		starts[v.Run] = start
	}
	have, outside, err := e.counts(ctx, starts)
	if err != nil {
		return fmt.Errorf("look for other versions: %w", advised(err))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for v := range of {
		if s := e.state(v); !s.looked {
			s.looked, s.hidden = true, have.HasOthers(v.Run, v.Ingest) || len(outside[v.Run]) > 0
			s.again = !s.hidden && have[v.Run][v.Ingest].All() > 0
		}
	}
	return nil
}
