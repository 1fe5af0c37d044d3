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

// scan reads the documents that a query finds in a point in time, in order. What the first
// page leaves is cut into slices, of so many documents after a certain one, that are
// read side by side. Where to cut is asked for first: the keys of order of 10,000
// documents take the cluster less time than a hundred documents do.
//
// The slices that Elasticsearch offers would not do: it deals them out to shards before it
// cuts shards, so that a run, which lies in one, is in one slice.
type scan[D any] struct {
	e       *Store
	verb    string
	request request // of the first page; all others ask the same
	keep    func(*D) bool
	reopen  func(context.Context) (string, error) // the same state anew; nil where that cannot be
	ahead   int                                   // slices that are read before they are asked for

	fit atomic.Int64 // documents that make up a slice, going by the last one that was read

	mu  sync.Mutex
	pit point // the newest that there is
}

// point is a point in time, and how many there were before it.
type point struct {
	id    string
	count int
}

// page is some documents in their order, or why they could not be read.
type page[D any] struct {
	docs []*D
	err  error
}

// documents closes the point in time at the end.
func (s *scan[D]) documents(ctx context.Context) iter.Seq2[*D, error] {
	return func(yield func(*D, error) bool) {
		s.pit.id = s.request.PIT.ID
		pages := make(chan (<-chan page[D]), s.ahead) // in their order; each comes when it is read
		var wait sync.WaitGroup
		inner, cancel := context.WithCancel(ctx)
		defer func() {
			cancel()
			wait.Wait()
			s.e.closePIT(ctx, s.pit.id)
		}()
		var ended error // to be read when pages is closed
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

// read promises pages, no more than there is room for, and keeps the promises in
// goroutines of their own. It fails when ctx ends first; all else is told in the pages.
func (s *scan[D]) read(ctx context.Context, wait *sync.WaitGroup, pages chan<- <-chan page[D]) error {
	var keys [][]json.RawMessage // of the documents that come next
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

// first gets the first page, and how many hits there are in all.
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

// keys are those of the n documents after one.
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

// slice reads the n documents after one, the last of which has the key to. Should they be
// too large for an answer, it takes several.
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
		return page[D]{nil, fmt.Errorf("%s: other documents than their keys say: %w", s.verb, es.ErrIncomplete)}
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

// learn takes note of what documents weigh.
func (s *scan[D]) learn(hits, bytes int) {
	fit := hits * s.e.limits.pageBytes / max(1, bytes)
	s.fit.Store(int64(max(1, min(fit, s.e.limits.pageHits))))
}

// searchIn asks the newest point in time, or the one after it if that is no more.
func searchIn[H, D any](ctx context.Context, s *scan[D], r *request) (*found[H], error) {
	const most = 3 // points in time that one request may use up
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

// follow notes the id that the cluster wants from now on: it may be another one each time.
func (s *scan[D]) follow(now point, id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pit.count == now.count {
		s.pit.id = id
	}
}

// renew opens another point in time instead of one that is no more, once for all who
// find that.
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

// after is how to go on after a key. The last part of it (_shard_doc) numbers the
// documents of one point in time; the parts before it tell all documents apart, so in a
// later one go on after the largest number.
func (p point) after(key []json.RawMessage) []json.RawMessage {
	if p.count == 0 || len(key) == 0 {
		return key
	}
	key = slices.Clone(key)
	key[len(key)-1] = json.RawMessage("9223372036854775807")
	return key
}

// isExpired tells whether a point in time is no more: it is kept from page to page, but
// not for a caller who takes too long, and not when a node restarts.
func isExpired(err error) bool {
	refusal := (*es.Error)(nil)
	return errors.As(err, &refusal) && refusal.Type == "search_context_missing_exception"
}
