package elastic

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/mapping"
)

// Options are the settings of a [Store]. The zero value has good defaults.
type Options struct {
	Prefix    string // prefix of index names; default [mapping.DefaultPrefix]
	BodyBytes int    // limit of a request before compression (one larger document is sent alone); default 5 MiB
	InFlight  int    // requests at the same time; default 2

	// RejectFile is the path of the file for documents that the cluster rejects for good, with the reasons.
	// [ReadRejects] reads it. It is created with the first reject, and appended to if it exists. Without a path, a
	// rejected document makes its run fail.
	RejectFile string
	MaxRejects int // more rejects end the store, because then the cause is not single documents; default 1000

	NoVerify    bool // do not compare the number of a run's documents with the number in the cluster
	NoTemplates bool // write even if the cluster lacks the index templates of fio2es setup
}

func (o Options) withDefaults() Options {
	o.Prefix = cmp.Or(o.Prefix, mapping.DefaultPrefix)
	o.BodyBytes = cmp.Or(o.BodyBytes, 5<<20)
	o.InFlight = cmp.Or(o.InFlight, 2)
	o.MaxRejects = cmp.Or(o.MaxRejects, 1000)
	return o
}

// ErrClosed means that the store was used after Close.
var ErrClosed = errors.New("the store is closed")

// writer has the documents that were put, until the cluster has stored or rejected them. Put packs documents into
// bodies. Senders (send.go) send several bodies at a time and settle their documents. The finisher (finish.go)
// finishes runs whose documents are settled. At most InFlight+2 bodies are in memory; when they are full, Put waits.
type writer struct {
	ctx        context.Context // context of all requests; ends with Close
	cancel     context.CancelFunc
	background sync.WaitGroup // goroutines that end after ctx

	preparing  chan struct{} // one goroutine prepares at a time; a channel, because waiting must end with a context
	isPrepared bool

	rejects rejectFile

	mu       sync.Mutex                // guards all below
	wake     chan struct{}             // closed and replaced when anything changes
	underWay map[uint64]struct{}       // hashes of the ids of documents that are not settled
	runs     map[version]*versionState // versions that are not finished
	latest   map[string]string         // run.ingest of the last version of each run that was put
	open     []*document               // the body that is being filled
	size     int                       // its size in bytes
	bodies   int                       // bodies in memory, with the open one
	throttle throttle
	rejected int       // documents rejected for good
	progress time.Time // when a document was last settled
	fatal    error     // the error that ended the store

	waiting     []*pendingRun // runs to finish
	isFinishing bool
	finished    time.Time // when runs were last finished
}

// version is one version of one run.
type version struct{ id, ingest string }

// versionState counts the documents of a version that were put, by result.
type versionState struct {
	queued, pending, rejected int

	stored map[uint64]struct{} // hashes of the ids of stored documents, so that each counts once
	err    error               // why the run cannot be finished
	looked bool                // whether the cluster has other versions of the run is known
	hidden bool                // the cluster has other versions, so new documents are marked as pending
}

// document is a document for a bulk request.
type document struct {
	index, id string
	hash      uint64 // of id
	text      []byte
	of        version // of an interval document
	run       *versionState
	isNew     bool   // it must not replace another document
	at        *state // it may replace only the document in this state; nil: any
	broken    int    // how often the server answered status 500 or above for it
}

// state is the state of a stored document when it was read: Elasticsearch's _seq_no and _primary_term.
type state struct{ seq, term int64 }

// bytes returns about the size of a document in a request.
func (d *document) bytes() int { return len(d.text) + len(d.index) + len(d.id) + 40 }

// append appends the two lines of the document in a request.
func (d *document) append(dst []byte) []byte {
	return append(append(append(d.action(dst), '\n'), d.text...), '\n')
}

func (d *document) action(dst []byte) []byte {
	switch {
	case d.at != nil:
		return mapping.AppendActionIf(dst, d.index, d.id, d.at.seq, d.at.term)
	case d.isNew:
		return append(dst, mapping.CreateOnly(mapping.AppendAction(nil, d.index, d.id))...)
	}
	return mapping.AppendAction(dst, d.index, d.id)
}

func newWriter(opt Options) *writer {
	ctx, cancel := context.WithCancel(context.Background())
	return &writer{
		ctx: ctx, cancel: cancel, preparing: make(chan struct{}, 1), wake: make(chan struct{}), rejects: rejectFile{path: opt.RejectFile},
		underWay: make(map[uint64]struct{}), runs: make(map[version]*versionState), latest: make(map[string]string),
		throttle: newThrottle(opt.BodyBytes, opt.InFlight),
	}
}

// state returns the state of a version. The caller has locked mu.
func (w *writer) state(of version) *versionState {
	r := w.runs[of]
	if r == nil {
		r = &versionState{stored: make(map[uint64]struct{})}
		w.runs[of] = r
	}
	return r
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

// changed wakes all goroutines in wait. The caller has locked mu.
func (w *writer) changed() {
	close(w.wake)
	w.wake = make(chan struct{})
}

// wait waits until something changes. mu is unlocked in the meantime.
func (w *writer) wait(ctx context.Context) error {
	wake := w.wake
	w.mu.Unlock()
	defer w.mu.Lock()
	select {
	case <-wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// lastProgress returns when a document was last settled.
func (w *writer) lastProgress() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.progress
}

// Put implements [history.Store]. It returns before the documents are stored: that they are, Finish says. It waits
// while the cluster is slower than the caller. Its error may be about documents of earlier calls, for example if the
// cluster rejects everything (see [Options].RejectFile). If no document is settled for the time that the client waits
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
		text = d.AppendJSON(text[:0])
		one := &document{index: d.Index(e.prefix), id: d.ID(), text: bytes.Clone(text), of: version{d.Run.ID, d.Run.Ingest}}
		one.hash = xxhash.Sum64String(one.id)
		if err := e.add(ctx, one); err != nil {
			return err
		}
	}
	return nil
}

// add adds a document to the open body. It waits until there is room, and while another document with its id is under
// way: the cluster may handle two requests in any order, and the later document must win.
func (e *Store) add(ctx context.Context, d *document) error {
	w := e.writer
	w.mu.Lock()
	defer w.mu.Unlock()
	for {
		d.run = w.state(d.of) // looked up each time, because the run may have been finished while add waited
		_, isUnderWay := w.underWay[d.hash]
		if isUnderWay || w.size+d.bytes() > w.throttle.body {
			e.flush()
		}
		switch {
		case w.fatal != nil:
			return w.fatal
		case d.run.err != nil:
			return d.run.err
		case !isUnderWay && (len(w.open) > 0 || w.bodies < e.opt.InFlight+2):
			if len(w.open) == 0 {
				w.bodies++
			}
			w.open, w.size = append(w.open, d), w.size+d.bytes()
			w.take(d)
			return nil
		}
		if err := w.wait(ctx); err != nil {
			return err
		}
	}
}

// take counts a document that will be sent. The caller has locked mu.
func (w *writer) take(d *document) {
	w.underWay[d.hash] = struct{}{}
	d.run.queued++
	d.run.pending++
}

// flush sends the open body. The caller has locked mu.
func (e *Store) flush() {
	w, docs := e.writer, e.writer.open
	if len(docs) == 0 || w.fatal != nil {
		return
	}
	w.open, w.size = nil, 0
	w.background.Go(func() {
		if err := e.sendBody(docs); err != nil {
			w.fail(err)
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.bodies--
		w.changed()
	})
}

// Flush waits until each document put so far is stored or rejected, and makes them visible, so that Count counts them. It
// returns the error that ended the store. An error of a run's documents is returned by Finish for that run.
func (e *Store) Flush(ctx context.Context) error {
	w := e.writer
	w.mu.Lock()
	e.flush()
	var err error
	for w.bodies > 0 && w.fatal == nil && err == nil {
		err = w.wait(ctx)
	}
	err = cmp.Or(err, w.fatal)
	w.mu.Unlock()
	if err == nil {
		err = e.client.Refresh(ctx, e.intervals())
	}
	if err != nil {
		return e.fail(ctx, "write to", fmt.Errorf("flush documents: %w", err))
	}
	return nil
}

// Close ends requests under way and waits for them. It fails if documents were not stored, so call Flush or Finish
// before. The client stays open.
func (e *Store) Close() error {
	w := e.writer
	w.fail(ErrClosed)
	w.background.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.rejects.close()
	if lost := len(w.underWay); lost > 0 {
		err = errors.Join(fmt.Errorf("close: %d documents were not stored", lost), err)
	}
	return err
}

// Rejected returns the number of documents that the cluster rejected for good so far.
func (e *Store) Rejected() int {
	e.writer.mu.Lock()
	defer e.writer.mu.Unlock()
	return e.writer.rejected
}
