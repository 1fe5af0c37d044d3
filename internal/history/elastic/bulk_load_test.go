package elastic_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
)

// TestStall: while the cluster does not answer, Put waits, and packs no more than the requests under way.
func TestStall(t *testing.T) {
	const most = 1 << 20
	inBubble(t, func(w *world) {
		w.Bulk(most, 2)
		w.server.Script(estest.Fault{Kind: estest.Hang, Times: -1})
		docs := historytest.Intervals("a", "1", 20_000)
		before := heap()
		ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
		defer cancel()
		time.AfterFunc(30*time.Second, func() {
			// Two bodies, their compressed copies, and what the stand-in took of them: unpacked, and as decoded documents, which
			// take seven times as much.
			if grown := heap() - before; grown > 30<<20 {
				t.Errorf("memory has grown by %d MiB", grown>>20)
			}
		})
		if err := w.Put(ctx, docs); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if n := w.server.Requests("_bulk"); n < 2 || n > 4 {
			t.Errorf("%d requests", n)
		}
		runtime.KeepAlive(docs)
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
		inBubbleOf(t, es.Config{NoGzip: noGzip}, func(w *world) {
			w.Bulk(body, 1)
			w.server.MaxWire = body / 3
			docs := historytest.Intervals("a", "1", 2000)
			w.put(docs...)
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
	inBubble(t, func(w *world) {
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
		if err := w.stores("b", "1", huge); !errors.Is(err, history.ErrRejected) {
			t.Errorf("too large: %v", err)
		}
	})
}
