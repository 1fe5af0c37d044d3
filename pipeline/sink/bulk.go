package sink

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/fio2es/fio2es/internal/elastic"
	"github.com/fio2es/fio2es/mapping"
)

// Elastic stores documents in an Elasticsearch cluster. Put returns before they are
// safe; Finish of a run returns nil when each of its documents is stored, or refused
// for good and recorded in the reject file. Several runs may go on at the same time.
//
// Documents are packed into dense bulk requests, of which some are under way at once;
// at most [Options].InFlight+2 bodies are in memory, and Put waits when they are full.
// What fails is sent again for as long as that can help. Ids are fixed and the action
// is index, so that a document that arrives twice is one.
//
// Close it, whatever happened.
type Elastic struct {
	client *elastic.Client
	opt    Options
	ctx    context.Context // of what goes on in the background, until Close
	cancel context.CancelFunc

	templates gate
	rejects   rejectFile
	chunks    sync.Pool  // of *chunk
	report    sync.Mutex // Progress is called by one at a time
	senders   sync.WaitGroup

	mu       sync.Mutex
	wake     chan struct{} // closed and made anew when something changed that others wait for
	open     *body         // being filled; nil when there is none
	free     []*body       // for reuse
	bodies   int           // in memory, but for the free
	flying   int           // bodies that hold one of pace's slots
	pace     pace
	squeeze  squeeze
	pending  map[uint64]struct{} // hashes of the ids of documents that are not settled
	runs     map[runKey]*runState
	latest   map[string]string // ingest of the version of a run that was put last
	endings  []*ending         // runs that wait for their end
	endsRuns bool              // somebody ends them
	lastEnd  time.Time         // when runs were ended last
	stats    Stats
	progress time.Time // when a document was settled last
	fatal    error     // ends everything
}

// ErrClosed is a sink that is used after Close.
var ErrClosed = errors.New("sink is closed")

// runKey is one version of one run.
type runKey struct{ id, ingest string }

// runState is what became of a run's documents.
type runState struct {
	queued, pending, rejected int64
	indexed                   int64
	hashes                    []uint64 // of the ids of those that were indexed, for counting different ones
	err                       error    // the run cannot be finished
	looked                    bool     // it is known whether the cluster has other versions
	hidden                    bool     // it has, so documents are marked as pending
}

// NewElastic is a sink for the cluster that client reaches. It sends nothing yet. It gives
// up when no document was settled for as long as the client waits without progress.
func NewElastic(client *elastic.Client, options Options) *Elastic {
	opt := options.withDefaults()
	ctx, cancel := context.WithCancel(context.Background())
	return &Elastic{
		client: client, opt: opt, ctx: ctx, cancel: cancel,
		templates: newGate(), rejects: rejectFile{path: opt.RejectFile},
		wake: make(chan struct{}), pace: newPace(opt.BodyBytes, opt.InFlight), squeeze: newSqueeze(client.Gzip()),
		pending: make(map[uint64]struct{}), runs: make(map[runKey]*runState),
		latest: make(map[string]string),
	}
}

// Put implements [Sink]. It takes none of the documents when one does not pass its
// Check; a document with too many requests for one is split. It waits while the cluster
// does not keep up. An error may be about documents of earlier calls: the cluster
// refuses everything, or this run's (see [Options].RejectFile).
func (s *Elastic) Put(ctx context.Context, docs []*mapping.Interval) error {
	parts, err := splitAll(docs)
	if err == nil {
		err = s.ready(ctx)
	}
	if err != nil {
		return fmt.Errorf("put documents: %w", err)
	}
	c := s.newChunk()
	defer s.chunks.Put(c)
	for _, d := range parts {
		c.add(c.index(s.opt.Prefix, d.Level, d.Run.Start), d.ID(), runKey{d.Run.ID, d.Run.Ingest}, d.AppendJSON)
		if len(c.buf) >= chunkBytes {
			if err := s.take(ctx, c, nil); err != nil {
				return fmt.Errorf("put documents: %w", err)
			}
		}
	}
	if err := s.take(ctx, c, nil); err != nil {
		return fmt.Errorf("put documents: %w", err)
	}
	return nil
}

// PutEncoded is Put of documents that are encoded already, and were checked before they
// were. It takes them up to an error, which it gives back, and tells how many they were.
func (s *Elastic) PutEncoded(ctx context.Context, docs iter.Seq2[*mapping.Encoded, error]) (int, error) {
	if err := s.ready(ctx); err != nil {
		return 0, fmt.Errorf("put documents: %w", err)
	}
	c := s.newChunk() // for the actions alone: documents go into bodies as they are
	defer s.chunks.Put(c)
	taken := 0
	for d, err := range docs {
		if err != nil {
			return taken, err
		}
		c.buf = append(mapping.AppendAction(c.buf[:0], c.index(s.opt.Prefix, d.Level, d.Start), d.ID), '\n')
		e := newEntry(d.ID, runKey{d.Run, d.Ingest})
		e.doc, e.end = len(c.buf), len(c.buf)+len(d.JSON)+1
		if err := s.takeEncoded(ctx, e, c.buf, d.JSON); err != nil {
			return taken, fmt.Errorf("put documents: %w", err)
		}
		taken++
	}
	return taken, nil
}

func (s *Elastic) takeEncoded(ctx context.Context, e entry, action, document []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.takeOne(ctx, e, nil, action, document)
}

// splitAll checks documents, and splits those that are too large.
func splitAll(docs []*mapping.Interval) ([]*mapping.Interval, error) {
	for i, d := range docs {
		switch err := d.Check(); {
		case err == nil:
		case errors.Is(err, mapping.ErrCountLimit):
			return splitFrom(docs, i)
		default:
			return nil, err
		}
	}
	return docs, nil
}

func splitFrom(docs []*mapping.Interval, first int) ([]*mapping.Interval, error) {
	parts := append([]*mapping.Interval(nil), docs[:first]...)
	for _, d := range docs[first:] {
		for _, p := range d.Split() {
			if err := p.Check(); err != nil {
				return nil, err
			}
			parts = append(parts, p)
		}
	}
	return parts, nil
}

// ready tells why nothing can be sent, if so.
func (s *Elastic) ready(ctx context.Context) error {
	s.mu.Lock()
	err := s.fatal
	s.mu.Unlock()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	return s.templates.pass(ctx, s.prepare)
}

// prepare is done once. What an earlier process has stored becomes visible, so that other
// versions of runs are found.
func (s *Elastic) prepare(ctx context.Context) error {
	if err := s.CheckTemplates(ctx); err != nil {
		return err
	}
	return s.again(ctx, func() error { return s.client.Refresh(ctx, s.intervals()) })
}

// intervals is the pattern of the indices of interval documents.
func (s *Elastic) intervals() string {
	return s.opt.Prefix + "-latency.*"
}

// Flush waits until all documents so far are settled. It returns what ended the sink;
// that documents of a run were refused is told by the run's Finish.
func (s *Elastic) Flush(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seal()
	for s.bodies > 0 && s.fatal == nil {
		if err := s.wait(ctx); err != nil {
			return fmt.Errorf("flush documents: %w", err)
		}
	}
	if s.fatal != nil {
		return fmt.Errorf("flush documents: %w", s.fatal)
	}
	return nil
}

// Close ends what is under way and waits for it. It fails when documents are lost by
// that: Flush or Finish come before.
func (s *Elastic) Close() error {
	s.mu.Lock()
	if s.fatal == nil {
		s.fatal = ErrClosed
	}
	lost := len(s.pending)
	if s.open != nil {
		s.open.timer.Stop()
	}
	s.cancel()
	s.changed()
	s.mu.Unlock()
	s.senders.Wait()
	err := s.rejects.close()
	if lost > 0 {
		err = errors.Join(fmt.Errorf("close sink: %d documents were not stored", lost), err)
	}
	return err
}

// fail ends everything with err, unless something did before; s.mu is held.
func (s *Elastic) fail(err error) {
	if s.fatal == nil {
		s.fatal = err
	}
	s.cancel()
	s.changed()
}

// changed wakes all who wait; s.mu is held.
func (s *Elastic) changed() {
	close(s.wake)
	s.wake = make(chan struct{})
}

// wait gives s.mu up until something changed.
func (s *Elastic) wait(ctx context.Context) error {
	wake := s.wake
	s.mu.Unlock()
	defer s.mu.Lock()
	select {
	case <-wake:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// gate lets through after something has succeeded once; one tries at a time.
type gate struct{ key, done chan struct{} }

func newGate() gate { return gate{key: make(chan struct{}, 1), done: make(chan struct{})} }

func (g *gate) pass(ctx context.Context, try func(context.Context) error) error {
	select {
	case <-g.done:
		return nil
	case g.key <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { <-g.key }()
	select {
	case <-g.done: // by the one before
		return nil
	default:
	}
	if err := try(ctx); err != nil {
		return err
	}
	close(g.done)
	return nil
}
