package elastic_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history/historytest"
)

// TestElasticPages: a reader gets all documents in order, or an error. The sizes of pages and answers and the number
// of pages read ahead vary, and documents vanish between pages.
func TestElasticPages(t *testing.T) {
	docs := historytest.Intervals("a", "1", 120)
	rng := rand.New(rand.NewPCG(5, 6))
	for _, d := range docs {
		d.Run.Labels = map[string]string{"note": strings.Repeat("x", rng.IntN(3000))}
	}
	failed := 0
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, len(docs)).Draw(rt, "documents")
		e, f := filled(t, rapid.SampledFrom([]int{1, 5000, 20_000, 100_000}).Draw(rt, "bytes of a page"), docs[:n])
		e.Ahead(rapid.IntRange(0, 5).Draw(rt, "ahead"))
		e.Answers(rapid.SampledFrom([]int64{60_000, 200_000, 2 << 20}).Draw(rt, "largest answer"))
		expires := rapid.SliceOfN(rapid.IntRange(1, 40), 0, 3).Draw(rt, "searches before which the point in time ends")
		fails := rapid.SliceOfN(rapid.IntRange(1, 40), 0, 3).Draw(rt, "searches that fail")
		// the first page has the total number of documents
		loses := rapid.SampledFrom([]int{0, 0, 0, 1, 2, 5}).Draw(rt, "page after the first from which a document is missing")
		var mu sync.Mutex
		searches, pages := 0, 0
		f.Before = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			if r.URL.Path != "/_search" {
				return false
			}
			mu.Lock()
			defer mu.Unlock()
			searches++
			for _, at := range expires {
				if at == searches {
					f.ExpirePITs()
				}
			}
			for _, at := range fails {
				if at == searches {
					return write(w, 503, "")
				}
			}
			if bytes.Contains(body, []byte("search_after")) {
				pages++
			}
			if pages == loses && pages > 0 {
				f.CutPITs(n - 1)
			}
			return false
		}
		got, err := readAll(t.Context(), e)
		if err != nil {
			failed++
			if loses == 0 && len(expires)+len(fails) == 0 {
				rt.Fatalf("nothing was wrong: %v", err)
			}
			if loses == 0 && !errors.Is(err, es.ErrIncomplete) && !strings.Contains(fmt.Sprint(err), "search_context_missing") && !strings.Contains(fmt.Sprint(err), "503") {
				rt.Fatalf("%v", err)
			}
		}
		if err == nil {
			if diff := historytest.Diff(docs[:n], got); diff != "" {
				rt.Fatalf("(-want +got):\n%.2000s", diff)
			}
			return
		}
		for i, next := 0, 0; i < len(got); i, next = i+1, next+1 {
			for next < n && docs[next].ID() != got[i].ID() {
				next++
			}
			if next == n {
				rt.Fatalf("document %d is out of order, or twice: %s", i, got[i].ID())
			}
		}
	})
	t.Logf("%d ended with an error", failed)
}
