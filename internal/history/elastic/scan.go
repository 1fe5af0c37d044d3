package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fio2es/fio2es/internal/es"
)

// scan reads the documents that a query finds in a point in time, in order. After the first
// page it cuts the rest into slices, each some number of documents after a certain one, and
// reads several slices at a time. It reads the sort keys first, to know where to cut: those
// of 10,000 documents take the cluster less time than a hundred documents.
//
// Elasticsearch's own slices would not help: it assigns them to shards before it cuts
// shards, and a run, which lies in one shard, would be one slice.
type scan[D any] struct {
	e       *Store
	verb    string
	request request // of the first page; others differ in size and place
	keep    func(*D) bool
	reopen  func(context.Context) (string, error) // opens the same state again; nil if that is impossible
	ahead   int                                   // slices that are read ahead

	fit atomic.Int64 // documents of a slice, estimated from the last one that was read

	mu  sync.Mutex
	pit point // the newest one
}

// point is a point in time, and how many were opened before it.
type point struct {
	id    string
	count int
}

// page is some documents in order, or why they could not be read.
type page[D any] struct {
	docs []*D
	err  error
}

// documents are all documents. It closes the point in time at the end.
func (s *scan[D]) documents(ctx context.Context) iter.Seq2[*D, error] {
	return func(yield func(*D, error) bool) {
		s.pit.id = s.request.PIT.ID
		pages := make(chan (<-chan page[D]), s.ahead) // in order; each is ready when it is read
		var wait sync.WaitGroup
		inner, cancel := context.WithCancel(ctx)
		defer func() {
			cancel()
			wait.Wait()
			s.e.closePIT(ctx, s.pit.id)
		}()
		var ended error // valid when pages is closed
		wait.Go(func() {
			defer close(pages)
			ended = s.read(inner, &wait, pages)
		})
		for next := range pages {
			p := <-next
			for _, d := range p.docs {
				if s.keep(d) && !yield(d, nil) {
					return
				}
			}
			if p.err != nil {
				yield(nil, p.err)
				return
			}
		}
		if ended != nil {
			yield(nil, ended)
		}
	}
}

// read starts a goroutine for each page, as many as pages has room for. It fails when ctx ends
// first; other errors are in the pages.
func (s *scan[D]) read(ctx context.Context, wait *sync.WaitGroup, pages chan<- <-chan page[D]) error {
	var keys [][]json.RawMessage // of the next documents
	var after []json.RawMessage
	for left, first := 1, true; left > 0; first = false {
		promise := make(chan page[D], 1)
		select {
		case pages <- promise:
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", s.verb, ctx.Err())
		}
		if first {
			hits, total, err := s.first(ctx)
			if left = total - len(hits); left > 0 {
				after = hits[len(hits)-1].Sort
			}
			promise <- s.page(hits, err)
			continue
		}
		if len(keys) == 0 {
			var err error
			if keys, err = s.keys(ctx, after, min(left, s.e.limits.keys)); err != nil {
				promise <- page[D]{err: err}
				return nil
			}
		}
		n := min(len(keys), int(s.fit.Load()))
		from, to := after, keys[n-1]
		wait.Go(func() { promise <- s.slice(ctx, from, n, to) })
		after, keys, left = to, keys[n:], left-n
	}
	return nil
}

// first is the first page, and the number of all hits.
func (s *scan[D]) first(ctx context.Context) ([]hit[D], int, error) {
	for r := s.request; ; {
		r.Total = true
		f, err := searchIn[D](ctx, s, &r)
		if r.shrink(err) {
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		hits, total := f.hits, f.total
		if len(hits) != min(r.Size, total) {
			return nil, 0, fmt.Errorf("%s: %d of %d documents: %w", s.verb, len(hits), total, es.ErrIncomplete)
		}
		s.learn(len(hits), f.in.n)
		return hits, total, nil
	}
}

// keys are the sort keys of the n documents after one.
func (s *scan[D]) keys(ctx context.Context, after []json.RawMessage, n int) ([][]json.RawMessage, error) {
	r := s.request
	r.Size, r.After, r.Source, r.Stored = n, after, nil, "_none_"
	f, err := searchIn[struct{}](ctx, s, &r)
	if err != nil {
		return nil, err
	}
	keys := make([][]json.RawMessage, 0, n)
	for _, h := range f.hits {
		keys = append(keys, h.Sort)
	}
	switch {
	case len(keys) != n:
		return nil, fmt.Errorf("%s: keys of %d of %d documents: %w", s.verb, len(keys), n, es.ErrIncomplete)
	case isSame(keys[n-1], after): // reading would never end
		return nil, fmt.Errorf("%s: %w", s.verb, es.ErrAnswer)
	}
	return keys, nil
}

// slice reads the n documents after one, the last of which has the key to. If they are too
// large for one answer, it sends several requests.
func (s *scan[D]) slice(ctx context.Context, after []json.RawMessage, n int, to []json.RawMessage) page[D] {
	docs := make([]*D, 0, n)
	r := s.request
	for r.Size = n; len(docs) < n; {
		r.After, r.Size = after, min(r.Size, n-len(docs))
		f, err := searchIn[D](ctx, s, &r)
		if r.shrink(err) {
			continue
		}
		if err != nil {
			return page[D]{docs, err}
		}
		hits := f.hits
		if len(hits) != r.Size {
			err := fmt.Errorf("%s: %d of %d documents: %w", s.verb, len(hits), r.Size, es.ErrIncomplete)
			return page[D]{docs, err}
		}
		s.learn(len(hits), f.in.n)
		p := s.page(hits, nil)
		if docs = append(docs, p.docs...); p.err != nil {
			return page[D]{docs, p.err}
		}
		after = hits[len(hits)-1].Sort
	}
	if last := len(r.Sort); !isSame(after[:last], to[:last]) {
		return page[D]{nil, fmt.Errorf("%s: the documents have other sort keys than before: %w", s.verb, es.ErrIncomplete)}
	}
	return page[D]{docs: docs}
}

func (s *scan[D]) page(hits []hit[D], err error) page[D] {
	if err != nil {
		return page[D]{err: err}
	}
	docs, err := documents(hits)
	if err != nil {
		err = fmt.Errorf("%s: %w", s.verb, err)
	}
	return page[D]{docs, err}
}

// learn notes how large documents are.
func (s *scan[D]) learn(hits, bytes int) {
	fit := hits * s.e.limits.pageBytes / max(1, bytes)
	s.fit.Store(int64(max(1, min(fit, s.e.limits.pageHits))))
}

// searchIn searches the newest point in time. If that has expired, it opens another one.
func searchIn[H, D any](ctx context.Context, s *scan[D], r *request) (*found[H], error) {
	const most = 3 // points in time that one request tries
	for try := 1; ; try++ {
		s.mu.Lock()
		now := s.pit
		s.mu.Unlock()
		in := *r
		in.PIT, in.After = &pit{ID: now.id, KeepAlive: s.e.keepAlive()}, now.after(r.After)
		f, err := search[H](ctx, s.e, s.verb, "", &in)
		switch {
		case err == nil:
			s.follow(now, f.pit)
			if slices.ContainsFunc(f.hits, func(h hit[H]) bool { return len(h.Sort) != len(r.Sort)+1 }) {
				return nil, fmt.Errorf("%s: %w", s.verb, es.ErrAnswer)
			}
			return f, nil
		case !isExpired(err) || s.reopen == nil || try == most:
			return nil, err
		}
		if err := s.renew(ctx, now); err != nil {
			return nil, err
		}
	}
}

// follow notes the id of the point in time for the next request: each answer may have another.
func (s *scan[D]) follow(now point, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pit.count == now.count {
		s.pit.id = id
	}
}

// renew opens another point in time in place of an expired one, once for all goroutines that
// find it expired.
func (s *scan[D]) renew(ctx context.Context, old point) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pit.count != old.count {
		return nil
	}
	id, err := s.reopen(ctx)
	if err != nil {
		return err
	}
	s.pit = point{id, old.count + 1}
	return nil
}

// after is the key to continue after. Its last part (_shard_doc) numbers the documents of one
// point in time. The parts before it identify each document, so in a later point in time the
// last part is the largest number.
func (p point) after(key []json.RawMessage) []json.RawMessage {
	if p.count == 0 || len(key) == 0 {
		return key
	}
	key = slices.Clone(key)
	key[len(key)-1] = json.RawMessage("9223372036854775807")
	return key
}

// isExpired reports whether a point in time has expired: the caller was too slow between two
// pages, or a node restarted.
func isExpired(err error) bool {
	refusal := (*es.Error)(nil)
	return errors.As(err, &refusal) && refusal.Type == "search_context_missing_exception"
}
