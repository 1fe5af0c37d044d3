package kibana

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/kibana/kibanatest"
	"github.com/fio2es/fio2es/mapping/templates"
)

func TestSearchFaults(t *testing.T) {
	for body, want := range map[string]string{
		`{"aggs":{"a":{"percentiles":{"field":"latency.histogram"}}}}`:                                                "t-digest",
		`{"aggs":{"a":{"percentiles":{"field":"latency.histogram","hdr":{"number_of_significant_value_digits":2}}}}}`: "t-digest",
		`{"aggs":{"a":{"percentiles":{"field":"latency.layout","hdr":{"number_of_significant_value_digits":3}}}}}`:    "latency.layout is of type keyword",
		`{"aggs":{"a":{"range":{"field":"iops"},"aggs":{"b":{"max":{"field":"nosuch"}}}}}}`:                           "nosuch",
		`{"aggs":{"a":{"weighted_avg":{"value":{"field":"iops"},"weight":{"field":"interval"}}}}}`:                    "interval",
		`{"query":{"bool":{"must_not":[{"prefix":{"nosuch":"x"}}]}}}`:                                                 "nosuch",
		`{"size":1,"_source":["run.*","cbt","nosuch"]}`:                                                               `"nosuch"`,
		`{"runtime_mappings":{"x":{"type":"keyword"}},"aggs":{"a":{"max":{"field":"x"}}}}`:                            "x is of type keyword",
		`{"query":{"bool":{"filter":["%dashboard_context-filter_clause%",{"range":{"run.start":{"gte":"now"}}}]}}}`:   "",
	} {
		r := kibanatest.Request{Index: "lab-latency.cluster-*", URL: json.RawMessage(`{"%timefield%":"@timestamp","body":` + body + `}`)}
		err := checkSearch(&r, templates.LatencyFields())
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}
