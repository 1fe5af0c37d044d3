package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/es/estest"
)

// cluster returns the real Elasticsearch that the environment names, with prefixes of this test. The end of the test
// removes everything under them. Commands find credentials in the environment.
func cluster(t testing.TB, names ...string) (real estest.Real, prefixes []string) {
	t.Helper()
	real = estest.NewReal(t)
	real.Setenv(t)
	t.Setenv("FIO2ES_ELASTICSEARCH_ADDRESSES", "") // use the embedded history, unless a flag names the cluster
	for _, name := range names {
		prefix := fmt.Sprintf("fio2es-test-%d-%s", time.Now().UnixNano(), name)
		prefixes = append(prefixes, prefix)
		t.Cleanup(func() {
			var indices []struct{ Index string } // by name, because clusters may refuse to delete by pattern
			request(t, real, "GET", "/_cat/indices/"+prefix+"-*?format=json&h=index", "", &indices)
			for _, i := range indices {
				request(t, real, "DELETE", "/"+i.Index, "", &struct{}{})
			}
			for _, path := range []string{
				"_index_template/" + prefix + "-*", "_component_template/" + prefix + "-*", "_ilm/policy/" + prefix + "-latency",
			} {
				request(t, real, "DELETE", "/"+path, "", nil)
			}
		})
	}
	return real, prefixes
}

// request sends one request and decodes its answer, unless into is nil.
func request(t testing.TB, real estest.Real, method, path, body string, into any) {
	t.Helper()
	req, err := http.NewRequest(method, real.Address+path, strings.NewReader(body))
	check(t, err)
	req.Header.Set("Content-Type", "application/json")
	if real.Secured {
		req.SetBasicAuth(real.Config.Username, string(real.Config.Password))
	}
	res, err := real.HTTP.Do(req)
	check(t, err)
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil || into == nil {
		return
	}
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s\n%s", method, path, res.Status, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s %s: %v\n%s", method, path, err, text)
	}
}

// The runs of the example archive, by the beginnings of their ids.
const (
	exampleStalls = "e87ec34a" // 0/id-7c1f03ab: 64 jobs on 4 hosts, writes with stalls
	exampleMixed  = "47e16f24" // 0/id-2b90e1d4: 8 jobs on 2 hosts, reads and writes
)

// clusterQuestions are commands whose answers from a cluster and from the embedded history must be equal, byte for
// byte.
var clusterQuestions = [][]string{
	{"runs", "--format=csv"}, {"runs", "randwrite", "--sort=p99", "--format=csv"}, {"runs", "--where=mode=randrw", "--format=csv"},
	{"percentiles", "latest", "--format=csv", allLevels}, {"percentiles", exampleStalls, "--format=json", allLevels},
	{"percentiles", exampleMixed, "--format=csv", "--levels=host"},
	{"rank", "latest", "--within=100us,1ms"},
	{"rank", exampleMixed, "--within=1ms", "--from=+1s", "--to=+4s", "--format=csv"},
	{"rank", exampleStalls, "--within=1ms", "--host=hostB", "--format=json"},
	{"heatmap", exampleMixed}, {"heatmap", exampleStalls, "--host=hostB", "--columns=7", "--format=csv"}, {"compare", exampleMixed, exampleStalls},
	{"sla", exampleMixed, "--rule=p99 <= 10s in every window", "--rule=within 1s >= 99%", "--format=json"},
	{"sla", exampleStalls, "--rule=max<10s", "--host=hostB", "--from=+1s"},
	{"export", exampleMixed, "--as=csv", "--levels=host"}, {"export", exampleStalls, "--as=hdrlog"},
	{"export", exampleStalls, exampleMixed, "--as=openmetrics", "--windows"},
	{"report", exampleMixed}, {"report", exampleStalls, exampleMixed, "--direction=write"},
}

// embeddedAnswers stores the example archive in an embedded history of this test, which commands use if no cluster
// is named, and returns its answers.
func embeddedAnswers(t *testing.T) []string {
	t.Helper()
	isolate(t)
	outputOf(t, "ingest", allLevels, exampleArchive)
	answers := make([]string, len(clusterQuestions))
	for i, args := range clusterQuestions {
		if answers[i] = outputOf(t, args...); answers[i] == "" {
			t.Errorf("%s: no answer", strings.Join(args, " "))
		}
	}
	return answers
}

// TestClusterQuestions: the embedded history answers each question, so that an outdated question is found without a
// cluster. The stand-in for Elasticsearch cannot answer them, because it has no points in time and no pages. Tests
// of package history read through a fake that has them.
func TestClusterQuestions(t *testing.T) { embeddedAnswers(t) }

// TestCluster stores the example archive in a real cluster, directly and through the embedded history. All answers
// must be those of the embedded history, to the digit.
func TestCluster(t *testing.T) {
	real, prefixes := cluster(t, "direct", "pushed")
	want := embeddedAnswers(t)
	for i, prefix := range prefixes {
		at := []string{"--elasticsearch=" + real.Address, "--prefix=" + prefix}
		with := func(args ...string) []string { return append(slices.Clone(args), at...) }
		if out := outputOf(t, with("setup")...); !strings.Contains(out, "create index template "+prefix+"-latency-cluster") {
			t.Errorf("setup: %s", out)
		}
		if out := outputOf(t, with("setup")...); strings.Contains(out, "create") || strings.Contains(out, "update") {
			t.Errorf("setup again: %s", out)
		}
		if out := outputOf(t, with("runs")...); out != "" {
			t.Errorf("runs before the first: %s", out)
		}
		if i == 0 {
			outputOf(t, with("ingest", allLevels, exampleArchive)...)
			outputOf(t, with("ingest", allLevels, exampleArchive)...)
		} else {
			outputOf(t, with("push")...)
			outputOf(t, with("push")...)
		}
		for i, args := range clusterQuestions {
			if diff := cmp.Diff(want[i], outputOf(t, with(args...)...)); diff != "" {
				t.Errorf("%s: embedded and cluster differ:\n%s", strings.Join(args, " "), diff)
			}
		}
		checkAggregations(t, real, prefix)
	}
}

// TestRejects: if the cluster rejects documents, their run is left out, and the others are stored. When the reason is
// corrected, the same ingest stores it.
func TestRejects(t *testing.T) {
	real, prefixes := cluster(t, "rejects")
	t.Setenv("XDG_DATA_HOME", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	archive := filepath.Join("..", "..", "examples", "cbt-archive")
	at := []string{"--elasticsearch=" + real.Address, "--prefix=" + prefixes[0]}
	outputOf(t, append([]string{"setup"}, at...)...)

	// In this index workloads are IP addresses, so the documents of the only run with a workload are rejected.
	index := prefixes[0] + "-latency.host-2026"
	properties := func(ignore bool) string {
		return fmt.Sprintf(`{"properties":{"cbt":{"properties":{"workload":{"type":"ip","ignore_malformed":%t}}}}}`, ignore)
	}
	request(t, real, "PUT", "/"+index, `{"mappings":`+properties(false)+`}`, &struct{}{})
	ingest := append([]string{"ingest", archive}, at...)
	var errs bytes.Buffer
	code := run(context.Background(), ingest, strings.NewReader(""), io.Discard, &errs)
	text := errs.String()
	if code != exitLeftOut || strings.Count(text, "the cluster rejects a document") != 1 || !strings.Contains(text, exampleMixed) ||
		!strings.Contains(text, "2 runs stored") {
		t.Fatalf("exit code %d\n%s", code, text)
	}
	request(t, real, "PUT", "/"+index+"/_mapping", properties(true), &struct{}{})
	outputOf(t, ingest...)
	outputOf(t, append([]string{"check"}, at...)...)
	if out := outputOf(t, append([]string{"runs", "--format=csv"}, at...)...); !strings.Contains(out, "\n"+exampleMixed) {
		t.Errorf("the run is not stored:\n%s", out)
	}
}

// checkAggregations sends the searches of panels that have only exact aggregations to the cluster.
func checkAggregations(t *testing.T, real estest.Real, prefix string) {
	t.Helper()
	var answer struct {
		Aggregations struct {
			Total struct{ Value float64 }
			Ranks struct{ Values map[string]float64 }
			Over  struct {
				Buckets []struct {
					P    struct{ Values map[string]*float64 }
					Heat struct {
						Buckets []struct {
							Count int64 `json:"doc_count"`
						}
					}
				}
			}
		}
	}
	request(t, real, "POST", "/"+prefix+"-latency.cluster-*/_search", `{
		"size": 0, "query": {"term": {"run.id": "`+runOf(t, "0/id-7c1f03ab")+`"}},
		"aggs": {
			"total": {"value_count": {"field": "latency.histogram"}},
			"ranks": {"percentile_ranks": {"field": "latency.histogram", "values": [100, 100000], "hdr": {"number_of_significant_value_digits": 3}}},
			"over": {
				"date_histogram": {"field": "@timestamp", "fixed_interval": "1s", "min_doc_count": 1},
				"aggs": {
					"p": {"percentiles": {"field": "latency.histogram", "percents": [50, 99], "hdr": {"number_of_significant_value_digits": 3}}},
					"heat": {"range": {"field": "latency.histogram", "ranges": [{"to": 50}, {"from": 50, "to": 1000}, {"from": 1000}]}}
				}
			}
		}
	}`, &answer)
	a := answer.Aggregations
	if a.Total.Value != 25600 {
		t.Errorf("%v requests in the cluster, want 25600", a.Total.Value)
	}
	if r := a.Ranks.Values["100000.0"]; r != 100 {
		t.Errorf("%v %% within 100 ms, want all", r)
	}
	if n := len(a.Over.Buckets); n < 9 || n > 11 {
		t.Errorf("%d seconds", n)
	}
	sum := int64(0)
	for _, b := range a.Over.Buckets {
		if p := b.P.Values["99.0"]; p == nil || *p <= 0 {
			t.Error("a second without p99")
		}
		for _, cell := range b.Heat.Buckets {
			sum += cell.Count
		}
	}
	if sum != 25600 {
		t.Errorf("%d requests in the heat map, want 25600", sum)
	}
}

// runOf returns the id of a run in the embedded history, by its name.
func runOf(t *testing.T, name string) string {
	t.Helper()
	for line := range strings.Lines(outputOf(t, "runs", "--format=csv")) {
		if cells := strings.Split(line, ","); cells[2] == name {
			return cells[0]
		}
	}
	t.Fatalf("no run %s", name)
	return ""
}
