package elastic_test

import (
	"errors"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

func TestStoreAndReplace(t *testing.T) {
	inBubble(t, func(w *world) {
		docs := historytest.Intervals("a", "1", 50)
		w.put(docs[:30]...)
		w.put()
		w.put(docs[30:]...)
		w.finish("a", "1")
		w.hasExactly(docs)
		if n := w.server.Requests("_bulk"); n != 2 { // the last one is that of the run
			t.Errorf("%d requests", n)
		}
		// A version that replaces it has fewer documents, and one of another level.
		docs = historytest.Intervals("a", "22", 20)
		docs[7].Level, docs[7].Host.Name = mapping.Host, "h"
		w.put(docs...)
		w.finish("a", "22")
		w.hasExactly(docs)
		// Storing the same again changes nothing.
		w.put(docs...)
		w.put(docs[:3]...)
		w.finish("a", "22")
		w.hasExactly(docs)
	})
}

// TestParts: each part of a split document counts as a document.
func TestParts(t *testing.T) {
	inBubble(t, func(w *world) {
		d := historytest.Interval("a", "1", 0)
		d.Latency.Bins.Counts[0] = 5 << 31
		d.DocCount = d.Latency.Bins.Total()
		d.Requests.Completed = d.DocCount
		w.put(append(d.Split(), historytest.Interval("a", "1", 1))...)
		w.finish("a", "1")
		w.hasExactly(append(d.Split(), historytest.Interval("a", "1", 1)))
	})
}

// TestWrong: documents that do not pass their check are refused.
func TestWrong(t *testing.T) {
	inBubble(t, func(w *world) {
		docs := historytest.Intervals("a", "1", 3)
		docs[2].DocCount++
		if err := w.Put(w.t.Context(), docs); !errors.Is(err, mapping.ErrDocCount) {
			t.Errorf("put: %v", err)
		}
		w.hasExactly(nil)
		if err := w.Finish(w.t.Context(), historytest.NewRun("a", "")); !errors.Is(err, mapping.ErrIdentity) {
			t.Errorf("finish: %v", err)
		}
	})
}

// TestLate: a request with documents of another version of the run, which is under way when a version is finished, leaves none of them.
func TestLate(t *testing.T) {
	inBubble(t, func(w *world) {
		w.Bulk(2000, 3)
		w.server.Script(estest.Fault{On: "_bulk", Kind: estest.Slow, Wait: 5 * time.Second, Times: 2})
		w.put(historytest.Intervals("a", "1", 9)...)
		docs := historytest.Intervals("a", "22", 20)
		w.put(docs...)
		w.finish("a", "22")
		time.Sleep(time.Minute)
		w.hasExactly(docs)
	})
}

// TestGivenUp: documents of a version that is given up, and that wait for a request, do not come after the other version is made current.
func TestGivenUp(t *testing.T) {
	inBubble(t, func(w *world) {
		docs := historytest.Intervals("a", "1", 9)
		w.put(docs...)
		w.finish("a", "1")
		w.put(historytest.Intervals("a", "22", 20)...)
		must(w.t, w.MakeCurrent(w.t.Context(), historytest.ID("a"), "1"))
		other := historytest.Intervals("b", "1", 3)
		w.put(other...)
		w.finish("b", "1")
		w.hasExactly(append(docs, other...))
	})
}
