package elastic_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/internal/memtest"
)

// TestElasticEndlessAnswers: for any kind and length of answer, memory is bounded and the call ends with an error.
func TestElasticEndlessAnswers(t *testing.T) {
	const page = `{"pit_id":"p","timed_out":false,"_shards":{"failed":0},"hits":{"total":{"value":1000000},"hits":[`
	run := string(historytest.NewRun("a", "1").AppendJSON(nil))
	whole := page + strings.Repeat(`{"_source":`+run+`,"sort":[1,"a",1]},`, 19) + `{"_source":` + run + `,"sort":[1,"b",1]}]}}`
	for name, c := range map[string]struct {
		begin, piece string
		most         int64 // in MB
	}{
		"empty hits":       {page, `{},`, 50},
		"one text":         {`{"x":"`, "x", 100},
		"keys of order":    {page + `{"sort":[`, `0,`, 100},
		"documents":        {page, `{"_source":` + run + `,"sort":[1,"a",1]},`, 50},
		"after first page": {page + `{"_source":{"run":{"labels":{"x":"`, "x", 100},
	} {
		t.Run(name, func(t *testing.T) {
			block := strings.Repeat(c.piece, 1+64<<10/len(c.piece))
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				w.Header().Set("X-Elastic-Product", "Elasticsearch")
				switch {
				case r.Method == http.MethodDelete:
					return
				case strings.HasSuffix(r.URL.Path, "/_pit"):
					_, _ = io.WriteString(w, `{"id":"p"}`)
					return
				case name == "after first page" && !strings.Contains(string(body), "search_after"):
					_, _ = io.WriteString(w, whole)
					return
				}
				_, err := io.WriteString(w, c.begin)
				for sent := 0; err == nil && sent < 1<<30; sent += len(block) {
					_, err = io.WriteString(w, block)
				}
			}))
			defer s.Close()
			base, err := url.Parse(s.URL)
			must(t, err)
			e := (&direct{base: base, client: s.Client()}).store("lab").Answers(int64(memtest.Scale(4<<20, 16<<20)))
			var failed error
			used := memtest.Measure(t, func() {
				for _, err := range e.Runs(t.Context(), history.RunFilter{}) {
					if failed = err; err != nil {
						break
					}
				}
			})
			t.Logf("%d MB, %v: %.200v", used.Peak>>20, used.Time, failed)
			if failed == nil {
				t.Error("no error")
			}
			if used.Peak > c.most<<20 || used.Time > time.Minute {
				t.Errorf("it took %d bytes and %v", used.Peak, used.Time)
			}
		})
	}
}

// TestEndlessBulkAnswers: an answer to a bulk request that does not end is an error, and memory is bounded.
func TestEndlessBulkAnswers(t *testing.T) {
	for name, c := range map[string]struct{ begin, piece string }{
		"one long text": {`{"errors":false,"items":[{"index":{"_id":"`, "x"},
		"other items":   {`{"errors":false,"items":[`, `{"index":{"_id":"x","status":201}},`},
		"refused items": {`{"errors":true,"items":[`, `{"index":{"_id":"x","status":400,"error":{"type":"x","reason":"y"}}},`},
	} {
		t.Run(name, func(t *testing.T) {
			block := strings.Repeat(c.piece, 64<<10/len(c.piece))
			f := newFake(t)
			f.Before = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
				if !isWriter(r) {
					return false
				}
				_, err := io.WriteString(w, c.begin)
				for sent := 0; err == nil && sent < 1<<30; sent += len(block) {
					_, err = io.WriteString(w, block)
				}
				return true
			}
			e, err := f.store(testPrefix), error(nil)
			used := memtest.Measure(t, func() {
				err = errors.Join(e.Put(t.Context(), historytest.Intervals("a", "1", 500)), e.Flush(t.Context()))
			})
			t.Logf("%d MB, %v: %.200v", used.Peak>>20, used.Time, err)
			if !errors.Is(err, es.ErrTooLong) || used.Peak > 250<<20 || used.Time > time.Minute {
				t.Errorf("%d bytes, %v: %v", used.Peak, used.Time, err)
			}
		})
	}
}
