package elastic_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

// TestStall: while the cluster does not answer, Put waits and memory is bounded.
func TestStall(t *testing.T) {
	const most = 1 << 20
	inBubble(t, elastic.Options{BodyBytes: most, InFlight: 2}, func(w *world) {
		w.server.Script(estest.Fault{Kind: estest.Hang, Times: -1})
		w.put() // so that buffers made once do not count
		doc := historytest.Interval("a", "1", 0)
		size := len(mapping.AppendAction(nil, doc.Index("fio"), doc.ID())) + len(doc.AppendJSON(nil)) + 2
		before := heap()
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
		defer cancel()
		taken := 0
		var err error
		for ; err == nil; taken++ {
			doc.Window.ElapsedMS++
			err = w.Put(ctx, []*mapping.Interval{doc})
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if bytes := taken * size; bytes < 2*w.Body() || bytes > 4*most+4*size {
			t.Errorf("%d bytes taken", bytes)
		}
		// Four bodies, their compressed copies, and what the stand-in took of two bodies: unpacked, and as decoded
		// documents, which take seven times as much.
		if grown := heap() - before; grown > 40<<20 {
			t.Errorf("memory has grown by %d MiB", grown>>20)
		}
	})
}

func heap() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestTooLargeOnTheWire: a proxy limits the bytes as they are sent. Compressed bodies pass, others are halved until
// they pass.
func TestTooLargeOnTheWire(t *testing.T) {
	const body = 256 << 10
	for noGzip, want := range map[bool]struct{ body, requests int }{false: {body, 20}, true: {body / 4, 70}} {
		inBubbleOf(t, es.Config{NoGzip: noGzip}, elastic.Options{BodyBytes: body, InFlight: 1}, func(w *world) {
			w.server.MaxWire = body / 3
			docs := historytest.Intervals("a", "1", 2000)
			for some := range slices.Chunk(docs, 100) {
				w.put(some...)
			}
			w.finish("a", "1")
			w.hasExactly(docs)
			n, requests := w.Body(), w.server.Requests("_bulk")
			if n < want.body/2 || n > want.body*3/2 || requests > want.requests {
				t.Errorf("no gzip %v: body %d, %d requests", noGzip, n, requests)
			}
		})
	}
}

func TestTooLarge(t *testing.T) {
	inBubble(t, elastic.Options{}, func(w *world) {
		w.server.MaxBody = 20_000
		docs := historytest.Intervals("a", "1", 100)
		w.put(docs...)
		w.finish("a", "1")
		w.hasExactly(docs)
		if w.Body() > 20_000 {
			t.Errorf("body %d", w.Body())
		}
		huge := historytest.Interval("b", "1", 40)
		huge.Run.Labels = map[string]string{"text": strings.Repeat("x", 30_000)}
		w.put(huge)
		if err := w.Finish(w.t.Context(), historytest.NewRun("b", "1")); !errors.Is(err, history.ErrRejected) {
			t.Errorf("finish: %v", err)
		}
	})
}
