package es_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/es"
)

// asking returns a client of a server that gives these answers in turn, and the bodies that it gets.
func asking(t *testing.T, answers ...string) (*es.Client, *[]string) {
	t.Helper()
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body json.RawMessage
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil && !errors.Is(err, io.EOF) {
			t.Error(err)
		}
		asked = append(asked, string(body))
		w.Header().Set("X-Elastic-Product", "Elasticsearch")
		_, _ = fmt.Fprint(w, answers[min(len(asked), len(answers))-1])
	}))
	t.Cleanup(server.Close)
	client, err := es.New(es.Config{Addresses: []string{server.URL}, GzipLevel: es.NoGzip})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client, &asked
}

// TestGroups: all pages count, and Groups counts documents instead of requests.
func TestGroups(t *testing.T) {
	const shards = `"timed_out":false,"_shards":{"total":1,"successful":1,"failed":0},`
	var buckets []string
	for i := range 1000 {
		buckets = append(buckets, fmt.Sprintf(`{"key":{"run.id":"run-%d","run.ingest":"a"},"doc_count":99,"run.id":{"value":2}}`, i))
	}
	client, asked := asking(t,
		`{`+shards+`"aggregations":{"groups":{"after_key":{"run.id":"run-999","run.ingest":"a"},"buckets":[`+strings.Join(buckets, ",")+`]}}}`,
		`{`+shards+`"aggregations":{"groups":{"after_key":{"run.id":"run-9","run.ingest":"b"},"buckets":[{"key":{"run.id":"run-9","run.ingest":"b"},"doc_count":99,"run.id":{"value":3}}]}}}`)
	got, err := client.Groups(t.Context(), es.All(), []string{"run.id", "run.ingest"}, nil, "fio-latency.*")
	if err != nil || len(got) != 1001 || got[7].Documents != 2 || got[1000].Documents != 3 || got[1000].Key["run.id"] != "run-9" || got[1000].Key["run.ingest"] != "b" {
		t.Errorf("%d groups, %v", len(got), err)
	}
	if n := len(*asked); n != 2 || strings.Contains((*asked)[0], `"after"`) || !strings.Contains((*asked)[1], `"after":{"run.id":"run-999","run.ingest":"a"}`) {
		t.Errorf("asked %d times: %s", n, *asked)
	}
}

// TestGroupsPartial: an incomplete answer is an error; without indices there are no documents.
func TestGroupsPartial(t *testing.T) {
	for name, c := range map[string]struct {
		answer string
		want   error
	}{
		"no index":     {`{"timed_out":false,"_shards":{"total":0,"successful":0,"failed":0}}`, nil},
		"failed shard": {`{"timed_out":false,"_shards":{"total":2,"successful":1,"failed":1},"aggregations":{"groups":{"buckets":[]}}}`, es.ErrIncomplete},
	} {
		t.Run(name, func(t *testing.T) {
			client, _ := asking(t, c.answer)
			got, err := client.Groups(t.Context(), es.All(), []string{"a", "b"}, nil, "x")
			if !errors.Is(err, c.want) || len(got) != 0 {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
	var searches atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		isLate := searches.Add(1) == 1
		fmt.Fprintf(w, `{"timed_out":%t,"_shards":{"total":1,"failed":0},"aggregations":{"groups":{"buckets":[]}}}`, isLate)
	}))
	defer server.Close()
	client := newClient(t, es.Config{Addresses: []string{server.URL}, Pause: time.Millisecond})
	if _, err := client.Groups(t.Context(), es.All(), []string{"a"}, nil, "x"); err != nil || searches.Load() != 2 {
		t.Errorf("a search that ran out of time once: %d requests, %v", searches.Load(), err)
	}
	client, _ = asking(t, `{"hello":"I am a proxy"}`)
	if _, err := client.Groups(t.Context(), nil, []string{"a", "b"}, nil, "x"); err == nil {
		t.Error("any JSON is an answer")
	}
}
