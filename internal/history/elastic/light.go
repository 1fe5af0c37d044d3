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

// light returns run documents without histograms and lists of files. It reads them from [mapping.LightField]. Runs
// that an older version of fio2es stored lack this field, so light reads their whole documents.
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

// runID returns the n-th key, which is the id of a run.
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
		if p.ID, err = hits[i].Sort.runID(1); err != nil { // the sort keys are time and run id
			return nil, err
		}
		rest = append(rest, p.ID)
	}
	stored, err := s.e.withoutLight(ctx, rest)
	var docs []*runDoc
	for _, p := range batch {
		if p.Err == nil {
			docs = append(docs, &runDoc{run: p.Run})
		} else if d := stored[p.ID]; d != nil { // otherwise the run was removed in the meantime
			docs = append(docs, d)
		}
	}
	return docs, err
}

// withoutLight returns run documents by id, read from their sources.
func (e *Store) withoutLight(ctx context.Context, ids []string) (map[string]*runDoc, error) {
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
