package elastic_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
)

// asking returns a history in a server that gives these answers in turn, and the bodies that it gets.
func asking(t *testing.T, answers ...string) (*elastic.Store, *[]string) {
	t.Helper()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Error(err)
		}
		asked = append(asked, string(body))
		_, _ = fmt.Fprint(w, answers[min(len(asked), len(answers))-1])
	}))
	t.Cleanup(server.Close)
	client := newClient(t, es.Config{Addresses: []string{server.URL}, NoGzip: true, Pause: time.Millisecond})
	t.Cleanup(client.Close)
	return elastic.New(client, "fio"), &asked
}

// TestCountPages: all pages count, and Count counts documents instead of requests.
func TestCountPages(t *testing.T) {
	const shards = `"timed_out":false,"_shards":{"total":1,"successful":1,"failed":0},`
	bucket := func(run, ingest string, documents, parts int) string {
		return fmt.Sprintf(`{"key":{"run":%q,"ingest":%q,"level":"host"},"doc_count":99,"documents":{"value":%d},"parts":{"value":%d},"pending":{"value":1}}`,
			run, ingest, documents, parts)
	}
	var buckets []string
	for i := range 1000 {
		buckets = append(buckets, bucket(fmt.Sprint("run-", i), "a", 2, 0))
	}
	s, asked := asking(t,
		`{`+shards+`"aggregations":{"groups":{"after_key":{"run":"run-999"},"buckets":[`+strings.Join(buckets, ",")+`]}}}`,
		`{`+shards+`"aggregations":{"groups":{"after_key":{"run":"run-9"},"buckets":[`+bucket("run-9", "b", 5, 2)+`]}}}`)
	got, err := s.Count(t.Context(), nil)
	second := got["run-9"]["b"]
	if err != nil || len(got) != 1000 || got["run-7"]["a"].Documents != (mapping.Documents{Host: 2}) ||
		second.Documents != (mapping.Documents{Host: 3}) || second.Parts != 2 || second.Pending != 1 {
		t.Errorf("%d runs, %+v, %v", len(got), second, err)
	}
	if n := len(*asked); n != 2 || strings.Contains((*asked)[0], `"after"`) || !strings.Contains((*asked)[1], `"after":{"run":"run-999"}`) {
		t.Errorf("asked %d times: %.500s", n, *asked)
	}
}

// TestCountPartial: an incomplete answer is an error; without indices there are no documents.
func TestCountPartial(t *testing.T) {
	const none = `{"timed_out":false,"_shards":{"total":0,"failed":0}}`
	for name, c := range map[string]struct {
		answers []string
		want    error
		times   int
	}{
		"no index":     {[]string{none}, nil, 1},
		"failed shard": {[]string{`{"timed_out":false,"_shards":{"total":2,"failed":1},"aggregations":{"groups":{"buckets":[]}}}`}, es.ErrIncomplete, 1},
		"out of time":  {[]string{`{"timed_out":true,"_shards":{"total":1,"failed":0}}`, none}, nil, 2},
		"any JSON":     {[]string{`{"hello":"I am a proxy"}`}, es.ErrAnswer, 1},
	} {
		s, asked := asking(t, c.answers...)
		if got, err := s.Count(t.Context(), nil); !errors.Is(err, c.want) || len(got) != 0 || len(*asked) != c.times {
			t.Errorf("%s: %d requests, %v, %v", name, len(*asked), got, err)
		}
	}
}

// TestWhole: a cluster may lose documents of a run that is finished, so it counts them.
func TestWhole(t *testing.T) {
	e, _ := openElastic(t)
	must(t, e.Put(t.Context(), slices.Concat(historytest.Intervals("a", "1", 9), historytest.Intervals("b", "1", 10))))
	must(t, e.Finish(t.Context(), historytest.NewRun("a", "1")))
	must(t, e.Finish(t.Context(), historytest.NewRun("b", "1")))
	whole, err := e.Whole(t.Context(), []string{historytest.ID("a"), historytest.ID("b")})
	if want := map[string]string{historytest.ID("b"): "1"}; err != nil || !maps.Equal(whole, want) {
		t.Errorf("whole: %v, %v; want %v", whole, err, want)
	}
}
