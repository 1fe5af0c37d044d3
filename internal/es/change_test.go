package es_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
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
	client, err := es.New(es.Config{Addresses: []string{server.URL}, NoGzip: true, Pause: time.Millisecond, GiveUpAfter: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client, &asked
}

// TestChangeAll: several requests change all matching documents, and no others.
func TestChangeAll(t *testing.T) {
	fake := estest.New()
	address, stop := fake.Start()
	defer stop()
	client := newClient(t, es.Config{Addresses: []string{address}, Pause: time.Millisecond})
	client.SetStep(7)
	if n, err := client.DeleteAll(t.Context(), es.All(), "fio-*", "none"); n != 0 || err != nil {
		t.Errorf("without indices: %d, %v", n, err)
	}
	body := ""
	for i := range 50 {
		body += fmt.Sprintf(`{"index":{"_index":"fio-x","_id":"%d"}}`+"\n"+`{"run":{"pending":true,"id":"%d"}}`+"\n", i, i%2)
	}
	bulk := es.Request{URI: "/_bulk", Body: []byte(body), Type: "application/x-ndjson"}
	if err := client.Do(t.Context(), bulk, nil); err != nil {
		t.Fatal(err)
	}
	if err := client.Refresh(t.Context(), "fio-*"); err != nil {
		t.Fatal(err)
	}
	n, err := client.DeleteAll(t.Context(), es.Term("run.id", "1"), "fio-*")
	if err != nil || n != 25 || fake.Requests("_delete_by_query") != 1+4 || len(fake.Documents("fio-x")) != 25 {
		t.Errorf("deleted %d in %d requests, %d are left: %v", n, fake.Requests("_delete_by_query"), len(fake.Documents("fio-x")), err)
	}
	pending := es.All(es.Term("run.pending", "true"), es.Term("run.id", "0"))
	if n, err := client.UpdateAll(t.Context(), pending, "ctx._source.run.remove('pending')", nil, "fio-*"); err != nil || n != 25 {
		t.Errorf("updated %d: %v", n, err)
	}
	for id, text := range fake.Documents("fio-x") {
		if string(text) != `{"run":{"id":"0"}}` {
			t.Errorf("%s is %s", id, text)
		}
	}
	// A document written since the last refresh is a conflict. It is deleted after a refresh.
	bulk.Body = []byte(`{"index":{"_index":"fio-x","_id":"0"}}` + "\n" + `{"run":{"id":"0"}}` + "\n")
	if err := client.Do(t.Context(), bulk, nil); err != nil {
		t.Fatal(err)
	}
	if n, err := client.DeleteAll(t.Context(), es.Term("run.id", "0"), "fio-*"); n != 25 || err != nil || len(fake.Documents("fio-x")) != 0 {
		t.Errorf("deleted %d, %d are left: %v", n, len(fake.Documents("fio-x")), err)
	}
}

// TestChangeConflict: documents of other writers are found after a refresh. If they are written again and again, the
// client gives up.
func TestChangeConflict(t *testing.T) {
	const conflict = `{"total":3,"deleted":0,"version_conflicts":3,"timed_out":false,"failures":[]}`
	client, _ := asking(t, conflict)
	if _, err := client.DeleteAll(t.Context(), es.All(), "x"); !errors.Is(err, es.ErrAnswer) {
		t.Errorf("the answer to a refresh has no shards: %v", err)
	}
	const shards = `{"_shards":{"total":1,"failed":0},`
	client, asked := asking(t, shards+conflict[1:])
	if n, err := client.DeleteAll(t.Context(), es.All(), "x"); n != 0 || !errors.Is(err, es.ErrConflict) || !errors.Is(err, es.ErrGaveUp) || len(*asked) < 5 {
		t.Errorf("%d, %v after %d requests", n, err, len(*asked))
	}
	client, _ = asking(t, `{"total":1,"deleted":0,"failures":[{"index":"x","status":403,"cause":{"type":"cluster_block_exception","reason":"blocked"}}]}`)
	var e *es.Error
	if _, err := client.DeleteAll(t.Context(), es.All(), "x"); !errors.As(err, &e) || e.Status != 403 {
		t.Errorf("%v", err)
	}
}
