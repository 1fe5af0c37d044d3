package elastic_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

// TestVerify: documents that vanish after the cluster confirmed them make Finish fail, and the version before stays.
func TestVerify(t *testing.T) {
	inBubble(t, func(w *world) {
		docs := historytest.Intervals("a", "1", 5)
		w.put(docs...)
		w.finish("a", "1")
		w.put(historytest.Intervals("a", "2", 3)...)
		must(t, w.Flush(w.t.Context()))
		vanish := map[string]any{"bool": map[string]any{"filter": []any{
			map[string]any{"term": map[string]any{"run.ingest": "2"}}, map[string]any{"term": map[string]any{"interval.elapsed_ms": 1000}},
		}}}
		must(t, w.client.Refresh(w.t.Context(), "fio-*"))
		if d, err := w.client.DeleteAll(w.t.Context(), vanish, "fio-*"); err != nil || d != 1 {
			t.Fatalf("%d, %v", d, err)
		}
		if err := w.Finish(w.t.Context(), historytest.NewRun("a", "2")); !errors.Is(err, history.ErrReplaced) {
			t.Errorf("finish: %v", err)
		}
		if n := len(w.server.Documents(docs[0].Index("fio", mapping.Years))); n != 5+2 {
			t.Errorf("%d documents are left", n)
		}
	})
}

// TestFinishHeals: requests of Finish are retried, too.
func TestFinishHeals(t *testing.T) {
	inBubble(t, func(w *world) {
		w.put(historytest.Intervals("a", "1", 5)...)
		w.finish("a", "1")
		for _, on := range []string{"_refresh", "_count", "_delete_by_query"} {
			w.server.Script(
				estest.Fault{On: on, Kind: estest.Rejected, Times: 2}, estest.Fault{On: on, Kind: estest.BadGateway, Times: 5},
				estest.Fault{On: on, Kind: estest.ResetAnswer}, estest.Fault{On: on, Kind: estest.Reset},
				estest.Fault{On: on, Kind: estest.Hang},
			)
		}
		docs := historytest.Intervals("a", "2", 2)
		w.put(docs...)
		w.finish("a", "2")
		w.hasExactly(docs)
		w.server.Script(estest.Fault{On: "_delete_by_query", Kind: estest.Forbidden})
		w.put(historytest.Intervals("a", "3", 2)...)
		if err := w.Finish(w.t.Context(), historytest.NewRun("a", "3")); !errors.Is(err, es.ErrForbidden) {
			t.Errorf("finish: %v", err)
		}
	})
}

// TestManyRuns: several goroutines store one run each at the same time.
func TestManyRuns(t *testing.T) {
	inBubble(t, func(w *world) {
		w.Bulk(40_000, 3)
		w.server.Script(estest.Fault{Kind: estest.Rejected, Times: 5}, estest.Fault{Kind: estest.ItemsUnavailable, Every: 3, Times: 5})
		var all sync.WaitGroup
		var docs []*mapping.Interval
		for i := range 8 {
			name := fmt.Sprint("run-", i)
			mine := historytest.Intervals(name, "1", 40)
			docs = append(docs, mine...)
			all.Go(func() {
				for d := range slices.Chunk(mine, 7) {
					if err := w.Put(w.t.Context(), d); err != nil {
						t.Error(err)
					}
				}
				if err := w.Finish(w.t.Context(), historytest.NewRun(name, "1")); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		w.hasExactly(docs)
		if n := len(w.server.Documents("fio-runs")); n != 8 {
			t.Errorf("%d runs", n)
		}
	})
}

// TestFinishTogether: new runs that are finished at the same time share requests: one looks for other versions of all of them, and one has the
// documents of all. One run lacks a document afterwards, a document of another one is rejected, and of a third one another process stores
// another version after it was looked for: only the first two fail, and the third is replaced whole.
func TestFinishTogether(t *testing.T) {
	inBubble(t, func(w *world) {
		t := w.t
		const n, lost, refused, raced = 16, 3, 4, 5
		name := func(i int) string { return fmt.Sprint("run-", i) }
		second := elastic.New(w.client, "fio")
		defer second.Close()
		var hasBegun atomic.Bool
		w.server.Before = func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
			time.Sleep(2 * time.Millisecond)
			if strings.HasSuffix(r.URL.Path, "_bulk") && hasBegun.CompareAndSwap(false, true) {
				must(t, second.Put(t.Context(), historytest.Intervals(name(raced), "0", 4)))
				must(t, second.Finish(t.Context(), historytest.NewRun(name(raced), "0")))
			}
			return false
		}
		wrong := historytest.Intervals(name(refused), "1", 3)[1].ID()
		w.server.Refuse = func(_, id string, _ []byte) string {
			if id == wrong {
				return "no"
			}
			return ""
		}
		var docs []*mapping.Interval
		for i := range n {
			mine := historytest.Intervals(name(i), "1", 3)
			w.put(mine...)
			switch i {
			case lost:
			case refused:
				docs = append(docs, mine[0], mine[2])
			default:
				docs = append(docs, mine...)
			}
		}
		if n := w.server.Requests("_search") + w.server.Requests("_bulk"); n != 0 {
			t.Errorf("%d requests before there is enough for one", n)
		}
		if err := w.Flush(t.Context()); !errors.Is(err, history.ErrRejected) {
			t.Error(err)
		}
		// one of each is of the other process, with another bulk request and another search when it finishes the run
		if looks, bulks := w.server.Requests("_search"), w.server.Requests("_bulk"); looks != 1+2 || bulks != 1+2 {
			t.Errorf("%d searches and %d bulk requests before the runs are finished", looks, bulks)
		}
		if d, err := w.client.DeleteAll(t.Context(), es.Term(mapping.RunField, historytest.ID(name(lost))), "fio-*"); err != nil || d != 3 {
			t.Fatal(d, err)
		}
		bulks, refreshes := w.server.Requests("_bulk"), w.server.Requests("_refresh")
		var all sync.WaitGroup
		for i := range n {
			all.Go(func() {
				want := map[int]error{lost: history.ErrReplaced, refused: history.ErrRejected}[i]
				if err := w.Finish(t.Context(), historytest.NewRun(name(i), "1")); !errors.Is(err, want) || want == nil && err != nil {
					t.Errorf("%s: %v", name(i), err)
				}
			})
		}
		all.Wait()
		bulks, refreshes = w.server.Requests("_bulk")-bulks, w.server.Requests("_refresh")-refreshes
		if bulks > 2 || refreshes > 8 {
			t.Errorf("%d bulk requests and %d refreshes", bulks, refreshes)
		}
		w.hasExactly(docs)
		if stored := len(w.server.Documents("fio-runs")); stored != n-2 {
			t.Errorf("%d runs", stored)
		}
	})
}
