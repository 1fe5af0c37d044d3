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
	const hdr = `"hdr":{"number_of_significant_value_digits":3}`
	for body, want := range map[string]string{
		`{"aggs":{"a":{"percentiles":{"field":"latency.histogram",` + hdr + `}}}}`:                                  "",
		`{"aggs":{"a":{"percentiles":{"field":"latency.histogram"}}}}`:                                              "t-digest",
		`{"aggs":{"a":{"percentile_ranks":{"field":"latency.histogram","values":[1]}}}}`:                            "t-digest",
		`{"aggs":{"a":{"percentiles":{"field":"latency.layout",` + hdr + `}}}}`:                                     "latency.layout is of type keyword",
		`{"aggs":{"a":{"max":{"field":"latency.nosuch"}}}}`:                                                         `no field "latency.nosuch"`,
		`{"aggs":{"a":{"max":{}}}}`:                                                                                 "names no field",
		`{"aggs":{"a":{"terms":{"field":"latency.histogram"}}}}`:                                                    "is of type histogram",
		`{"aggs":{"a":{"date_histogram":{"field":"interval.ms"}}}}`:                                                 "is of type long",
		`{"aggs":{"a":{"boxplot":{"field":"iops"}}}}`:                                                               "not an aggregation that we know",
		`{"aggs":{"a":{"max":{"field":"iops"},"min":{"field":"iops"}}}}`:                                            "2 kinds",
		`{"aggs":{"a":{"range":{"field":"latency.histogram"},"aggs":{"b":{"max":{"field":"iops"}}}}}}`:              "refuses any below",
		`{"aggs":{"a":{"range":{"field":"iops"},"aggs":{"b":{"max":{"field":"nosuch"}}}}}}`:                         "nosuch",
		`{"aggs":{"a":{"weighted_avg":{"value":{"field":"iops"},"weight":{"field":"interval.ms"}}}}}`:               "",
		`{"aggs":{"a":{"weighted_avg":{"value":{"field":"iops"},"weight":{"field":"interval"}}}}}`:                  "interval",
		`{"aggs":{"a":{"composite":{"sources":[{"x":{"terms":{"field":"run.id"}}}]}}}}`:                             "",
		`{"aggs":{"a":{"composite":{"sources":[{"x":{"terms":{"field":"run.idea"}}}]}}}}`:                           "run.idea",
		`{"aggs":{"a":{"multi_terms":{"terms":[{"field":"run.id"},{"field":"run.idea"}]}}}}`:                        "run.idea",
		`{"aggs":{"a":{"top_metrics":{"metrics":{"field":"iops"},"sort":{"@timestamp":"desc"}}}}}`:                  "",
		`{"aggs":{"a":{"top_metrics":{"metrics":[{"field":"iops"}],"sort":{"time":"desc"}}}}}`:                      `"time"`,
		`{"aggs":{"a":{"top_hits":{"_source":["iops","nosuch"]}}}}`:                                                 "nosuch",
		`{"aggs":{"a":{"filter":{"term":{"fio.direction":"read"}}}}}`:                                               "",
		`{"aggs":{"a":{"filters":{"filters":{"x":{"exists":{"field":"nosuch"}}}}}}}`:                                "nosuch",
		`{"aggs":{"a":{"bucket_sort":{"size":1}},"b":{"max_bucket":{"buckets_path":"c>d"}}}}`:                       `no aggregation "c"`,
		`{"aggs":{"m":{"max":{"field":"iops"}},"b":{"bucket_script":{"buckets_path":{"x":"m","n":"_count"}}}}}`:     "",
		`{"query":{"bool":{"filter":["%dashboard_context-filter_clause%",{"range":{"run.start":{"gte":"now"}}}]}}}`: "",
		`{"query":{"bool":{"must_not":[{"prefix":{"nosuch":"x"}}]}}}`:                                               "nosuch",
		`{"query":{"query_string":{"query":"x"}}}`:                                                                  "not a query that we know",
		`{"size":1,"_source":["run.*","cbt"],"sort":[{"@timestamp":"asc"},"_doc"],"fields":[{"field":"iops"}]}`:     "",
		`{"_source":{"includes":["nosuch*"]}}`:                                                                      "nosuch",
		`{"sort":{"nosuch":"asc"}}`:                                                                                 "nosuch",
		`{"sort":"hosts"}`:                                                                                          "hosts",
		`{"runtime_mappings":{"x":{"type":"long"}},"aggs":{"a":{"max":{"field":"x"}}}}`:                             "",
		`{"runtime_mappings":{"x":{"type":"keyword"}},"aggs":{"a":{"max":{"field":"x"}}}}`:                          "x is of type keyword",
		`{"from":10}`: "from",
	} {
		r := kibanatest.Request{Index: "lab-latency.cluster-*", URL: json.RawMessage(`{"%timefield%":"@timestamp","body":` + body + `}`)}
		err := checkSearch(&r, templates.LatencyFields())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
	r := kibanatest.Request{URL: json.RawMessage(`{"%timefield%":"interval.ms","body":{}}`)}
	if err := checkSearch(&r, map[string]string{"interval.ms": "long"}); err == nil {
		t.Error("time field that is no date")
	}
}
