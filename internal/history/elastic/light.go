package elastic

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// light returns the documents of runs without histograms and lists of files. They come from a field of their own. Runs
// that an older version stored lack the field, so theirs come from the whole documents.
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

// runID is the id of a run whose n-th key it is.
func (k sortKey) runID(n int) (id string, err error) {
	values, err := k.values()
	if err != nil || len(values) <= n {
		return "", es.ErrAnswer
	}
	if err := json.Unmarshal(values[n], &id); err != nil || id == "" {
		return "", fmt.Errorf("run without run.id: %w", history.ErrDamaged)
	}
	return id, nil
}

// unpackLight are the documents of a page.
func (s *scan[D]) unpackLight(ctx context.Context, hits []hit[D], unpack history.Decoder) ([]*runDoc, error) {
	batch := make([]*history.Packed, len(hits))
	for i := range hits {
		batch[i] = &history.Packed{Blob: hits[i].Light}
	}
	unpack.All(batch)
	var rest []string // ids of documents
	for i, p := range batch {
		if p.Err == nil {
			continue
		}
		var err error
		if p.ID, err = hits[i].Sort.runID(1); err != nil { // by time and run
			return nil, err
		}
		rest = append(rest, p.ID)
	}
	stored, err := s.e.withoutLight(ctx, rest)
	var docs []*runDoc
	for _, p := range batch {
		if p.Err == nil {
			docs = append(docs, &runDoc{run: p.Run})
		} else if d := stored[p.ID]; d != nil { // else it was removed meanwhile
			docs = append(docs, d)
		}
	}
	return docs, err
}

// withoutLight are documents by their ids, from their source.
func (e *reader) withoutLight(ctx context.Context, ids []string) (map[string]*runDoc, error) {
	docs := map[string]*runDoc{}
	if len(ids) == 0 {
		return docs, nil
	}
	s := scan[runDoc]{e: e, verb: "list runs", index: e.runs(), request: request{
		Size: min(500, e.limits.pageHits), Query: es.All(es.Terms("run.id", ids)), Sort: []any{ascending("run.id")}, Source: excludes(heavy...),
	}}
	for h, err := range s.all(ctx, 0) {
		if err != nil {
			return nil, err
		}
		id, err := h.Sort.runID(0)
		if err != nil {
			return nil, err
		}
		docs[id] = h.Source
	}
	return docs, nil
}

// lightDecoder decodes with from what [bulk.RunDocument] packed.
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
