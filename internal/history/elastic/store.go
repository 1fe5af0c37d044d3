// Package elastic is the history in an Elasticsearch cluster. [Store] reads it, and writes to it.
package elastic

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// Store is a history in the indices of an Elasticsearch cluster, 8.6 or later. If the cluster
// refuses a request, the error is an [*es.Error]; [es.ErrAuth] and [es.ErrForbidden] concern credentials. Without an
// index of runs it is [history.ErrNoIndex], and for an incomplete answer [es.ErrIncomplete].
//
// A cluster has no transactions. A run document makes one version of its run visible. Finish stores it last and
// then removes other versions; Delete removes it first. Readers open a point in time, and read the run document
// before and after. If it has changed in between, they open another point in time. So reading depends on these
// properties of the writer:
//   - Documents of two versions of a run (run.ingest) have different ids. Otherwise a new version would overwrite
//     the one that readers still see.
//   - Finish stores the run document after all interval documents are stored and visible. It removes documents of
//     other versions only after the run document is visible, too.
//   - Documents of a version that replaces another one are pending ([mapping.PendingField]) until the other one is
//     removed.
type Store struct {
	indices
	opt    Options
	client *es.Client
	limits limits
	news   atomic.Bool // runs were stored or removed since the last call of News
	writer *writer
}

// limits are constant except in tests.
type limits struct {
	settle     int           // attempts to find a state in which no run is being replaced
	pageBytes  int           // approximate size of a page, in bytes
	pageHits   int           // most documents of a page
	ahead      int           // pages that are read ahead
	answer     int64         // limit in bytes of an answer with several documents
	document   int64         // limit in bytes of an answer with one document
	keepAlive  time.Duration // time that a point in time lives after each page
	closeAfter time.Duration // how long closing a point in time may take
}

var usualLimits = limits{
	settle:    20,
	pageBytes: 4 << 20, pageHits: 5000, ahead: 1,
	answer: 16 << 20, document: mapping.MaxRunBytes + 1<<20,
	keepAlive: 5 * time.Minute, closeAfter: 500 * time.Millisecond, // short, so that Ctrl-C ends within a second
}

// New returns the history in the indices of a cluster whose names begin with [Options].Prefix. It sends nothing yet.
// Call Close after writing.
func New(c *es.Client, opt Options) *Store {
	opt = opt.withDefaults()
	return &Store{indices: indices{opt.Prefix}, opt: opt, client: c, limits: usualLimits, writer: newWriter(opt)}
}

// Delete implements [history.Store]. If it is interrupted, readers no longer see the run; a second call removes the
// rest.
func (e *Store) Delete(ctx context.Context, runID string) error {
	e.news.Store(true)
	return e.fail(ctx, "write to", e.delete(ctx, runID))
}

func (e *Store) delete(ctx context.Context, runID string) error {
	removed := 0
	for _, index := range []string{e.runs(), e.intervals()} {
		n, err := e.remove(ctx, index, es.Term("run.id", runID))
		if err != nil && removed > 0 {
			return fmt.Errorf("%w; its run document is removed, but not all of its interval documents: remove these with fio2es check --repair", err)
		}
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

// remove deletes the documents that a query finds, and returns their number.
func (e *Store) remove(ctx context.Context, index string, query any) (n int, err error) {
	if err = e.client.Refresh(ctx, index); err == nil { // because only visible documents are deleted
		n, err = e.client.DeleteAll(ctx, query, index)
	}
	return n, because(ctx, "delete documents", err)
}

// indices builds names of the indices of a history, escaped for paths.
type indices struct{ prefix string }

func (i indices) runs() string { return url.PathEscape(mapping.RunsIndex(i.prefix)) }

func (i indices) intervals() string { return url.PathEscape(i.prefix) + "-latency.*" }

func (i indices) level(l mapping.Level) string {
	return url.PathEscape(i.prefix) + "-latency." + l.String() + "-*"
}

// fail adds to an error what was tried (verb), and with which history.
func (e *Store) fail(ctx context.Context, verb string, err error) error {
	if err == nil {
		return nil
	}
	if ended := ctx.Err(); ended != nil && !errors.Is(err, ended) {
		err = fmt.Errorf("%w (%w)", ended, err)
	}
	return fmt.Errorf("%s history %s-* in Elasticsearch: %w", verb, e.prefix, err)
}

// do sends a request and decodes its answer.
func (e *Store) do(ctx context.Context, verb string, r es.Limited, into any) error {
	return because(ctx, verb, e.client.Do(ctx, r, into))
}

// because adds to an error what was tried (verb), and the history error that it means.
func because(ctx context.Context, verb string, err error) error {
	var e *es.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		err = ctx.Err()
	case errors.Is(err, es.ErrConflict):
		err = fmt.Errorf("%w: %w", history.ErrBusy, err)
	case errors.As(err, &e) && e.Type == es.MissingType:
		err = fmt.Errorf("%w (%w)", history.ErrNoIndex, e)
	}
	return fmt.Errorf("%s: %w", verb, err)
}

// Count implements [history.Store]. One request counts a thousand versions.
func (e *Store) Count(ctx context.Context, runs []string, levels ...mapping.Level) (history.Counts, error) {
	out, chunks := history.Counts{}, slices.Collect(slices.Chunk(runs, mostTerms))
	if len(runs) == 0 {
		chunks = [][]string{nil}
	}
	for _, some := range chunks {
		var queries []any
		if len(some) > 0 {
			queries = append(queries, es.Terms("run.id", some))
		}
		if len(levels) > 0 {
			var names []string
			for _, l := range levels {
				names = append(names, l.String())
			}
			queries = append(queries, es.Terms("level", names))
		}
		if err := e.addCounts(ctx, out, es.All(queries...)); err != nil {
			return nil, e.fail(ctx, "read", because(ctx, "count documents", err))
		}
	}
	return out, ctx.Err()
}

// counts counts the visible interval documents that a query finds.
func (e *Store) counts(ctx context.Context, query any) (history.Counts, error) {
	out := history.Counts{}
	return out, e.addCounts(ctx, out, query)
}

func (e *Store) addCounts(ctx context.Context, to history.Counts, query any) error {
	// part is the field that all parts of a split document have, except the first
	const run, ingest, level, part = "run.id", "run.ingest", "level", "part"
	found, err := e.client.Groups(ctx, query, []string{run, ingest, level}, []string{part, mapping.PendingField}, e.intervals())
	if err != nil {
		return err
	}
	for _, g := range found {
		l, err := mapping.ParseLevel(g.Key[level])
		if err != nil {
			return fmt.Errorf("count documents: %w", err)
		}
		parts := g.Having[part]
		to.Add(g.Key[run], g.Key[ingest], l, int(g.Documents-parts), int(parts), int(g.Having[mapping.PendingField]))
	}
	return nil
}

// Mark implements [history.Marker].
func (e *Store) Mark(ctx context.Context, changes map[string][]mapping.Change) error {
	err := e.Prepare(ctx)
	if err == nil {
		err = e.client.Refresh(ctx, e.runs())
	}
	const most = 500 // runs in one request
	for ids := range slices.Chunk(slices.Sorted(maps.Keys(changes)), most) {
		some := map[string][]mapping.Change{}
		for _, id := range ids {
			some[id] = append([]mapping.Change{}, changes[id]...) // an empty list, not null
		}
		if err == nil {
			_, err = e.client.UpdateAll(ctx, es.All(es.Terms("run.id", ids)), mapping.MarkChanges, map[string]any{"changes": some}, e.runs())
		}
	}
	return e.fail(ctx, "write to", err)
}

// News reports whether runs were stored or removed since its last call. Then changes have to be found again. Live
// runs do not count, because they belong to no series.
func (e *Store) News() bool { return e.news.Swap(false) }
