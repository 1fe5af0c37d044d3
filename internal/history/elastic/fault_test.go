package elastic_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

// filled returns a history with one run, read in pages of few documents.
func filled(t *testing.T, pageBytes int, docs []*mapping.Interval) (*elastic.Store, *fake) {
	t.Helper()
	f := newFake(t)
	return f.filled(t, pageBytes, docs), f
}

func (f *fake) filled(t *testing.T, pageBytes int, docs []*mapping.Interval) *elastic.Store {
	t.Helper()
	e := f.open(t).Hurry(pageBytes)
	must(t, errors.Join(e.Put(t.Context(), docs), e.Finish(t.Context(), historytest.NewRun("a", docs[0].Run.Ingest))))
	return e
}

// readAll reads interval documents up to the first error.
func readAll(ctx context.Context, s history.Store) ([]*mapping.Interval, error) {
	var docs []*mapping.Interval
	for d, err := range s.Intervals(ctx, history.Selection{}) {
		if err != nil {
			return docs, err
		}
		docs = append(docs, d)
	}
	return docs, nil
}

// verbs returns the methods that read, and Delete, by name.
func verbs(ctx context.Context, s history.Store) map[string]func() error {
	id := historytest.ID("a")
	return map[string]func() error{
		"run": func() error { _, err := s.Run(ctx, id); return err },
		"runs": func() error {
			for _, err := range s.Runs(ctx, history.RunFilter{}) {
				if err != nil {
					return err
				}
			}
			return nil
		},
		"intervals": func() error { _, err := readAll(ctx, s); return err },
		"delete":    func() error { return s.Delete(ctx, id) },
	}
}

// write answers like a proxy, which does not name the server behind it.
func write(w http.ResponseWriter, status int, body string) bool {
	w.Header().Del("X-Elastic-Product")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(body)) // the test fails if text is missing
	return true
}

// isWriter reports whether a request writes documents.
func isWriter(r *http.Request) bool { return strings.HasSuffix(r.URL.Path, "_bulk") }

// TestElasticIncomplete: an incomplete answer is an error.
func TestElasticIncomplete(t *testing.T) {
	shards := `"_shards":{"total":2,"successful":1,"failed":1,"failures":[{"index":"lab-runs","reason":{"type":"x","reason":"broken disk"}}]}`
	for name, c := range map[string]struct{ search, verbs, want string }{
		"failed shard": {`{"timed_out":false,` + shards + `,"pit_id":"p","hits":{"total":{"value":0},"hits":[]}}`, "run runs intervals delete", "broken disk"},
		"timeout":      {`{"timed_out":true,"_shards":{"failed":0},"pit_id":"p","hits":{"total":{"value":0},"hits":[]}}`, "run runs intervals", "out of time"},
		"too few hits": {`{"timed_out":false,"_shards":{"failed":0},"pit_id":"p","hits":{"total":{"value":7},"hits":[]}}`, "runs", "0 of 7"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.give = 300 * time.Millisecond
			e := f.filled(t, 1000, historytest.Intervals("a", "1", 5))
			f.Before = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
				switch {
				case strings.HasSuffix(r.URL.Path, "_search"):
					return write(w, 200, c.search)
				case strings.HasSuffix(r.URL.Path, "-runs/_refresh"):
					return write(w, 200, "{"+shards+"}")
				}
				return false
			}
			do := verbs(t.Context(), e)
			for _, verb := range strings.Fields(c.verbs) {
				if err := do[verb](); !errors.Is(err, es.ErrIncomplete) || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%s: %v", verb, err)
				}
			}
		})
	}
}

// TestElasticMissingHit: if documents vanish between two pages, reading fails.
func TestElasticMissingHit(t *testing.T) {
	e, f := filled(t, 20_000, historytest.Intervals("a", "1", 300))
	e.Ahead(3)
	var pages atomic.Int32
	f.Before = func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.URL.Path == "/_search" && pages.Add(1) > 4 {
			f.CutPITs(10)
		}
		return false
	}
	if docs, err := readAll(t.Context(), e); !errors.Is(err, es.ErrIncomplete) {
		t.Errorf("%d documents, %v", len(docs), err)
	}
}

// TestElasticTemporary: a temporary failure is retried, but not forever.
func TestElasticTemporary(t *testing.T) {
	docs := historytest.Intervals("a", "1", 120)
	faults := map[string]func(w http.ResponseWriter){
		"429": func(w http.ResponseWriter) {
			write(w, 429, `{"error":{"type":"es_rejected_execution_exception","reason":"busy"}}`)
		},
		"502": func(w http.ResponseWriter) { write(w, 502, "<html>bad gateway") },
		"503": func(w http.ResponseWriter) { write(w, 503, `{"error":{"type":"no_shard_available_action_exception"}}`) },
		"504": func(w http.ResponseWriter) { write(w, 504, "") },
		"reset": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "100000")
			write(w, 200, `{"hits":{"hits":[`)
			panic(http.ErrAbortHandler)
		},
		"no answer": func(http.ResponseWriter) { panic(http.ErrAbortHandler) },
		"cut":       func(w http.ResponseWriter) { write(w, 200, `{"hits":{"hits":[`) },
		"empty":     func(w http.ResponseWriter) { write(w, 200, "") },
	}
	for name, fault := range faults {
		t.Run(name, func(t *testing.T) {
			e, f := filled(t, 20_000, docs)
			var n atomic.Int32
			f.Before = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
				if n := n.Add(1); isWriter(r) || strings.HasSuffix(r.URL.Path, "latency.*/_refresh") || n%3 == 0 {
					return false
				}
				fault(w)
				return true
			}
			got, err := readAll(t.Context(), e)
			if diff := historytest.Diff(docs, got); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			for _, verb := range []string{"run", "runs", "intervals", "delete"} {
				if err := verbs(t.Context(), e)[verb](); err != nil {
					t.Errorf("%s: %v", verb, err)
				}
			}
		})
		t.Run(name+" always", func(t *testing.T) {
			_, f := filled(t, 20_000, docs)
			f.own.Close()
			f.once, f.give = sync.Once{}, 30*time.Millisecond
			e := f.store(testPrefix).Hurry(20_000)
			var n atomic.Int32
			f.Before = func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
				n.Add(1)
				fault(w)
				return true
			}
			for verb, do := range verbs(t.Context(), e) {
				if n.Store(0); do() == nil || n.Load() > 10 {
					t.Errorf("%s: no error, or %d requests", verb, n.Load())
				}
			}
		})
	}
}

// TestElasticFinal: errors that waiting does not heal are returned at once.
func TestElasticFinal(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		is     error
		want   string
	}{
		"401":         {401, `{"error":{"type":"security_exception","reason":"unable to authenticate user [x]"}}`, es.ErrAuth, "unable to authenticate"},
		"403":         {403, `{"error":{"type":"security_exception","reason":"action [indices:data/read/search] is unauthorized"}}`, es.ErrForbidden, "action ["},
		"proxy's 403": {403, `<html>no</html>`, es.ErrForbidden, "not from elasticsearch"},
		"block":       {403, `{"error":{"type":"cluster_block_exception","reason":"index [x] blocked"}}`, nil, "blocked"},
		"400":         {400, `{"error":{"type":"parsing_exception","reason":"` + strings.Repeat("ü", 5000) + `"}}`, nil, "üü…"},
		"page":        {200, `<html>log in here</html>`, nil, "proxy"},
		"other JSON":  {200, `{}`, nil, "proxy"},
		"null":        {200, `null`, nil, "proxy"},
		"404":         {404, `{"error":{"type":"index_not_found_exception","reason":"no such index [lab-runs]"}}`, history.ErrNoIndex, "fio2es setup"},
	} {
		t.Run(name, func(t *testing.T) {
			e, f := filled(t, 20_000, historytest.Intervals("a", "1", 5))
			n := 0
			f.Before = func(w http.ResponseWriter, _ *http.Request, _ []byte) bool { n++; return write(w, c.status, c.body) }
			for verb, do := range verbs(t.Context(), e) {
				if c.status == 200 && verb == "delete" || c.status == 404 && verb != "run" && verb != "runs" && verb != "intervals" {
					continue // these do not check the refresh, and continue without an index
				}
				n = 0
				err := do()
				if err == nil || c.is != nil && !errors.Is(err, c.is) || !strings.Contains(err.Error(), c.want) || n != 1 || len(err.Error()) > 2500 {
					t.Errorf("%s, %d requests: %v", verb, n, err)
				}
				var refusal *es.Error
				if c.status != 200 && (!errors.As(err, &refusal) || refusal.Status != c.status) {
					t.Errorf("%s: %v is no *es.Error of status %d", verb, err, c.status)
				}
			}
		})
	}
}

func TestElasticWithoutIndices(t *testing.T) {
	f := newFake(t)
	e := flushed{f.store(testPrefix)}
	for verb, do := range verbs(t.Context(), e.Store) {
		if err := do(); !errors.Is(err, history.ErrNoIndex) {
			t.Errorf("%s: %v", verb, err)
		}
	}
	docs := historytest.Intervals("a", "1", 3)
	must(t, e.Put(t.Context(), docs))
	if err := e.Delete(t.Context(), docs[0].Run.ID); err != nil { // delete an ingest that was not finished
		t.Error(err)
	}
}

// TestElasticExpired: if the cluster has lost a point in time, reading fails and says what to do.
func TestElasticExpired(t *testing.T) {
	e, f := filled(t, 10_000, historytest.Intervals("a", "1", 120))
	f.Before = func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		if r.URL.Path == "/_search" {
			f.ExpirePITs()
		}
		return false
	}
	var refusal *es.Error
	if err := verbs(t.Context(), e)["intervals"](); !errors.As(err, &refusal) || !strings.Contains(err.Error(), "nothing was read for 5m0s") {
		t.Error(err)
	}
}

// TestElasticReplacedWhileOpening: a reader sees one complete version of a run, whenever the run is replaced.
func TestElasticReplacedWhileOpening(t *testing.T) {
	first, second := historytest.Intervals("a", "1", 30), historytest.Intervals("a", "22", 20)
	for at := range 8 { // the request of the reader before which the run is replaced
		e, f := filled(t, 10_000, first)
		n, busy := 0, false
		f.Before = func(_ http.ResponseWriter, _ *http.Request, _ []byte) bool {
			if busy {
				return false
			}
			if n++; n == at+1 {
				busy = true
				if err := errors.Join(e.Put(t.Context(), second), e.Finish(t.Context(), historytest.NewRun("a", "22"))); err != nil {
					t.Error(err)
				}
				busy = false
			}
			return false
		}
		docs, err := readAll(t.Context(), e)
		if err != nil || len(docs) == 0 {
			t.Fatalf("before request %d: %d documents, %v", at, len(docs), err)
		}
		want := map[string][]*mapping.Interval{"1": first, "22": second}[docs[0].Run.Ingest]
		if diff := historytest.Diff(want, docs); diff != "" {
			t.Errorf("before request %d (-want +got):\n%s", at, diff)
		}
	}
}

func TestElasticReplacedAllTheTime(t *testing.T) {
	docs := historytest.Intervals("a", "1", 3)
	f := newFake(t)
	f.give = 200 * time.Millisecond
	e := f.filled(t, 10_000, docs)
	busy, n := false, 1
	f.Before = func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		if strings.HasSuffix(r.URL.Path, "_pit") && r.Method == http.MethodPost && !busy {
			busy, n = true, n+1
			run := historytest.NewRun("a", "1")
			run.Documents.Host = n
			if err := errors.Join(e.Put(t.Context(), docs), e.Finish(t.Context(), run)); err != nil {
				t.Error(err)
			}
			busy = false
		}
		return false
	}
	if _, err := readAll(t.Context(), e); !errors.Is(err, history.ErrBusy) {
		t.Errorf("read: %v", err)
	}
}

// TestElasticInterrupted kills an action after each of its requests. Readers then see a complete run or none.
// Repeating the action leaves no other documents.
func TestElasticInterrupted(t *testing.T) {
	first, second := historytest.Intervals("a", "1", 30), historytest.Intervals("a", "22", 20)
	type action struct {
		do    func(context.Context, *elastic.Store) error
		after int // documents after the action
	}
	for name, c := range map[string]action{
		"finish": {func(ctx context.Context, e *elastic.Store) error {
			return errors.Join(e.Put(ctx, second), e.Finish(ctx, historytest.NewRun("a", "22")))
		}, 20},
		"delete": {func(ctx context.Context, e *elastic.Store) error { return e.Delete(ctx, first[0].Run.ID) }, 0},
	} {
		for last, done := 0, false; !done; last++ {
			e, f := filled(t, 10_000, first)
			must(t, errors.Join(e.Put(t.Context(), second), e.Flush(t.Context())))
			ctx, cancel := context.WithCancel(t.Context())
			var n atomic.Int32
			var isOver atomic.Bool // afterwards, because a cancelled request may reach the server late
			f.Before = func(http.ResponseWriter, *http.Request, []byte) bool {
				if isOver.Load() {
					return false
				}
				if int(n.Add(1)) > last {
					cancel()
				}
				return ctx.Err() != nil
			}
			err := c.do(ctx, e)
			done = err == nil
			cancel()
			isOver.Store(true)
			docs, fault := readAll(t.Context(), e)
			if fault != nil || len(docs) != 30 && len(docs) != c.after {
				t.Errorf("%s, %d requests, %v: %d documents, %v", name, last, err, len(docs), fault)
			}
			if again := c.do(t.Context(), e); again != nil && !errors.Is(again, history.ErrNotFound) {
				t.Errorf("%s again after %d requests: %v", name, last, again)
			}
			for _, index := range f.Indices() {
				if n := len(f.Documents(index)); strings.Contains(index, "latency") && n != c.after {
					t.Errorf("%s, %d requests: %d documents left", name, last, n)
				}
			}
		}
	}
}

// TestElasticHangs: when a context ends, every call returns, and no goroutine stays: otherwise the bubble would not
// end.
func TestElasticHangs(t *testing.T) {
	docs := historytest.Intervals("a", "1", 120)
	for _, verb := range []string{"run", "runs", "intervals", "delete"} {
		for from := range 3 { // answers before the server stops answering
			synctest.Test(t, func(t *testing.T) {
				f := newPiped(t)
				e := f.filled(t, 10_000, docs).CloseAfter(50 * time.Millisecond)
				var n atomic.Int32
				f.Before = func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
					if r.Method == http.MethodDelete && from > 0 || int(n.Add(1)) <= from {
						return false
					}
					<-r.Context().Done()
					return true
				}
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				start := time.Now()
				if err := verbs(ctx, e)[verb](); !errors.Is(err, context.DeadlineExceeded) && int(n.Load()) > from {
					t.Errorf("%s: %v", verb, err)
				}
				// closing the point in time may take 50 ms
				if took := time.Since(start); took > 1100*time.Millisecond {
					t.Errorf("%s took %v", verb, took)
				}
				if err := e.Close(); err != nil {
					t.Errorf("%s: close: %v", verb, err)
				}
			})
		}
	}
}

// TestElasticLateRunDocument: a server stores a run document without making it visible, and answers 504. Before the old
// version is deleted, the run document must be visible: otherwise readers would see the old run without its documents.
func TestElasticLateRunDocument(t *testing.T) {
	first, second := historytest.Intervals("a", "1", 30), historytest.Intervals("a", "22", 20)
	e, f := filled(t, 10_000, first)
	isLate, reads := false, 0
	f.Before = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		switch {
		case r.Method == http.MethodPut && !isLate:
			isLate = true
			q := r.URL.Query()
			q.Del("refresh")
			if _, err := f.call(t.Context(), r.Method, r.URL.Path+"?"+q.Encode(), string(body)); err != nil {
				t.Error(err)
			}
			return write(w, 504, "")
		case strings.HasSuffix(r.URL.Path, "_delete_by_query") && reads == 0:
			reads++
			docs, err := readAll(t.Context(), e)
			if diff := historytest.Diff(second, docs); err != nil || diff != "" {
				t.Errorf("before the old version is deleted: %v (-want +got):\n%s", err, diff)
			}
		}
		return false
	}
	if err := errors.Join(e.Put(t.Context(), second), e.Finish(t.Context(), historytest.NewRun("a", "22"))); err != nil || !isLate || reads == 0 {
		t.Fatalf("%v, %d reads", err, reads)
	}
	docs, err := readAll(t.Context(), e)
	if diff := historytest.Diff(second, docs); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

// TestElasticConflicts: documents that another process changes at the same time are removed in the end.
func TestElasticConflicts(t *testing.T) {
	f := newFake(t)
	f.give = 200 * time.Millisecond
	e := f.filled(t, 10_000, historytest.Intervals("a", "1", 30))
	left := 3
	f.Before = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		if strings.HasSuffix(r.URL.Path, "latency.*/_delete_by_query") && left > 0 {
			left--
			return write(w, 200, `{"timed_out":false,"total":30,"deleted":0,"version_conflicts":30,"failures":[]}`)
		}
		return false
	}
	if err := e.Delete(t.Context(), historytest.ID("a")); err != nil || left != 0 {
		t.Errorf("%v, %d", err, left)
	}
	if n := len(f.Documents("lab-latency.cluster-2026")); n != 0 {
		t.Errorf("%d documents left", n)
	}
	left = 1 << 30
	if err := e.Delete(t.Context(), historytest.ID("a")); !errors.Is(err, history.ErrBusy) {
		t.Errorf("always: %v", err)
	}
}

// TestElasticHalfRemoved: a removal ends between the run document and the interval documents. Its error says how to
// remove the rest, because no command finds the run any more.
func TestElasticHalfRemoved(t *testing.T) {
	e, f := filled(t, 10_000, historytest.Intervals("a", "1", 3))
	f.Before = func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
		return strings.HasSuffix(r.URL.Path, "latency.*/_delete_by_query") &&
			write(w, 403, `{"error":{"type":"security_exception","reason":"no"},"status":403}`)
	}
	err := e.Delete(t.Context(), historytest.ID("a"))
	if !errors.Is(err, es.ErrForbidden) || !strings.Contains(err.Error(), "fio2es check --repair") {
		t.Error(err)
	}
}

// TestElasticLarge: if a page is too large, smaller pages are read. A single document that is too large is an error.
func TestElasticLarge(t *testing.T) {
	h := hist.New(hist.Fio3(0))
	for i := range h.Layout().Len() {
		h.AddAt(i, 1000)
	}
	docs := historytest.Intervals("a", "1", 120)
	for _, d := range docs {
		d.Latency = mapping.NewLatency(h, nil)
		d.DocCount = d.Latency.Bins.Total()
		d.Run.Labels = map[string]string{"note": strings.Repeat("x", 20_000)}
	}
	e, f := filled(t, 4<<20, docs)
	got, err := readAll(t.Context(), e)
	if diff := historytest.Diff(docs, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%.2000s", err, diff)
	}
	docs[0].Run.Labels["note"] = strings.Repeat("x", 3<<20)
	must(t, errors.Join(e.Put(t.Context(), docs), e.Finish(t.Context(), historytest.NewRun("a", "1"))))
	before := f.Requests("_search")
	_, err = readAll(t.Context(), e)
	if n := f.Requests("_search") - before; err == nil || !strings.Contains(err.Error(), "answer is too long") || n > 20 {
		t.Errorf("%d requests: %v", n, err)
	}
}

// recorded answers with recorded answers of a real server.
type recorded struct {
	*es.Client
	status int
	body   string
}

func newRecorded(t testing.TB) *recorded {
	r := new(recorded)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		w.WriteHeader(r.status)
		_, _ = io.WriteString(w, r.body)
	}))
	t.Cleanup(server.Close)
	client, err := es.New(es.Config{Addresses: []string{server.URL}, GiveUpAfter: -1})
	must(t, err)
	r.Client = client
	return r
}

// TestElasticRecorded: recorded answers of Elasticsearch 8.6.1 are read correctly.
func TestElasticRecorded(t *testing.T) {
	for name, want := range map[string]string{
		"pit-closed":                 "status 404 search_context_missing_exception: No search context found",
		"partial-failure":            "the cluster answered only in part: 1 of 2 shards failed: index g-x2: illegal_argument_exception: Field [latency]",
		"partial-failure-disallowed": "status 400 illegal_argument_exception: Field [latency] of type [keyword]",
		"index-missing":              "fio2es setup, then ingest (status 404 index_not_found_exception: no such index [g-none])",
		"block-delete-by-query":      "status 403 cluster_block_exception: index [g-b] blocked by",
		"sort-unmapped":              "status 400 query_shard_exception: No mapping found for [nope]",
		"date-histogram-too-many":    "status 503 too_many_buckets_exception: Trying",
		"method-not-allowed":         "status 405 method not allowed: Incorrect HTTP method for uri",
	} {
		text, err := os.ReadFile(filepath.Join("testdata", "elasticsearch-8.6.1", name+".json"))
		must(t, err)
		var r struct {
			Status   int
			Response json.RawMessage
		}
		must(t, json.Unmarshal(text, &r))
		server := newRecorded(t)
		server.status, server.body = r.Status, string(r.Response)
		e := elastic.New(server.Client, "fio").Hurry(1)
		if _, err := e.Run(t.Context(), "x"); !strings.Contains(fmt.Sprint(err), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzElasticAnswers: for any answer of a server, reading ends without a panic and yields only complete documents.
func FuzzElasticAnswers(f *testing.F) {
	run := string(historytest.NewRun("a", "1").AppendJSON(nil))
	doc := string(historytest.Interval("a", "1", 1).AppendJSON(nil))
	for _, source := range []string{run, doc, "1", `{"run":null}`} {
		hit := `{"_source":` + source + `,"sort":[1,"a",null,null,"x",0,5]}`
		for _, hits := range []string{"", hit, strings.Repeat(hit+",", 49) + hit} {
			f.Add(200, `{"id":"p","pit_id":"p","timed_out":false,"_shards":{"failed":0},"hits":{"total":{"value":1},"hits":[`+hits+`]}}`)
		}
	}
	f.Add(404, `{"error":{"root_cause":[{}],"type":"search_phase_execution_exception","caused_by":null}}`)
	f.Add(403, `{"failures":[{"cause":"text"}]}`)
	server := newRecorded(f)
	f.Fuzz(func(t *testing.T, status int, body string) {
		if status < 200 || status > 999 { // HTTP has no such status
			status = 200 + int(uint(status)%800)
		}
		server.status, server.body = status, body
		e := elastic.New(server.Client, "fio").Hurry(1000)
		for _, verb := range []string{"run", "runs", "intervals"} {
			if err := verbs(t.Context(), e)[verb](); err == nil && status > 299 {
				t.Fatalf("%s: %v", verb, err)
			}
		}
	})
}
