package kibanatest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/kibana/kibanatest"
)

var from = time.Date(2026, 11, 21, 3, 14, 30, 0, time.UTC)

func TestResolve(t *testing.T) {
	const span = `{"format":"strict_date_optional_time","gte":"2026-11-21T03:14:30.000Z","lte":"2026-11-21T03:16:10.000Z"}`
	c := kibanatest.Context{From: from, To: from.Add(100 * time.Second), Filters: []any{map[string]any{"match_all": map[string]any{}}}}
	for name, test := range map[string]struct{ url, want string }{
		"context and time": {
			`{"index":"i","%context%":true,"%timefield%":"@timestamp","body":{"size":0}}`,
			`{"query":{"bool":{"filter":[{"match_all":{}}],"must":[{"range":{"@timestamp":` + span + `}}],"must_not":[],"should":[]}},"size":0}`,
		},
		"context": {
			`{"index":"i","%context%":true,"body":{}}`,
			`{"query":{"bool":{"filter":[{"match_all":{}}],"must":[],"must_not":[],"should":[]}}}`,
		},
		"time":  {`{"index":"i","%timefield%":"t","body":{}}`, `{"query":{"range":{"t":` + span + `}}}`},
		"query": {`{"index":"i","body":{"query":{"range":{"t":{"%timefilter%":true}}}}}`, `{"query":{"range":{"t":` + span + `}}}`},
		"clauses": {
			`{"index":"i","body":{"query":{"bool":{"must":["%dashboard_context-must_clause%",{"range":{"t":{"%timefilter%":true}}}],` +
				`"filter":["%dashboard_context-filter_clause%",{"term":{"a":"b"}}],"must_not":["%dashboard_context-must_not_clause%",{"term":{"c":true}}]}}}}`,
			`{"query":{"bool":{"filter":[{"match_all":{}},{"term":{"a":"b"}}],"must":[{"range":{"t":` + span + `}}],"must_not":[{"term":{"c":true}}]}}}`,
		},
		"intervals": {
			`{"index":"i","body":{"aggs":{
				"a":{"date_histogram":{"interval":{"%autointerval%":100}}},
				"b":{"date_histogram":{"interval":{"%autointerval%":50}},"aggs":{"c":{"date_histogram":{"interval":"1h","extended_bounds":{"min":{"%timefilter%":"min"}}}}}},
				"d":{"histogram":{"interval":5}},
				"e":{"filter":{"range":{"t":{"gte":{"%timefilter%":"max","shift":-1,"unit":"minute"}}}}}}}}`,
			`{"aggs":{"a":{"date_histogram":{"fixed_interval":"1s"}},` +
				`"b":{"aggs":{"c":{"date_histogram":{"calendar_interval":"1h","extended_bounds":{"min":1795230870000}}}},"date_histogram":{"fixed_interval":"1s"}},` +
				`"d":{"histogram":{"interval":5}},"e":{"filter":{"range":{"t":{"gte":1795230910000}}}}}}`,
		},
	} {
		got, err := kibanatest.Resolve([]byte(test.url), c)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(test.want, strings.TrimSpace(string(got.JSON()))); diff != "" || got.Index != "i" {
			t.Errorf("%s: index %s (-want +got):\n%s", name, got.Index, diff)
		}
	}
}

func TestResolveRefuses(t *testing.T) {
	for url, want := range map[string]string{
		`{"index":"i"}`: "an index and a body",
		`{"index":"i","%context%":true,"body":{"query":{}}}`:                                           "excludes",
		`{"index":"i","body":{"query":{"bool":{"must":["%dashboard_context-other_clause%"]}}}}`:        "%dashboard_context-other_clause%",
		`{"index":"i","body":{"aggs":{"a":{"date_histogram":{"interval":{"%autointerval%":"x"}}}}}}`:   "interval",
		`{"index":"i","body":{"aggs":{"a":{"auto_date_histogram":{"buckets":{"%autointerval%":5}}}}}}`: "%autointerval%",
		`{"index":"i","body":{"aggs":{"a":{"x":{"%timefilter%":"middle"}}}}}`:                          "middle",
		`{"index":"i","body":{"runtime_mappings":{"x":{"%timefilter%":"min"}}}}`:                       "%timefilter%",
	} {
		if _, err := kibanatest.Resolve([]byte(url), kibanatest.Context{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
}

func TestAutoInterval(t *testing.T) {
	for wish, want := range map[time.Duration]string{
		time.Millisecond: "100ms", time.Second: "1s", 5 * time.Second: "1s", 5001 * time.Millisecond: "5s", 3 * time.Minute: "1m", time.Hour: "1h",
		// as recorded from Kibana 8.3.3
		100 * time.Second / 120: "1s", time.Hour / 120: "30s", 51 * 24 * time.Hour / 120: "12h", 364 * 24 * time.Hour / 120: "24h",
		24 * time.Hour: "12h", 100 * time.Hour: "24h", 14 * 24 * time.Hour: "1w", 41 * 24 * time.Hour: "30d", 42 * 24 * time.Hour: "1y",
	} {
		if got := kibanatest.AutoInterval(wish); got != want {
			t.Errorf("%v: %s, want %s", wish, got, want)
		}
	}
	if got := kibanatest.MaxBuckets(100); got != 701 {
		t.Errorf("at most %d buckets of 100, want 701: 700 weeks asked for as 100 are days", got)
	}
}
