package elastic

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// versionState is what is known of the documents of a version that were put.
type versionState struct {
	history.Version
	start    time.Time           // of the run
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
	broken    int   // how often the server answered status 500 or above for it
	err       error // why it cannot be stored
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

// Put implements [history.Store]. It returns before the documents are stored: that they are, Finish says. Documents of several calls
// share bulk requests: one is sent when it is full, or when a version is finished. Put waits while the cluster is slower than the caller. Its
// error may be about documents of earlier calls. If no document of a request is stored for the time that the client waits without progress,
// the error is [es.ErrGaveUp].
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
	if len(docs) == 0 {
		return ctx.Err()
	}
	isShared := docs[0].Run.IsShared()
	if err := e.prepare(ctx, !isShared); err != nil {
		return err
	}
	var text []byte
	for _, d := range docs {
		plain := *d
		plain.Run.Pending = false
		text = plain.AppendJSON(text[:0])
		one := &document{index: d.Index(e.prefix, e.period), id: d.ID(), text: bytes.Clone(text)}
		for isIn := false; !isIn; {
			e.mu.Lock()
			one.of = e.state(history.VersionOf(d))
			one.of.start = d.Run.Start
			err := one.of.failed()
			if isIn = len(e.open) == 0 || e.size+one.bytes() <= e.body; isIn && err == nil {
				e.open, e.size = append(e.open, one), e.size+one.bytes()
			}
			e.mu.Unlock()
			if err == nil && !isIn {
				err = e.flush(ctx)
			}
			if err != nil {
				return err
			}
		}
	}
	if isShared { // readers look at its documents before it is finished
		return e.flush(ctx)
	}
	return nil
}

// flush sends the documents that wait for a request. It returns when the request is under way.
func (e *Store) flush(ctx context.Context) error {
	select {
	case e.slots <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	over, all := make(chan struct{}), map[*versionState]bool{}
	e.mu.Lock()
	docs := e.open
	if e.open, e.size = nil, 0; len(docs) == 0 { // another goroutine was first
		e.mu.Unlock()
		<-e.slots
		return nil
	}
	for _, d := range docs {
		if !all[d.of] {
			all[d.of], d.of.sending = true, append(d.of.sending, over)
		}
	}
	e.mu.Unlock()
	e.background.Go(func() {
		err := e.look(e.ctx, slices.Collect(maps.Keys(all)))
		e.mu.Lock()
		for _, d := range docs {
			if d.of.hidden {
				d.text = mapping.MarkPending(d.text)
			}
		}
		e.mu.Unlock()
		if err == nil {
			err = e.send(e.ctx, docs)
		}
		e.mu.Lock()
		for of := range all {
			of.err = cmp.Or(of.err, err)
		}
		e.mu.Unlock()
		close(over)
		<-e.slots
	})
	return nil
}

// state returns the state of a version. The caller has locked mu. A shared version replaces no other: Join has refused that.
func (e *Store) state(of history.Version) *versionState {
	s := e.versions[of]
	if s == nil {
		s = &versionState{Version: of, stored: make(map[uint64]struct{})}
		s.looked, s.again = s.isShared(), s.isShared()
		e.versions[of] = s
	}
	return s
}

func (s *versionState) isShared() bool { return (&mapping.RunRef{Ingest: s.Ingest}).IsShared() }

// settled waits until each document of a version is stored or cannot be, and returns its state or the error. It waits for those of the run's
// other versions, too, so that none comes after they are deleted. While it sends documents, those of other runs gather for the next request.
func (e *Store) settled(ctx context.Context, of history.Version) (*versionState, error) {
	e.mu.Lock()
	s := e.state(of)
	e.mu.Unlock()
	isOpen := func() bool {
		e.mu.Lock()
		defer e.mu.Unlock()
		return slices.ContainsFunc(e.open, func(d *document) bool { return d.of.Run == of.Run })
	}
	if isOpen() {
		select {
		case e.last <- struct{}{}:
			defer func() { <-e.last }()
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	if isOpen() { // another goroutine may have sent them meanwhile
		if err := e.flush(ctx); err != nil {
			return nil, err
		}
	}
	var sending []chan struct{}
	e.mu.Lock()
	for v, s := range e.versions {
		if v.Run == of.Run {
			sending = append(sending, s.sending...)
		}
	}
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
	return s, s.failed()
}

// failed returns why a document cannot be stored. Those of a shared version are put again then.
func (s *versionState) failed() (err error) {
	if err = s.err; s.isShared() {
		s.err = nil
	}
	return err
}

// look finds what the cluster has of versions, with one request. Before the first document of a version is sent, it must be known whether
// it replaces another one: then its documents are marked as pending. Dashboards, which add up all documents, skip them until the old version
// is deleted. And it must be known whether the version itself is there.
func (e *Store) look(ctx context.Context, of []*versionState) error {
	select {
	case e.looking <- struct{}{}:
		defer func() { <-e.looking }()
	case <-ctx.Done():
		return ctx.Err()
	}
	starts := map[string]time.Time{}
	e.mu.Lock()
	for _, s := range of {
		for other := range e.versions { // documents that this store has put may not be visible yet
			if !s.looked && other.Run == s.Run && other.Ingest != s.Ingest {
				s.looked, s.hidden = true, true
			}
		}
		if !s.looked {
			starts[s.Run] = s.start
		}
	}
	e.mu.Unlock()
	if len(starts) == 0 {
		return nil
	}
	have, outside, err := e.counts(ctx, starts)
	if err != nil {
		return fmt.Errorf("look for other versions: %w", advised(err))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range of {
		if !s.looked {
			s.looked, s.hidden = true, have.HasOthers(s.Run, s.Ingest) || len(outside[s.Run]) > 0
			s.again = !s.hidden && have[s.Run][s.Ingest].All() > 0
		}
	}
	return nil
}
