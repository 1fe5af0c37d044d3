package elastic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
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

// light returns run documents without histograms and lists of files. It reads them from [mapping.LightField]. Of runs
// whose changes were marked, which lack this field, it reads the documents.
func (s *scan[D]) light(ctx context.Context, n int, decode history.Decoder) iter.Seq2[*runDoc, error] {
	return func(yield func(*runDoc, error) bool) {
		defer func() { s.close(ctx) }()
		from, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(mapping.MaxRunBytes))
		if err != nil {
			yield(nil, err)
			return
		}
		defer from.Close()
		unpack := lightDecoder(from, decode)
		for hits, err := range ahead.Read(ctx, n, s.pages) {
			var docs []*runDoc
			if err == nil {
				docs, err = s.unpackLight(ctx, hits, unpack)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, d := range docs {
				if !yield(d, nil) {
					return
				}
			}
		}
	}
}

// runID returns the second key, which is the id of a run in lists.
func (k sortKey) runID() (id string, err error) {
	values, err := k.values()
	if err != nil || len(values) < 2 {
		return "", es.ErrAnswer
	}
	if err := json.Unmarshal(values[1], &id); err != nil || id == "" {
		return "", fmt.Errorf("run without run.id: %w", history.ErrDamaged)
	}
	return id, nil
}

// unpackLight returns the run documents of one page.
func (s *scan[D]) unpackLight(ctx context.Context, hits []hit[D], unpack history.Decoder) ([]*runDoc, error) {
	batch := make([]*history.Packed, len(hits))
	for i := range hits {
		batch[i] = &history.Packed{Blob: hits[i].Light}
	}
	unpack.All(batch)
	var rest []string // ids of documents to read whole
	for i, p := range batch {
		if p.Err == nil {
			continue
		}
		var err error
		if p.ID, err = hits[i].Sort.runID(); err != nil {
			return nil, err
		}
		rest = append(rest, p.ID)
	}
	stored, docs := map[string]*runDoc{}, []*runDoc(nil)
	if len(rest) > 0 {
		for h, err := range s.e.runDocs(ctx, "list runs", es.Terms("run.id", rest), 500, excludes(heavy...)) {
			if err != nil {
				return nil, err
			}
			stored[h.Source.id] = h.Source
		}
	}
	for _, p := range batch {
		if p.Err == nil {
			docs = append(docs, &runDoc{run: p.Run})
		} else if d := stored[p.ID]; d != nil { // otherwise the run was removed in the meantime
			docs = append(docs, d)
		}
	}
	return docs, nil
}

// lightDecoder returns a decoder of what [RunDocument] packed: from decompresses, decode decodes.
func lightDecoder(from *zstd.Decoder, decode history.Decoder) history.Decoder {
	buffers := sync.Pool{New: func() any { return new([]byte) }}
	return func(packed []byte) (run *mapping.Run, err error) {
		text := buffers.Get().(*[]byte)
		defer buffers.Put(text)
		if *text, err = from.DecodeAll(packed, (*text)[:0]); err != nil {
			return nil, err
		}
		return decode(*text)
	}
}

// RunDocument returns the JSON of a run document, with the additional field [mapping.LightField]: a packed copy of
// what lists need.
func RunDocument(run *mapping.Run) []byte {
	packer, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // fails only for wrong options
	}
	return mapping.WithLight(run.AppendJSON(nil), packer.EncodeAll(run.AppendLight(nil), nil))
}
