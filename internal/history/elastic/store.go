// Package elastic is the history in an Elasticsearch cluster. [Store] reads it, and writes to it.
package elastic

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
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
//     removed. A version whose documents are in indices of another period replaces itself in the same way, and meanwhile
//     readers leave out the second document of an id.
type Store struct {
	indices
	client *es.Client
	limits limits

	ctx        context.Context // of bulk requests; ends with Close
	close      context.CancelFunc
	background sync.WaitGroup // bulk requests
	slots      chan struct{}  // one for each bulk request that is packed or under way

	preparing               chan struct{} // one goroutine prepares at a time; a channel, because waiting must end with a context
	isPrepared, isRefreshed bool
	period                  mapping.Period // of the indices of interval documents; known when isPrepared is true

	last    chan struct{} // of who sends a request that is not full
	turn    chan struct{} // of who finishes the versions that wait
	looking chan struct{} // one goroutine looks at a time, so that it does not find the documents of another

	mu       sync.Mutex                        // guards all below
	versions map[history.Version]*versionState // versions that are not finished
	waiting  []*finishing                      // versions
	news     map[string]*mapping.Run           // see News
	open     []*document                       // of the next bulk request
	size     int                               // bytes of it
	body     int                               // most bytes of a bulk request before compression; one larger document is sent alone
}

// limits are constant except in tests.
type limits struct {
	pageBytes  int           // approximate size of a page, in bytes
	pageHits   int           // most documents of a page
	ahead      int           // pages that are read ahead
	answer     int64         // limit in bytes of an answer with several documents
	document   int64         // limit in bytes of an answer with one document
	keepAlive  time.Duration // time that a point in time lives after each page
	closeAfter time.Duration // how long closing a point in time may take
}

var usualLimits = limits{
	pageBytes: 4 << 20, pageHits: 5000, ahead: 1,
	answer: 16 << 20, document: mapping.MaxRunBytes + 1<<20,
	keepAlive: 5 * time.Minute, closeAfter: 500 * time.Millisecond, // short, so that Ctrl-C ends within a second
}

// New returns the history in the indices of a cluster whose names begin with prefix. It sends nothing yet. Call Close after
// writing.
func New(c *es.Client, prefix string) *Store {
	const requests, bytes = 3, 5 << 18 // bulk requests in memory, and their limit
	ctx, cancel := context.WithCancel(context.Background())
	return &Store{
		indices: indices{prefix}, client: c, limits: usualLimits, ctx: ctx, close: cancel, slots: make(chan struct{}, requests),
		preparing: make(chan struct{}, 1), last: make(chan struct{}, 1), turn: make(chan struct{}, 1), looking: make(chan struct{}, 1), period: mapping.Years, versions: map[history.Version]*versionState{}, body: bytes,
	}
}

// Close ends bulk requests under way and waits for them. Documents of runs that were not finished may be lost. The client
// stays open.
func (e *Store) Close() error {
	e.close()
	e.background.Wait()
	return nil
}

// indices builds names of the indices of a history, escaped for paths.
type indices struct{ prefix string }

func (i indices) runs() string { return url.PathEscape(mapping.RunsIndex(i.prefix)) }

func (i indices) intervals() string { return url.PathEscape(i.prefix) + "-latency.*" }

func (i indices) level(l mapping.Level) string {
	return url.PathEscape(i.prefix) + "-latency." + l.String() + "-*"
}

// fail adds to an error what was tried (verb), with which history, and the history error that it means.
func (e *Store) fail(ctx context.Context, verb string, err error) error {
	refusal, _ := errors.AsType[*es.Error](err)
	switch ended := ctx.Err(); {
	case err == nil:
		return nil
	case ended != nil && !errors.Is(err, ended):
		err = fmt.Errorf("%w (%w)", ended, err)
	case errors.Is(err, es.ErrConflict):
		err = fmt.Errorf("%w: %w", history.ErrBusy, err)
	case refusal != nil && refusal.Type == es.MissingType && !errors.Is(err, ErrNoIndex):
		err = fmt.Errorf("%w (%w)", history.ErrNoIndex, refusal)
	case refusal != nil && refusal.Type == "search_context_missing_exception":
		err = fmt.Errorf("%w: nothing was read for %v, or a node was restarted: start again", err, e.limits.keepAlive)
	}
	return fmt.Errorf("%s history %s-* in Elasticsearch: %w", verb, e.prefix, err)
}
