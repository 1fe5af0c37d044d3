package bulk_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/fio2es/fio2es/internal/history/elastic/bulk"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/history/ndjson"
	"github.com/fio2es/fio2es/mapping"
)

// encodedOf are documents as they are sent, and then an error.
func encodedOf(docs []*mapping.Interval, end error) iter.Seq2[*mapping.Encoded, error] {
	return func(yield func(*mapping.Encoded, error) bool) {
		for e := range mapping.EncodeAll(docs) {
			if !yield(e, nil) {
				return
			}
		}
		if end != nil {
			yield(nil, end)
		}
	}
}

// TestPutEncoded: documents that are encoded already come out as those that are not.
func TestPutEncoded(t *testing.T) {
	docs := historytest.Intervals("a", "1", 300)
	for i, d := range docs {
		if i%3 == 0 {
			d.Level, d.Host.Name = mapping.Host, "h"
		}
	}
	damaged := errors.New("damaged")
	inBubble(t, bulk.Options{}, func(w *world) {
		if n, err := w.PutEncoded(w.t.Context(), encodedOf(docs, nil)); n != len(docs) || err != nil {
			t.Fatal(n, err)
		}
		w.finish("a", "1")
		w.hasExactly(docs)
		if _, err := w.PutEncoded(w.t.Context(), encodedOf(docs[:5], damaged)); !errors.Is(err, damaged) {
			t.Error(err)
		}
		ctx, cancel := context.WithCancel(w.t.Context())
		cancel()
		if _, err := w.PutEncoded(ctx, encodedOf(docs, nil)); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
	var want, got bytes.Buffer
	plain, encoded := ndjson.New(&want, "x"), ndjson.New(&got, "x")
	n, err := encoded.PutEncoded(t.Context(), encodedOf(docs, damaged))
	if n != len(docs) || !errors.Is(err, damaged) {
		t.Error(n, err)
	}
	if err := errors.Join(plain.Put(t.Context(), docs), plain.Flush(), encoded.Flush()); err != nil {
		t.Fatal(err)
	}
	if got.String() != want.String() {
		t.Error("NDJSON differs")
	}
}
