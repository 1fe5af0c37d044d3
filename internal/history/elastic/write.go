package elastic

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// Options are the settings of a [Store]. The zero value has good defaults.
type Options struct {
	Prefix    string // prefix of index names; default [mapping.DefaultPrefix]
	BodyBytes int    // limit of a request before compression (one larger document is sent alone); default 5 MiB
	InFlight  int    // requests at the same time; default 2
}

func (o Options) withDefaults() Options {
	o.Prefix = cmp.Or(o.Prefix, mapping.DefaultPrefix)
	o.BodyBytes = cmp.Or(o.BodyBytes, 5<<20)
	o.InFlight = cmp.Or(o.InFlight, 2)
	return o
}

// ErrClosed means that the store was used after Close.
var ErrClosed = errors.New("the store is closed")

// writer has the documents that were put, until the cluster has stored or rejected them. Put packs documents into
// bodies of requests, and send.go sends them. At most InFlight+1 bodies are in memory; when they are full, Put waits.
type writer struct {
	ctx        context.Context // ends with Close, or when the store fails
	cancel     context.CancelFunc
	background sync.WaitGroup // senders

	preparing  chan struct{} // one goroutine prepares at a time; a channel, because waiting must end with a context
	isPrepared bool

	mu       sync.Mutex                // guards all below
	wake     chan struct{}             // closed and replaced when anything changes
	runs     map[version]*versionState // versions that are not finished
	open     []*document               // the body that is being filled
	size     int                       // its size in bytes
	limit    int                       // most bytes of a body
	sending  int                       // bodies under way
	pending  int                       // documents that are neither stored nor rejected
	progress time.Time                 // when a document was last stored or rejected
	fatal    error                     // the error that ended the store
}

// version is one version of one run.
type version struct{ id, ingest string }

// versionState is what became of the documents of a version that were put.
type versionState struct {
	pending int
	stored  map[uint64]struct{} // hashes of the ids of stored documents, so that each counts once
	err     error               // why the run cannot be finished: a document was rejected
	looked  bool                // whether the cluster has other versions of the run is known
	hidden  bool                // the cluster has other versions, so new documents are marked as pending
	again   bool                // the cluster has visible documents of this version only, so new ones replace them
	kept    bool                // the cluster had some of the documents, and kept them
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
// and must keep that.
func (d *document) action() []byte {
	action := mapping.AppendAction(nil, d.index, d.id)
	if d.of.again {
		return action
	}
	return mapping.CreateOnly(action)
}

func newWriter(opt Options) *writer {
	ctx, cancel := context.WithCancel(context.Background())
	return &writer{
		ctx: ctx, cancel: cancel, preparing: make(chan struct{}, 1), wake: make(chan struct{}),
		runs: make(map[version]*versionState), limit: opt.BodyBytes,
	}
}

// state returns the state of a version. The caller has locked mu.
func (w *writer) state(of version) *versionState {
	s := w.runs[of]
	if s == nil {
		s = &versionState{stored: make(map[uint64]struct{})}
		w.runs[of] = s
	}
	return s
}

// fail ends the store with err, unless it has ended before.
func (w *writer) fail(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fatal == nil {
		w.fatal = err
	}
	w.cancel()
	w.changed()
}

// changed wakes all goroutines in until. The caller has locked mu.
func (w *writer) changed() {
	close(w.wake)
	w.wake = make(chan struct{})
}

// lastProgress returns when a document was last stored or rejected.
func (w *writer) lastProgress() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.progress
}

// Put implements [history.Store]. It returns before the documents are stored: that they are, Finish says. It waits
// while the cluster is slower than the caller. Its error may be about documents of earlier calls. If no document is settled for the time that the client waits
// without progress, the error is [es.ErrGaveUp].
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
	if err := e.Prepare(ctx); err != nil {
		return err
	}
	var text []byte
	for _, d := range docs {
		of, err := e.look(ctx, version{d.Run.ID, d.Run.Ingest})
		if err != nil {
			return err
		}
		text = d.AppendJSON(text[:0])
		if of.hidden {
			if text, err = mapping.MarkPending(text, 0); err != nil {
				return err
			}
		}
		one := &document{index: d.Index(e.prefix), id: d.ID(), text: bytes.Clone(text), of: of}
		if err := e.add(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// look returns the state of a version. Before the first document of a version is sent, it must be known whether it
// replaces another one: then its documents are marked as pending. Dashboards, which add up all documents, skip them until
// the old version is deleted. And it must be known whether the version itself is there.
func (e *Store) look(ctx context.Context, of version) (*versionState, error) {
	w := e.writer
	w.mu.Lock()
	s := w.state(of)
	if !s.looked {
		for other := range w.runs { // documents that this store has put may not be visible yet
			if other.id == of.id && other.ingest != of.ingest {
				s.looked, s.hidden = true, true
			}
		}
	}
	looked := s.looked
	w.mu.Unlock()
	if looked {
		return s, nil
	}
	have, err := e.counts(ctx, of.id)
	if err != nil {
		return nil, fmt.Errorf("look for other versions: %w", advised(err))
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !s.looked {
		s.looked, s.hidden = true, have.HasOthers(of.id, of.ingest)
		s.again = !s.hidden && have[of.id][of.ingest].All() > 0
	}
	return s, nil
}

// add adds a document to the open body. It waits until there is room.
func (e *Store) add(ctx context.Context, d *document) error {
	w := e.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	d.of.pending++ // now, so that the version is not finished meanwhile
	err := e.until(ctx, func() bool {
		return d.of.err != nil || len(w.open) == 0 || w.size+d.bytes() <= w.limit
	})
	if err = cmp.Or(err, d.of.err); err != nil {
		d.of.pending--
		return err
	}
	w.open, w.size, w.pending = append(w.open, d), w.size+d.bytes(), w.pending+1
	return nil
}

// until sends the open body, and waits, until done reports true. The caller has locked mu, which is unlocked in the
// meantime. It returns the error that ended the store.
func (e *Store) until(ctx context.Context, done func() bool) error {
	w := e.writer
	for w.fatal == nil && !done() {
		if len(w.open) > 0 && w.sending < e.opt.InFlight {
			docs := w.open
			w.open, w.size, w.sending = nil, 0, w.sending+1
			w.background.Go(func() {
				if err := e.send(docs); err != nil {
					w.fail(err)
				}
				w.mu.Lock()
				defer w.mu.Unlock()
				w.sending--
				w.changed()
			})
			continue
		}
		wake := w.wake
		w.mu.Unlock()
		select {
		case <-wake:
		case <-ctx.Done():
		}
		w.mu.Lock()
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return w.fatal
}

// Close ends requests under way and waits for them. It fails if documents were not stored, so call Finish
// before. The client stays open.
func (e *Store) Close() error {
	w := e.writer
	w.fail(ErrClosed)
	w.background.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pending > 0 {
		return fmt.Errorf("close: %d documents were not stored", w.pending)
	}
	return nil
}
