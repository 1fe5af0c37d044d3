package elastic_test

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
)

func TestDamagedRunInElasticsearch(t *testing.T) {
	for _, document := range []string{
		`{"run":{"id":%q,"ingest":"1","start":"2026-11-21T10:00:00.250Z"},"source":{"list":[{"hash":"ab","path":"p","bytes":1}]},"interval_ms":"long","@timestamp":"2026-11-21T10:00:00.250Z"}`,
		`{"run":{"id":%q},"source":{"list":[{"hash":"ab","path":"p","bytes":1}]},"@timestamp":"2026-11-21T10:00:00.250Z"}`,
	} {
		f := newFake(t)
		s := f.store("fio")
		historytest.FinishABC(t, s)
		body := fmt.Sprintf("{\"index\":{\"_index\":\"fio-runs\",\"_id\":%q}}\n"+document+"\n", historytest.ID("b"), historytest.ID("b"))
		if _, err := f.call(t.Context(), http.MethodPost, "/_bulk", body); err != nil {
			t.Fatal(err)
		}
		if _, err := f.call(t.Context(), http.MethodPost, "/fio-runs/_refresh", ""); err != nil {
			t.Fatal(err)
		}
		historytest.DamagedAmong(t, s, 0)
	}
}

// TestNoSource: if a proxy removes documents from answers, the result is an error and no panic.
func TestNoSource(t *testing.T) {
	server := newRecorded(t)
	server.status, server.body = 200, `{"pit_id":"p","timed_out":false,"_shards":{"failed":0},"hits":{"total":{"value":1},"hits":[{"_id":"x","sort":["x"]}]}}`
	e := elastic.New(server.Client, "fio")
	_, run := e.Run(t.Context(), "x")
	_, holding := e.Holding(t.Context(), []string{"x"}, nil)
	_, versions := e.Versions(t.Context(), []string{"x"})
	for verb, err := range map[string]error{"run": run, "holding": holding, "versions": versions} {
		if !errors.Is(err, history.ErrDamaged) {
			t.Errorf("%s: %v", verb, err)
		}
	}
}
