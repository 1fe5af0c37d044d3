package elastic

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic/bulk"
	"github.com/fio2es/fio2es/mapping"
)

// Store is a history in the indices of an Elasticsearch cluster, 8.6 or later. It
// fails with an [*es.Error] when the cluster refuses ([es.ErrAuth] and
// [es.ErrForbidden] are of credentials), with [history.ErrNoIndex] when it has no index for
// runs, and with [es.ErrIncomplete] rather than give a part of an answer.
//
// A cluster has no transactions. What makes one version of a run visible is its
// document: [bulk.Writer] stores that last and removes other versions after it; Delete
// removes it first. Readers look at it before and after they fix the state that they read (a
// point in time), and fix another one when it has changed in between. So reading depends on
// this of the writer:
//   - Documents of two versions of a run (run.ingest) have different ids. Otherwise a
//     version that is being written destroys the one that readers still see.
//   - Finish stores the run's document after all that was Put is stored and visible, and
//     removes documents of other versions only after that is visible, too.
//   - Documents of a version that replaces another one are pending ([mapping.PendingField])
//     until the other one is removed.
type Store struct {
	client *es.Client
	writer *bulk.Writer
	prefix string // of all indices
	limits limits
	large  chan struct{} // holds one while a large answer is read
}

// limits are constant but in tests.
type limits struct {
	settle     int           // tries to find a state in which no run is being replaced
	pageBytes  int           // that a page should have
	pageHits   int           // that it has at most
	keys       int           // of documents that are asked for at once; 10,000 at most
	ahead      int           // pages that are read before they are asked for
	answer     int64         // the most bytes that are read of an answer with several documents
	document   int64         // of one with a single document
	keepAlive  time.Duration // of a point in time, from one page to the next
	closeAfter time.Duration // how long to wait for the end of a point in time
}

var usualLimits = limits{
	settle:    20,
	pageBytes: 4 << 20, pageHits: 5000, keys: 10_000, ahead: 3,
	answer: 16 << 20, document: mapping.MaxRunBytes + 1<<20,
	keepAlive: 5 * time.Minute, closeAfter: 500 * time.Millisecond, // so that Ctrl-C ends within a second
}

// New is the history in the indices of a cluster whose names begin with [bulk.Options].Prefix.
// It sends nothing before it is asked to. Close it when something was written.
func New(c *es.Client, opt bulk.Options) *Store {
	if opt.Prefix == "" {
		opt.Prefix = mapping.DefaultPrefix
	}
	return &Store{client: c, writer: bulk.New(c, opt), prefix: opt.Prefix, limits: usualLimits, large: make(chan struct{}, 1)}
}

// Close ends what is under way and waits for it. It fails when documents are lost by that:
// Flush or Finish come before. The client stays open.
func (e *Store) Close() error { return e.writer.Close() }

// Put implements [history.Store]. Documents are stored when Finish returns. An error may be
// about documents of earlier calls.
func (e *Store) Put(ctx context.Context, docs []*mapping.Interval) error {
	return e.fail(ctx, "write to", e.writer.Put(ctx, docs))
}

// PutEncoded is Put of documents that are encoded already, up to an error. It returns how
// many it has taken.
func (e *Store) PutEncoded(ctx context.Context, docs iter.Seq2[*mapping.Encoded, error]) (int, error) {
	n, err := e.writer.PutEncoded(ctx, docs)
	return n, e.fail(ctx, "write to", err)
}

// Flush waits until each document so far is stored or refused.
func (e *Store) Flush(ctx context.Context) error { return e.fail(ctx, "write to", e.writer.Flush(ctx)) }

// Finish implements [history.Store]. It may be called again and again, as a run that is
// followed grows, and for many runs at once.
func (e *Store) Finish(ctx context.Context, run *mapping.Run) error {
	return e.fail(ctx, "write to", e.writer.Finish(ctx, run))
}

// Stats is what was written so far.
func (e *Store) Stats() bulk.Stats { return e.writer.Stats() }

// Delete implements [history.Store]. When it is interrupted, no reader sees the run any more,
// and repeating it removes the rest.
func (e *Store) Delete(ctx context.Context, runID string) error {
	return e.fail(ctx, "write to", e.delete(ctx, runID))
}

func (e *Store) delete(ctx context.Context, runID string) error {
	removed := 0
	for _, index := range []string{e.runs(), e.intervals()} {
		n, err := e.remove(ctx, index, es.Term("run.id", runID))
		if err != nil {
			return err
		}
		removed += n
	}
	if removed > 0 {
		return nil
	}
	if _, err := e.finished(ctx, []string{runID}); err != nil {
		return err // there is no index
	}
	return fmt.Errorf("delete run %q: %w", runID, history.ErrNotFound)
}

// remove deletes the documents that a query finds.
func (e *Store) remove(ctx context.Context, index string, query any) (n int, err error) {
	if err = e.client.Refresh(ctx, index); err == nil { // a removal sees what is refreshed
		n, err = e.client.DeleteAll(ctx, query, index)
	}
	return n, because(ctx, "delete documents", err)
}

// The names of indices as they stand in paths.

func (e *Store) runs() string { return url.PathEscape(mapping.RunsIndex(e.prefix)) }

func (e *Store) intervals() string { return url.PathEscape(e.prefix) + "-latency.*" }

func (e *Store) level(l mapping.Level) string {
	return url.PathEscape(e.prefix) + "-latency." + l.String() + "-*"
}

// fail says what was tried, and with which history.
func (e *Store) fail(ctx context.Context, verb string, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		err = fmt.Errorf("%w (%w)", ended, err)
	}
	return fmt.Errorf("%s history %s-* in Elasticsearch: %w", verb, e.prefix, err)
}
