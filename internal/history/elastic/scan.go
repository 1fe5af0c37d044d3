package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/internal/es"
)

// scan reads the documents that a request finds, in order and page by page. With a point in time, it fails unless
// all documents come. Otherwise it reads an index.
type scan[D any] struct {
	e       *Store
	verb    string
	index   string
	request request // request of the next page
	// opens a point in time of the same documents; nil if that is impossible
	reopen func(context.Context) (string, error)
}

// pages returns the hits page by page.
func (s *scan[D]) pages(ctx context.Context) iter.Seq2[[]hit[D], error] {
	return func(yield func([]hit[D], error) bool) {
		r := &s.request
		for left := 0; ; {
			isFirst := r.After == nil
			f, err := s.next(ctx)
			if err != nil {
				yield(nil, err)
				return
			}
			if isFirst {
				left = f.total
			}
			n, isLast := len(f.hits), len(f.hits) < r.Size
			if r.PIT != nil {
				if n != min(r.Size, left) {
					yield(nil, fmt.Errorf("%s: %d of %d documents: %w", s.verb, n, min(r.Size, left), es.ErrIncomplete))
					return
				}
				left -= n
				isLast = left == 0
			}
			if !isLast {
				err = s.advance(f)
			}
			if !yield(f.hits, err) || err != nil || isLast {
				return
			}
		}
	}
}

// next reads a page. If the answer is too long, it makes pages smaller. If the point in time has expired, it opens
// another one.
func (s *scan[D]) next(ctx context.Context) (*found[D], error) {
	const most = 3 // attempts for one page
	for try := 1; ; {
		r := &s.request
		r.Total = r.PIT != nil && r.After == nil
		f, err := search[D](ctx, s.e, s.verb, s.index, r)
		switch {
		case err == nil:
			return f, nil
		case r.shrink(err):
			continue
		case !isExpired(err) || s.reopen == nil || try == most:
			return nil, err
		}
		id, err := s.reopen(ctx)
		if err != nil {
			return nil, err
		}
		try++
		r.PIT = &pit{ID: id, KeepAlive: s.e.keepAlive()}
		if n := len(r.After); n > 0 {
			// The last key (_shard_doc) numbers the documents of one point in time. The keys before it identify a
			// document. So in another point in time, the largest number continues after the same document.
			r.After = append(slices.Clone(r.After[:n-1]), json.RawMessage("9223372036854775807"))
		}
	}
}

// advance changes the request to that of the page after f.
func (s *scan[D]) advance(f *found[D]) error {
	r, n := &s.request, len(f.hits)
	last, err := f.hits[n-1].Sort.values()
	keys := len(r.Sort)
	if r.PIT != nil {
		r.PIT.ID = f.pit
		keys++ // in a point in time, Elasticsearch adds the key _shard_doc
	}
	if err != nil || len(last) != keys || isSame(last, r.After) { // the next page would be the same, without end
		return fmt.Errorf("%s: %w", s.verb, es.ErrAnswer)
	}
	r.After, r.Size = last, max(1, min(n*s.e.limits.pageBytes/max(1, f.bytes), s.e.limits.pageHits))
	return nil
}

// all returns the hits of all pages, and reads n pages ahead. Each hit has its document.
func (s *scan[D]) all(ctx context.Context, n int) iter.Seq2[*hit[D], error] {
	return func(yield func(*hit[D], error) bool) {
		for hits, err := range ahead.Read(ctx, n, s.pages) {
			for i := 0; i < len(hits) && err == nil; i++ {
				if _, err = hits[i].document(); err == nil && !yield(&hits[i], nil) {
					return
				}
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

func (s *scan[D]) close(ctx context.Context) {
	if s.request.PIT != nil {
		s.e.closePIT(ctx, s.request.PIT.ID)
	}
}

// documents returns all documents, reads n pages ahead, and closes the point in time at the end.
func (s *scan[D]) documents(ctx context.Context, n int) iter.Seq2[*D, error] {
	return func(yield func(*D, error) bool) {
		defer func() { s.close(ctx) }()
		for h, err := range s.all(ctx, n) {
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(h.Source, nil) {
				return
			}
		}
	}
}

// isExpired reports whether a point in time has expired, because the caller was slow or a node restarted.
func isExpired(err error) bool {
	refusal := (*es.Error)(nil)
	return errors.As(err, &refusal) && refusal.Type == "search_context_missing_exception"
}
