package elastic

import (
	"bytes"
	"context"
	"encoding/base64"
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
	if len(k) <= n {
		return "", es.ErrAnswer
	}
	if err := json.Unmarshal(k[n], &id); err != nil || id == "" {
		return "", fmt.Errorf("run without run.id: %w", history.ErrDamaged)
	}
	return id, nil
}

// unpackLight are the documents of a page.
func (s *scan[D]) unpackLight(ctx context.Context, hits []hit[D], unpack history.Decoder) ([]*runDoc, error) {
	batch := make([]*history.Packed, len(hits))
	for i, h := range hits {
		id, err := h.Sort.runID(1) // by time and run
		if err != nil {
			return nil, err
		}
		batch[i] = &history.Packed{ID: id}
		if len(h.Fields.Light) == 1 {
			batch[i].Blob = h.Fields.Light[0]
		}
	}
	unpack.All(batch)
	var rest []string // ids of documents
	for _, p := range batch {
		if p.Err != nil {
			rest = append(rest, p.ID)
		}
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

// lightDecoder decodes with from what [bulk.RunDocument] packed, as the cluster answers it: base64 in quotes.
func lightDecoder(from *zstd.Decoder, decode history.Decoder) history.Decoder {
	buffers := sync.Pool{New: func() any { return new([2][]byte) }}
	return func(value []byte) (run *mapping.Run, err error) {
		b := buffers.Get().(*[2][]byte)
		defer buffers.Put(b)
		if b[0], err = base64.StdEncoding.AppendDecode(b[0][:0], bytes.Trim(value, `"`)); err != nil {
			return nil, err
		}
		if b[1], err = from.DecodeAll(b[0], b[1][:0]); err != nil {
			return nil, err
		}
		return decode(b[1])
	}
}
