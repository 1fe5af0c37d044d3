package setup_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/es/estest"
	"github.com/fio2es/fio2es/internal/setup"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// real is a real cluster.
type real struct {
	t *testing.T
	*es.Client
	server estest.Real
}

// send sends a request whose answer must have this status, and returns the answer.
func (r real) send(status int, method, path string, body []byte) tree {
	r.t.Helper()
	req, err := http.NewRequest(method, r.server.Address+path, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if r.server.Secured {
		req.SetBasicAuth(r.server.Config.Username, string(r.server.Config.Password))
	}
	resp, err := r.server.HTTP.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	if status != 0 && resp.StatusCode != status {
		r.t.Fatalf("%s %s %s: %d instead of %d: %s", method, path, body, resp.StatusCode, status, text)
	}
	var answer tree
	_ = json.Unmarshal(text, &answer) // nil if the text is not JSON
	return answer
}

// cleanUp removes everything with this prefix. It removes indices one by one, because clusters may refuse wildcards.
func (r real) cleanUp(prefix string) {
	for _, f := range templates.Families(prefix) {
		for index := range r.send(0, "GET", "/"+f.Pattern+"/_mapping?ignore_unavailable=true", nil) {
			r.send(0, "DELETE", "/"+index, nil)
		}
		r.send(0, "DELETE", "/_index_template/"+f.Name, nil)
	}
	for _, c := range []string{"latency-mappings", "latency-settings", "runs-mappings", "runs-settings"} {
		r.send(0, "DELETE", "/_component_template/"+prefix+"-"+c, nil)
	}
	r.send(0, "DELETE", "/_ilm/policy/"+prefix+"-latency", nil)
}

// TestElasticsearch does on a real cluster what the other tests do with the fake.
func TestElasticsearch(t *testing.T) {
	server := estest.NewReal(t)
	client, err := es.New(server.Config)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	r := real{t, client, server}
	prefix := fmt.Sprintf("fio2es-test-%x", time.Now().UnixNano())
	t.Cleanup(func() { r.cleanUp(prefix) })
	info, err := client.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	opt := setup.Options{Prefix: prefix, KeepDays: 400, CompressedDocValues: setup.HasCompressedDocValues(info.Version)}

	r.install(opt)
	interval, run := documents()
	for _, d := range []struct {
		index, id string
		document  []byte
	}{
		{mapping.LatencyIndex(prefix, mapping.Cluster, mapping.Months, interval.Run.Start), "c", interval.AppendJSON(nil)},
		{mapping.LatencyIndex(prefix, mapping.Host, mapping.Months, interval.Run.Start), "h", interval.AppendJSON(nil)},
		{mapping.LatencyIndex(prefix, mapping.Job, mapping.Months, interval.Run.Start), "j", interval.AppendJSON(nil)},
		{mapping.RunsIndex(prefix), "r", run.AppendJSON(nil)},
	} {
		r.send(201, "PUT", "/"+d.index+"/_doc/"+d.id+"?refresh=true", d.document)
		r.refusals(d.index, d.document)
		r.searches(d.index, map[bool]string{true: "all.latency", false: "latency"}[d.id == "r"])
	}
	r.upgrade(opt)
}

// install sets up twice; the second setup has nothing to do. Then options change.
func (r real) install(opt setup.Options) {
	r.t.Helper()
	for _, o := range []setup.Options{{Prefix: opt.Prefix, Shards: 2, Replicas: "0"}, opt} {
		p, err := setup.Prepare(context.Background(), r.Client, o)
		if err != nil {
			r.t.Fatal(err)
		}
		if p.Changes() == 0 {
			r.t.Error("nothing to install")
		}
		if err := p.Apply(context.Background(), r.Client); err != nil {
			r.t.Fatal(err)
		}
		r.nothingLeft(o)
	}
}

func (r real) nothingLeft(opt setup.Options) {
	r.t.Helper()
	p, err := setup.Prepare(context.Background(), r.Client, opt)
	if err != nil {
		r.t.Fatal(err)
	}
	if rest := lines(p); rest != nil {
		r.t.Errorf("once more: %q", rest)
	}
}

// refusals checks what a strict index must refuse.
func (r real) refusals(index string, document []byte) {
	r.t.Helper()
	for part, wrong := range map[string]string{
		`{"@timestamp"`:     `{"unknown":1,"@timestamp"`,
		`"run":{`:           `"run":{"unknown":1,`,
		`"iteration":3`:     `"iteration":3.5`,
		`"histogram":{`:     `"histogram":{"sum":1,`,
		`"2026-11-21T10:00`: `"yesterday 10:00`,
	} {
		spoilt := strings.Replace(string(document), part, wrong, 1)
		if spoilt == string(document) {
			r.t.Errorf("%s is not in %s", part, document)
		}
		r.send(400, "PUT", "/"+index+"/_doc/spoilt", []byte(spoilt))
	}
}

// searches checks the searches for which documents are stored.
func (r real) searches(index, latency string) {
	r.t.Helper()
	answer := r.send(200, "POST", "/"+index+"/_search?size=0&allow_partial_search_results=false", fmt.Appendf(nil, `{
		"query": {"bool": {"filter": [{"term": {"run.labels.osd.count": "48"}}, {"term": {"run.id": "r1"}}, {"range": {"%s.p99": {"gt": 1}}}]}},
		"aggs": {
			"labels": {"terms": {"field": "run.labels.osd"}},
			"p": {"percentiles": {"field": "%s.histogram", "percents": [50, 100], "hdr": {"number_of_significant_value_digits": 3}}}
		}
	}`, latency, latency))
	aggs, _ := answer["aggregations"].(tree)
	if fmt.Sprint(answer["hits"].(tree)["total"].(tree)["value"]) != "1" {
		r.t.Errorf("%s: %v", index, answer)
		return
	}
	if values := aggs["p"].(tree)["values"].(tree); values["50.0"] == nil || values["100.0"].(float64) < 80 || values["100.0"].(float64) > 82 {
		r.t.Errorf("%s: percentiles %v", index, values)
	}
	if buckets := aggs["labels"].(tree)["buckets"].([]any); len(buckets) != 1 || buckets[0].(tree)["key"] != "big" {
		r.t.Errorf("%s: labels %v", index, buckets)
	}
}

// upgrade: an index with an older mapping gets the missing fields.
func (r real) upgrade(opt setup.Options) {
	r.t.Helper()
	index := "/" + mapping.LatencyIndex(opt.Prefix, mapping.Host, mapping.Months, time.Unix(0, 0))
	component := "/_component_template/" + opt.Prefix + "-latency-mappings"
	found := r.send(200, "GET", component, nil)["component_templates"].([]any)[0].(tree)["component_template"].(tree)
	template := found["template"].(tree)["mappings"].(tree)
	delete(template["properties"].(tree)["latency"].(tree)["properties"].(tree), "p99_99")
	delete(template["properties"].(tree), "requests")
	for _, meta := range []any{found["_meta"], template["_meta"]} {
		meta.(tree)["version"] = 0
	}
	old, err := json.Marshal(tree{"template": found["template"], "_meta": found["_meta"]})
	if err != nil {
		r.t.Fatal(err)
	}
	r.send(200, "PUT", component, old)
	r.send(200, "PUT", index, nil)
	p, err := setup.Prepare(context.Background(), r.Client, opt)
	if err != nil {
		r.t.Fatal(err)
	}
	want := fmt.Sprintf("update component template %s-latency-mappings: from version 0 to %d; update index %s: from version 0 to %[2]d",
		opt.Prefix, templates.Version, index[1:])
	if got := strings.Join(lines(p), "; "); got != want {
		r.t.Errorf("%s\ninstead of\n%s", got, want)
	}
	if err := p.Apply(context.Background(), r.Client); err != nil {
		r.t.Fatal(err)
	}
	r.nothingLeft(opt)
}

// documents returns one document of each kind, with values that are difficult to map.
func documents() (mapping.Interval, mapping.Run) {
	start := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	h := hist.New(hist.Fio3(0))
	h.AddAt(h.Layout().Index(20_000), 5)
	h.AddAt(h.Layout().Index(81_000), 2)
	labels := map[string]string{"osd": "big", "osd.count": "48", "date": "2026-11-21", "number": "7"}
	latency := mapping.NewLatency(h, nil)
	cbt := mapping.CBT{Benchmark: "librbdfio", Mode: "randwrite", OpSize: 4096, Iteration: new(3)}
	interval := mapping.Interval{
		Time: start, Level: mapping.Host, Window: mapping.Window{End: start.Add(time.Second), MS: 1000},
		Run: mapping.RunRef{ID: "r1", Name: "a run", Start: start, Ingest: "i1", Labels: labels}, CBT: cbt,
		Host: mapping.HostRef{Name: "client-01"}, Fio: mapping.FioRef{Direction: "write", Job: "1"}, Latency: latency,
		Requests: mapping.Requests{Completed: 7, Weight: 6.875}, IOPS: 7, Weighting: "inflight", DocCount: 7,
	}
	run := mapping.Run{
		Run: mapping.RunInfo{ID: "r1", Name: "a run", Start: start, Ingest: "i1", Labels: labels, Complete: true}, CBT: cbt,
		Config: mapping.ConfigOf(map[string]any{"op_size": 4096.0, "list": []any{1.0, "x", nil, map[string]any{"a.b": true}}, "long": strings.Repeat("x", 50000)}),
		Fio:    mapping.FioInfo{Options: map[string]string{"rw": "randwrite", "description": "a: b"}},
		Hosts:  []mapping.RunHost{{Name: "client-01", Start: start}, {Name: "client-02", Start: start, SkewMS: -3}},
		Levels: []mapping.Level{mapping.Cluster, mapping.Host}, Warnings: []string{"host client-03: no log", strings.Repeat("long ", 9000)},
		All:      &mapping.Totals{Requests: 7, IOPS: 7, Latency: latency},
		SLA:      []mapping.Verdict{{Rule: "p99 < 1ms", Holds: true, Value: 0.081, Limit: 1}},
		Source:   mapping.Source{Files: 1, List: []mapping.SourceFile{{Path: "output.0_clat_hist.1.log", Bytes: 5600, Hash: "ab"}}},
		Ingested: start,
	}
	return interval, run
}
