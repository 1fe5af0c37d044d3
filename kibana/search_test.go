package kibana

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/kibana/kibanatest"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

// TestPercentiles removes hdr from each search that has it. The check must refuse the result.
func TestPercentiles(t *testing.T) {
	b := newBundle(Options{Prefix: mapping.DefaultPrefix}, objects())
	requests, err := kibanatest.Requests(b.Specs)
	if err != nil {
		t.Fatal(err)
	}
	fields := newBuilder(Options{Prefix: mapping.DefaultPrefix}, objects()).fields
	n := 0
	for _, r := range requests {
		var url any
		if err := json.Unmarshal(r.URL, &url); err != nil {
			t.Fatal(err)
		}
		kibanatest.Walk(url, "", func(_ string, node map[string]any) {
			if node["hdr"] == nil {
				return
			}
			n++
			hdr := node["hdr"]
			for _, wrong := range []any{nil, map[string]any{}, map[string]any{"number_of_significant_value_digits": 2}} {
				node["hdr"] = wrong
				if wrong == nil {
					delete(node, "hdr")
				}
				text, _ := json.Marshal(url)
				estimate := kibanatest.Request{Panel: r.Panel, Data: r.Data, Index: r.Index, URL: text}
				if err := checkSearch(&estimate, fields(r.Index)); err == nil || !strings.Contains(err.Error(), "t-digest") {
					t.Errorf("panel %s, data set %s with hdr %v: %v", r.Panel, r.Data, wrong, err)
				}
			}
			node["hdr"] = hdr
		})
	}
	t.Logf("%d aggregations with hdr", n)
}

func TestSearchFaults(t *testing.T) {
	for body, want := range map[string]string{
		`{"aggs":{"a":{"percentiles":{"field":"latency.layout","hdr":{"number_of_significant_value_digits":3}}}}}`:  "latency.layout is of type keyword",
		`{"aggs":{"a":{"range":{"field":"iops"},"aggs":{"b":{"max":{"field":"nosuch"}}}}}}`:                         "nosuch",
		`{"aggs":{"a":{"weighted_avg":{"value":{"field":"iops"},"weight":{"field":"interval"}}}}}`:                  "interval",
		`{"query":{"bool":{"must_not":[{"prefix":{"nosuch":"x"}}]}}}`:                                               "nosuch",
		`{"size":1,"_source":["run.*","cbt","nosuch"]}`:                                                             `"nosuch"`,
		`{"runtime_mappings":{"x":{"type":"keyword"}},"aggs":{"a":{"max":{"field":"x"}}}}`:                          "x is of type keyword",
		`{"query":{"bool":{"filter":["%dashboard_context-filter_clause%",{"range":{"run.start":{"gte":"now"}}}]}}}`: "",
	} {
		r := kibanatest.Request{Index: "lab-latency.cluster-*", URL: json.RawMessage(`{"%timefield%":"@timestamp","body":` + body + `}`)}
		err := checkSearch(&r, templates.LatencyFields())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}
