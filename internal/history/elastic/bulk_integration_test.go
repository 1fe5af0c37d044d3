package elastic_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/elastic/go-elasticsearch/v8/esapi"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/history/historytest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// TestRealElasticsearch makes its own indices in the server that the environment names, and deletes them.
func TestRealElasticsearch(t *testing.T) {
	config := estest.NewReal(t).Config
	client := newClient(t, config)
	defer client.Close()
	info, err := client.Check(t.Context())
	must(t, err)
	t.Logf("version %s", info.Version)
	prefix := fmt.Sprintf("fio2es-test-%x", time.Now().UnixNano())
	do := func(method string, body any, path ...string) {
		t.Helper()
		if err := client.Do(t.Context(), es.Request{Method: method, URI: "/" + strings.Join(path, "/"), Body: body}, nil); err != nil {
			t.Error(err)
		}
	}
	first := historytest.Interval("a", "1", 0)
	index, runs := first.Index(prefix, mapping.Years), mapping.RunsIndex(prefix)
	s := elastic.New(client, prefix)
	if err := s.Put(t.Context(), []*mapping.Interval{first}); !errors.Is(err, elastic.ErrNoTemplate) {
		t.Errorf("without templates: %v", err)
	}
	for _, name := range []string{"latency-cluster", "latency-host", "latency-job", "latency-section", "runs"} {
		template := prefix + "-" + name
		pattern := prefix + "-" + map[string]string{
			"latency-cluster": "latency.cluster-*", "latency-host": "latency.host-*", "latency-job": "latency.job-*", "latency-section": "latency.section-*", "runs": "runs",
		}[name]
		do(http.MethodPut, map[string]any{
			"index_patterns": []string{pattern}, "priority": 300, "_meta": map[string]any{"version": templates.Version},
			"template": map[string]any{
				"settings": map[string]any{"number_of_replicas": 0},
				"mappings": map[string]any{"dynamic": false, "properties": map[string]any{
					"run": map[string]any{"properties": map[string]any{
						"id": map[string]any{"type": "keyword"}, "ingest": map[string]any{"type": "keyword"}, "pending": map[string]any{"type": "boolean"},
					}},
					"level": map[string]any{"type": "keyword"}, "part": map[string]any{"type": "long"},
					"latency": map[string]any{"properties": map[string]any{"histogram": map[string]any{"type": "histogram"}}},
				}},
			},
		}, "_index_template", template)
		defer do(http.MethodDelete, nil, "_index_template", template)
	}
	defer do(http.MethodDelete, nil, index)
	defer do(http.MethodDelete, nil, runs)

	pending := func(want int64) {
		t.Helper()
		err := client.Refresh(t.Context(), index)
		found, failed := counted(t.Context(), client, es.Term(mapping.PendingField, "true"), index)
		n := int64(0)
		for _, of := range found {
			n += of
		}
		if err = errors.Join(err, failed); err != nil || n != want {
			t.Errorf("%d documents are pending, want %d: %v", n, want, err)
		}
	}
	var docs []*mapping.Interval
	for i, version := range []string{"1", "2", "2"} {
		docs = historytest.Intervals("a", version, 2500)
		must(t, errors.Join(s.Put(t.Context(), docs), s.Flush(t.Context())))
		pending([]int64{0, 2500, 0}[i])
		must(t, s.Finish(t.Context(), historytest.NewRun("a", version)))
		pending(0)
	}
	for _, d := range []*mapping.Interval{docs[0], docs[2499]} {
		var got struct {
			Source *mapping.Interval `json:"_source"`
		}
		err := client.Do(t.Context(), esapi.GetRequest{Index: index, DocumentID: d.ID()}, &got)
		if err != nil || got.Source == nil || string(got.Source.AppendJSON(nil)) != string(d.AppendJSON(nil)) {
			t.Errorf("stored %+v, %v, want %+v", got.Source, err, d)
		}
	}
	if n, err := counted(t.Context(), client, es.Term("run.ingest", "1"), index); len(n) != 0 || err != nil {
		t.Errorf("%v documents of the first version are left, %v", n, err)
	}
	// With a full disk and no waiting, the error comes at once.
	config.GiveUpAfter = -1
	hasty := newClient(t, config)
	defer hasty.Close()
	s = elastic.New(hasty, prefix)
	do(http.MethodPut, map[string]any{"index.blocks.read_only_allow_delete": true}, index, "_settings")
	if err := errors.Join(s.Put(t.Context(), historytest.Intervals("b", "1", 10)), s.Flush(t.Context())); !errors.Is(err, es.ErrDiskFull) {
		t.Errorf("flood stage: %v", err)
	}
}
