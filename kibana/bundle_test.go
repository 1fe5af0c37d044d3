package kibana_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/kibana/kibanatest"
	"github.com/fio2es/fio2es/mapping"
)

func bundle(t *testing.T, opt kibana.Options) *kibana.Bundle {
	t.Helper()
	b, err := kibana.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// requests returns the searches of all panels.
func requests(t *testing.T, b *kibana.Bundle) []kibanatest.Request {
	t.Helper()
	list, err := kibanatest.Requests(b.Specs)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func ndjson(t *testing.T, b *kibana.Bundle) string {
	t.Helper()
	var text bytes.Buffer
	if err := b.WriteNDJSON(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// TestObjects: the ids and titles of imported objects, and the mark by which setup knows them.
func TestObjects(t *testing.T) {
	var list strings.Builder
	for _, o := range bundle(t, kibana.Options{}).Objects {
		if text, _ := o.Attributes["uiStateJSON"].(string); strings.Contains(text, "fio2es") {
			fmt.Fprintln(&list, text) // where another version was released, raise Version first
		}
		fmt.Fprintf(&list, "%-14s %-36s %s\n", o.Type, o.ID, o.Title())
	}
	file := filepath.Join("testdata", "objects.golden")
	golden.File(t, file, list.String())
}

// TestVersions: Kibana 8.3 refuses objects of newer versions, and damages objects without a version.
func TestVersions(t *testing.T) {
	want := map[string]string{"dashboard": "8.3.0", "search": "7.9.3", "visualization": "8.3.0", "index-pattern": "8.0.0"}
	text := ndjson(t, bundle(t, kibana.Options{}))
	for line := range strings.Lines(text) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatal(err)
		}
		typ := o["type"].(string)
		if diff := cmp.Diff(map[string]any{typ: want[typ]}, o["migrationVersion"]); diff != "" {
			t.Errorf("%s %s: %s", typ, o["id"], diff)
		}
		for name := range o {
			if !slices.Contains([]string{"type", "id", "attributes", "references", "migrationVersion"}, name) {
				t.Errorf("%s %s has %s", typ, o["id"], name)
			}
		}
	}
	if again := ndjson(t, bundle(t, kibana.Options{})); again != text {
		t.Error("the same bundle is written in another way")
	}
}

// TestNames: bundles of other prefixes and spaces have their own ids and indices.
func TestNames(t *testing.T) {
	seen := map[string]kibana.Options{}
	for _, opt := range []kibana.Options{
		{}, {Space: "lab"}, {Prefix: "lab"}, {Prefix: "lab", Space: "lab"}, {Prefix: "lab-lab"}, {Prefix: "fio.lab", Space: "team_1"},
	} {
		b := bundle(t, opt)
		prefix := opt.Prefix
		if prefix == "" {
			prefix = mapping.DefaultPrefix
		}
		for _, o := range b.Objects {
			if other, ok := seen[o.ID]; ok {
				t.Errorf("%+v and %+v both have %s", opt, other, o.ID)
			}
			seen[o.ID] = opt
			if !strings.HasPrefix(o.ID, "fio2es") || url(o.ID) {
				t.Errorf("%+v: id %s", opt, o.ID)
			}
			if o.Type == "dashboard" && strings.HasSuffix(o.Title(), " ("+opt.Prefix+")") == (opt.Prefix == "") {
				t.Errorf("%+v: dashboard %s", opt, o.Title())
			}
			title, _ := o.Attributes["title"].(string)
			if o.Type == "index-pattern" && !strings.HasPrefix(title, prefix+"-") {
				t.Errorf("%+v: data view of %s", opt, title)
			}
		}
		for _, r := range requests(t, b) {
			if !strings.HasPrefix(r.Index, prefix+"-") {
				t.Errorf("%+v: panel %s searches %s", opt, r.Panel, r.Index)
			}
		}
		if b.Space != opt.Space {
			t.Errorf("%+v is for space %q", opt, b.Space)
		}
	}
	for _, opt := range []kibana.Options{{Space: "My Space"}, {Space: "a/b"}, {Prefix: "UPPER"}} {
		if b, err := kibana.New(opt); err == nil || b != nil {
			t.Errorf("%+v: no error", opt)
		}
	}
}

// url reports whether an id must be escaped in an address.
func url(id string) bool { return regexp.MustCompile(`[^a-zA-Z0-9._-]`).MatchString(id) }

// TestLinks: dashboards in links of texts and formats are in the same bundle.
func TestLinks(t *testing.T) {
	for _, opt := range []kibana.Options{{}, {Prefix: "lab", Space: "team"}} {
		b := bundle(t, opt)
		ids := map[string]bool{}
		for _, o := range b.Objects {
			if o.Type == "dashboard" {
				ids[o.ID] = true
			}
		}
		for _, m := range regexp.MustCompile(`/app/dashboards#/view/([a-zA-Z0-9._-]+)`).FindAllStringSubmatch(ndjson(t, b), -1) {
			if !ids[m[1]] {
				t.Errorf("%+v: a link to dashboard %s, which is not there", opt, m[1])
			}
		}
	}
}

// eachSpec calls do for each Vega panel.
func eachSpec(t *testing.T, b *kibana.Bundle, do func(t *testing.T, panel string, text []byte, spec map[string]any)) {
	t.Helper()
	n := 0
	for _, panel := range slices.Sorted(maps.Keys(b.Specs)) {
		n++
		t.Run(panel, func(t *testing.T) {
			text := b.Specs[panel]
			var spec map[string]any
			if err := json.Unmarshal(text, &spec); err != nil {
				t.Fatal(err)
			}
			do(t, panel, text, spec)
		})
	}
	if n == 0 {
		t.Error("there are no Vega panels")
	}
}

// TestSpecs: what each specification must have in Kibana, and what it must not have.
func TestSpecs(t *testing.T) {
	b := bundle(t, kibana.Options{})
	eachSpec(t, b, func(t *testing.T, panel string, text []byte, spec map[string]any) {
		if bytes.Contains(text, []byte("${")) {
			t.Errorf("a placeholder is left over: %s", text[bytes.Index(text, []byte("${")):])
		}
		if spec["$schema"] != "https://vega.github.io/schema/vega/v5.json" {
			t.Errorf("$schema is %v", spec["$schema"])
		}
		if diff := cmp.Diff(any(map[string]any{"type": "fit", "contains": "padding"}), spec["autosize"]); diff != "" {
			t.Errorf("autosize: %s", diff)
		}
		for _, name := range []string{"width", "height", "background"} {
			if spec[name] != nil {
				t.Errorf("%s is set, which Kibana does", name)
			}
		}
		isTime := map[any]bool{} // by name of the scale
		visit(spec, func(node map[string]any) { isTime[node["name"]] = isTime[node["name"]] || node["type"] == "time" })
		visit(spec, func(node map[string]any) {
			if node["orient"] != nil && isTime[node["scale"]] && node["format"] == nil {
				t.Error("an axis of time without a format: Vega's own has 12 hours")
			}
			if f, ok := node["format"].(map[string]any); ok && f["property"] != nil {
				t.Error("format.property: it fails where the index is missing")
			}
			if node["url"] != nil {
				checkDataSet(t, node)
			}
		})
	})
}

func checkDataSet(t *testing.T, node map[string]any) {
	url, ok := node["url"].(map[string]any)
	if !ok {
		t.Errorf("data set %s: its url is no search", node["name"])
		return
	}
	body, _ := url["body"].(map[string]any)
	index, _ := url["index"].(string)
	if strings.Contains(index, "-latency.") {
		checkQuery(t, fmt.Sprint(node["name"]), body["query"], nil, isPending)
	} else if text, _ := json.Marshal(body["query"]); strings.Contains(string(text), `"shared.`) {
		// Parts of shared runs have no fields that filters and controls could know. The panel finds the run.
	} else if query, ok := body["query"].(map[string]any); ok {
		must := query["bool"].(map[string]any)["must"].([]any)
		checkQuery(t, fmt.Sprint(node["name"]), query, must[min(2, len(must)):], nil)
	} else if url["%context%"] != true {
		t.Errorf("data set %s: filters and controls do not reach it", node["name"])
	}
	if body["aggs"] == nil {
		return
	}
	if size, ok := body["size"]; !ok || size != 0.0 {
		t.Errorf("data set %s: it returns documents besides aggregations", node["name"])
	}
	steps, _ := node["transform"].([]any)
	if len(steps) == 0 {
		t.Errorf("data set %s: nothing looks whether there is an answer", node["name"])
		return
	}
	first, _ := steps[0].(map[string]any)
	if expr, _ := first["expr"].(string); first["type"] != "filter" || !strings.Contains(expr, "isValid(datum.aggregations") {
		t.Errorf("data set %s: the first step is not the filter isValid(datum.aggregations)", node["name"])
	}
}

// isPending is the clause that excludes pending documents from searches.
var isPending = []any{map[string]any{"term": map[string]any{"run.pending": true}}}

// checkQuery checks that time, filters and controls reach the search, and that it also has these clauses.
func checkQuery(t *testing.T, name string, query any, must, mustNot []any) {
	t.Helper()
	want := map[string]any{"bool": map[string]any{
		"must":     append([]any{"%dashboard_context-must_clause%", map[string]any{"range": map[string]any{"@timestamp": map[string]any{"%timefilter%": true}}}}, must...),
		"filter":   []any{"%dashboard_context-filter_clause%"},
		"must_not": append([]any{"%dashboard_context-must_not_clause%"}, mustNot...),
	}}
	if diff := cmp.Diff(any(want), query); diff != "" {
		t.Errorf("data set %s (-want +got):\n%s", name, diff)
	}
}

// TestOneVersion: while a run is replaced, some documents of its new version are pending. All panels and controls on
// interval documents leave them out.
func TestOneVersion(t *testing.T) {
	searches, controls := 0, 0
	b := bundle(t, kibana.Options{})
	views := map[string]string{} // patterns by id
	for _, o := range b.Objects {
		switch o.Type {
		case "index-pattern":
			views[o.ID] = o.Attributes["title"].(string)
		case "dashboard":
			filter := dashboardFilters(t, o)
			for _, r := range o.References {
				if !strings.HasSuffix(r.Name, ":optionsListDataView") || !strings.Contains(views[r.ID], "-latency.") {
					continue
				}
				want := `not {"match_phrase":{"run.pending":true}}, not {"bool":{"filter":[{"term":{"fio.direction":"sync"}},{"exists":{"field":"interval.ms"}}]}}`
				if controls++; filter != want { // all requests are without syncs
					t.Errorf("%s has controls on %s, and the filter %q", o.ID, views[r.ID], filter)
				}
			}
		}
	}
	for _, r := range requests(t, b) {
		if !strings.Contains(r.Index, "-latency.") {
			continue
		}
		var url struct{ Body struct{ Query any } }
		if err := json.Unmarshal(r.URL, &url); err != nil {
			t.Fatal(err)
		}
		searches++
		checkQuery(t, r.Panel+"."+r.Data, url.Body.Query, nil, isPending)
	}
	if searches < 15 || controls < 9 {
		t.Errorf("%d searches, %d controls", searches, controls)
	}
}

// dashboardFilters describes the filters of a dashboard.
func dashboardFilters(t *testing.T, o kibana.Object) string {
	t.Helper()
	var search struct {
		Filter []struct {
			Meta struct {
				Negate, Disabled bool
				IndexRefName     string
			}
			Query json.RawMessage
		}
	}
	text := o.Attributes["kibanaSavedObjectMeta"].(map[string]any)["searchSourceJSON"].(string)
	if err := json.Unmarshal([]byte(text), &search); err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, f := range search.Filter {
		isNamed := func(r kibana.Reference) bool { return r.Name == f.Meta.IndexRefName }
		if !f.Meta.Negate || f.Meta.Disabled || !slices.ContainsFunc(o.References, isNamed) {
			t.Errorf("%s has the filter %+v", o.ID, f)
		}
		list = append(list, "not "+string(f.Query))
	}
	return strings.Join(list, ", ")
}

func visit(v any, each func(map[string]any)) {
	kibanatest.Walk(v, "", func(_ string, node map[string]any) { each(node) })
}

// TestBuckets: Elasticsearch refuses more than 65,536 buckets in an answer, including empty ones. hdr needs about
// 0.45 MB of memory in the cluster for each bucket with percentiles (measured: 225 MB for 500 buckets). A node with
// little memory trips its circuit breaker: status 429. So the number is limited for any time range.
func TestBuckets(t *testing.T) {
	for _, r := range requests(t, bundle(t, kibana.Options{})) {
		var url struct {
			Body struct{ Aggs map[string]any }
		}
		if err := json.Unmarshal(r.URL, &url); err != nil {
			t.Fatal(err)
		}
		n, err := bucketsOf(url.Body.Aggs)
		hdrs, failed := hdrsOf(url.Body.Aggs)
		if err := errors.Join(err, failed); err != nil {
			t.Errorf("panel %s, data set %s: %v", r.Panel, r.Data, err)
		}
		if n >= 65536 || hdrs > 2000 { // 0.9 GB
			t.Errorf("panel %s, data set %s: up to %d buckets, %d with percentiles", r.Panel, r.Data, n, hdrs)
		}
	}
}

// hdrsOf returns an upper limit of how often these aggregations compute percentiles.
func hdrsOf(aggs map[string]any) (int, error) {
	sum := 0
	for name, v := range aggs {
		one := v.(map[string]any)
		own := 1
		for kind, params := range one {
			p, _ := params.(map[string]any)
			if strings.HasPrefix(kind, "percentile") {
				sum++
			}
			n, err := ownBuckets(kind, p)
			if err != nil && kind != "histogram" {
				return 0, fmt.Errorf("%s %s: %w", kind, name, err)
			}
			own = max(own, n)
		}
		if below, ok := one["aggs"].(map[string]any); ok {
			inner, err := hdrsOf(below)
			if err != nil {
				return 0, err
			}
			sum += own * inner
		}
	}
	return sum, nil
}

// bucketsOf returns an upper limit of the number of buckets of these aggregations.
func bucketsOf(aggs map[string]any) (int, error) {
	sum := 0
	for name, v := range aggs {
		one := v.(map[string]any)
		for kind, params := range one {
			p, _ := params.(map[string]any)
			if kind == "aggs" || kind == "meta" {
				continue
			}
			own, err := ownBuckets(kind, p)
			if err != nil {
				return 0, fmt.Errorf("%s %s: %w", kind, name, err)
			}
			inner := 0
			if below, ok := one["aggs"].(map[string]any); ok {
				if inner, err = bucketsOf(below); err != nil {
					return 0, err
				}
			}
			sum += own * (1 + inner)
			if own == 0 {
				sum += inner
			}
		}
	}
	return sum, nil
}

// ownBuckets returns the number of buckets of one aggregation, or 0 if it makes none.
func ownBuckets(kind string, p map[string]any) (int, error) {
	size := func(name string, otherwise int) int {
		if n, ok := p[name].(float64); ok {
			return int(n)
		}
		return otherwise
	}
	switch kind {
	case "date_histogram":
		interval, _ := p["interval"].(map[string]any)
		if n, ok := interval["%autointerval%"].(float64); ok {
			return kibanatest.MaxBuckets(int(n)), nil
		}
		return 0, fmt.Errorf("nothing limits its buckets: interval is %v", p["interval"])
	case "auto_date_histogram":
		return size("buckets", 10), nil
	case "terms", "composite", "multi_terms":
		return size("size", 10), nil
	case "range", "date_range":
		return len(p["ranges"].([]any)), nil
	case "filters":
		return len(p["filters"].(map[string]any)), nil
	case "filter", "missing", "global":
		return 1, nil
	case "histogram":
		return 0, fmt.Errorf("nothing limits its buckets")
	}
	return 0, nil
}

// TestRunAddress: the address of a run's dashboard contains the time and the id of the run, and no spaces.
func TestRunAddress(t *testing.T) {
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	got := bundle(t, kibana.Options{Space: "lab"}).RunAddress("https://kb:5601/base/", &mapping.RunInfo{ID: "aa", Start: at, End: at.Add(time.Minute)})
	want := "https://kb:5601/base/s/lab/app/dashboards#/view/fio2es-lab-run?_g=(time:(from:'2026-11-21T09:59:59.000Z',to:'2026-11-21T10:01:01.000Z'))" +
		"&_a=(query:(language:kuery,query:'run.id:%22aa%22'))"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
