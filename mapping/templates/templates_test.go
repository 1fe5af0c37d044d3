package templates_test

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/mapping/templates"
)

func TestAll(t *testing.T) {
	all, err := templates.All(templates.Options{Prefix: "lab"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range all {
		got = append(got, string(o.Kind)+" "+o.Name)
		if strings.ContainsAny(texts(t, o.Body.JSON()), "{}") {
			t.Errorf("%s: not filled in: %s", o.Name, o.Body.JSON())
		}
	}
	want := []string{
		"lifecycle policy lab-latency",
		"component template lab-latency-mappings", "component template lab-latency-settings",
		"component template lab-runs-mappings", "component template lab-runs-settings",
		"index template lab-latency-cluster", "index template lab-latency-host",
		"index template lab-latency-job", "index template lab-latency-section", "index template lab-runs",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

// texts are all texts in a body, one after another.
func texts(t *testing.T, body []byte) string {
	t.Helper()
	var b strings.Builder
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			b.WriteString(v + "\n")
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(decode(t, body))
	return b.String()
}

// TestNames: documents go where a template waits for them.
func TestNames(t *testing.T) {
	want := []string{"fio-latency-cluster", "fio-latency-host", "fio-latency-job", "fio-latency-section", "fio-runs"}
	if diff := cmp.Diff(want, templates.Names("")); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	objects, families := objectsByName(t, templates.Options{Prefix: "lab"}), templates.Families("lab")
	for i, index := range []string{
		mapping.LatencyIndex("lab", mapping.Cluster, mapping.Years, time.Unix(1e9, 0)), mapping.LatencyIndex("lab", mapping.Host, mapping.Years, time.Unix(1e9, 0)),
		mapping.LatencyIndex("lab", mapping.Job, mapping.Years, time.Unix(1e9, 0)), mapping.LatencyIndex("lab", mapping.Section, mapping.Months, time.Unix(1e9, 0)),
		mapping.RunsIndex("lab"),
	} {
		for j, f := range families {
			if ok, err := path.Match(f.Pattern, index); err != nil || ok != (i == j) {
				t.Errorf("%s matches %s: %v, %v", f.Pattern, index, ok, err)
			}
		}
		f := families[i]
		template := objects[f.Name+" index template"]
		if diff := cmp.Diff([]any{f.Pattern}, template["index_patterns"]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.Name, diff)
		}
		if components := template["composed_of"].([]any); components[0] != f.Mappings {
			t.Errorf("%s is composed of %v, not of %s", f.Name, components, f.Mappings)
		}
		for _, c := range template["composed_of"].([]any) {
			if objects[c.(string)+" component template"] == nil {
				t.Errorf("%s is composed of %v, which is not installed", f.Name, c)
			}
		}
	}
}

// TestManaged: every object says who manages it, and has its version and its hash, in the place where a cluster keeps it.
// Only the hashes of what options change differ.
func TestManaged(t *testing.T) {
	version := json.Number(fmt.Sprint(templates.Version))
	others := objectsByName(t, templates.Options{KeepDays: 5, Shards: 2})
	for name, o := range objectsByName(t, templates.Options{}) {
		path := []string{"_meta"}
		if strings.HasSuffix(name, string(templates.Policy)) {
			path = []string{"policy", "_meta"}
		}
		meta := at(o, path...)
		if at(meta, "managed_by") != "fio2es" || at(meta, "version") != version || at(meta, "description") == nil || at(meta, "hash") == nil {
			t.Errorf("%s has _meta %v", name, meta)
		}
		isChanged := name == "fio-latency lifecycle policy" || name == "fio-latency-settings component template" ||
			strings.HasPrefix(name, "fio-latency-") && strings.HasSuffix(name, string(templates.Index))
		if isOther := at(meta, "hash") != at(others[name], append(path, "hash")...); isOther != isChanged {
			t.Errorf("%s has another hash with other options: %v", name, isOther)
		}
		if m, ok := at(o, "template", "mappings").(map[string]any); ok {
			if at(m, "_meta", "managed_by") != "fio2es" || at(m, "_meta", "version") != version || at(m, "_meta", "hash") == nil || m["dynamic"] != "strict" {
				t.Errorf("%s: mappings %v, dynamic %v", name, m["_meta"], m["dynamic"])
			}
		}
	}
}

func TestOptions(t *testing.T) {
	type settings = map[string]any
	number := func(n int) json.Number { return json.Number(fmt.Sprint(n)) }
	for _, c := range []struct {
		name      string
		opt       templates.Options
		component string
		want      settings // those that options change
	}{
		{"default", templates.Options{}, "fio-latency-settings", settings{
			"number_of_shards": number(1), "auto_expand_replicas": "0-1", "number_of_replicas": nil, "lifecycle": nil,
		}},
		{"default, runs", templates.Options{}, "fio-runs-settings", settings{
			"number_of_shards": number(1), "auto_expand_replicas": "0-1", "number_of_replicas": nil, "lifecycle": nil,
		}},
		{"shards", templates.Options{Shards: 6, Replicas: "0-all"}, "fio-latency-settings", settings{
			"number_of_shards": number(6), "auto_expand_replicas": "0-all", "number_of_replicas": nil,
		}},
		{"shards are not for runs", templates.Options{Shards: 6, Replicas: "2"}, "fio-runs-settings", settings{
			"number_of_shards": number(1), "auto_expand_replicas": nil, "number_of_replicas": number(2),
		}},
		{"no policy", templates.Options{Policy: templates.NoPolicy}, "fio-latency-settings", settings{"lifecycle": nil}},
		{"kept for days", templates.Options{KeepDays: 90}, "fio-latency-settings", settings{"lifecycle": settings{"name": "fio-latency"}}},
		{"older servers", templates.Options{}, "fio-latency-settings", settings{"use_time_series_doc_values_format": nil}},
		{"compressed", templates.Options{CompressedDocValues: true}, "fio-latency-settings", settings{"use_time_series_doc_values_format": true}},
		{"own policy", templates.Options{Policy: "hot-warm"}, "fio-latency-settings", settings{"lifecycle": settings{"name": "hot-warm"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			objects := objectsByName(t, c.opt)
			index := at(objects[c.component+" component template"], "template", "settings", "index")
			for key, want := range c.want {
				if diff := cmp.Diff(want, at(index, key)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", key, diff)
				}
			}
			// A policy that deletes an index of a year would delete runs too early.
			_, hasLifecycle := at(objects["fio-latency-settings component template"], "template", "settings", "index", "lifecycle").(map[string]any)
			if months := at(objects["fio-latency-host index template"], "_meta", "months") == true; months != hasLifecycle {
				t.Errorf("months %v, lifecycle %v", months, hasLifecycle)
			}
			_, hasPolicy := objects["fio-latency lifecycle policy"]
			if hasPolicy != (c.opt.Policy == "") {
				t.Errorf("policy is installed: %v", hasPolicy)
			}
		})
	}
}

func TestKeepDays(t *testing.T) {
	phases := func(days int) any {
		return at(objectsByName(t, templates.Options{KeepDays: days})["fio-latency lifecycle policy"], "policy", "phases")
	}
	if diff := cmp.Diff(any(map[string]any{"hot": map[string]any{"min_age": "0ms", "actions": map[string]any{}}}), phases(0)); diff != "" {
		t.Errorf("for ever (-want +got):\n%s", diff)
	}
	want := any(map[string]any{"min_age": "121d", "actions": map[string]any{"delete": map[string]any{"delete_searchable_snapshot": true}}})
	if diff := cmp.Diff(want, at(phases(90), "delete")); diff != "" {
		t.Errorf("90 days (-want +got):\n%s", diff)
	}
}

func TestInvalidOptions(t *testing.T) {
	for _, opt := range []templates.Options{
		{Prefix: "Fio"}, {Prefix: "-fio"}, {Prefix: "fio*"}, {Prefix: "a b"}, {Prefix: "a,b"}, {Prefix: strings.Repeat("a", 65)}, {Prefix: "../x"},
		{Shards: -1}, {Shards: 1025}, {Replicas: "-1"}, {Replicas: "1-"}, {Replicas: "all"}, {Replicas: "2-1"}, {KeepDays: -1}, {KeepDays: 40000},
		{KeepDays: 1, Policy: "own"}, {KeepDays: 1, Policy: templates.NoPolicy},
	} {
		if all, err := templates.All(opt); !errors.Is(err, templates.ErrOptions) || all != nil {
			t.Errorf("%+v: %d objects, error %v", opt, len(all), err)
		}
	}
}

// TestSorting: run documents are sorted by fields that can be sorted by. Elasticsearch finds out only when the first index is created.
func TestSorting(t *testing.T) {
	objects := objectsByName(t, templates.Options{})
	sort := at(objects["fio-runs-settings component template"], "template", "settings", "index", "sort")
	types := leaves(at(objects["fio-runs-mappings component template"], "template", "mappings", "properties"), "", map[string]string{})
	fields := at(sort, "field").([]any)
	if len(fields) != len(at(sort, "order").([]any)) {
		t.Errorf("fields %v, orders %v", fields, at(sort, "order"))
	}
	for _, f := range fields {
		if typ := types[f.(string)]; typ != "keyword" && typ != "date" && typ != "long" {
			t.Errorf("sorted by %v, which is %q", f, typ)
		}
	}
}

// TestVersion: another content needs another number, or two programs of one version undo
// each other's work for ever.
func TestVersion(t *testing.T) {
	all, err := templates.All(templates.Options{})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	folders := map[templates.Kind]string{
		templates.Policy: "/_ilm/policy/", templates.Component: "/_component_template/", templates.Index: "/_index_template/",
	}
	for _, o := range all {
		fmt.Fprintln(sum, folders[o.Kind]+o.Name, string(o.Body.JSON()))
	}
	got := fmt.Sprintf("%d %x\n", templates.Version, sum.Sum(nil)[:8])
	golden.File(t, "testdata/version.txt", got) // where the other version was released, raise Version first
	doc, err := os.ReadFile("../../docs/compatibility.md")
	if want := fmt.Sprintf("| %d, after `fio2es setup`", templates.Version); err != nil || !strings.Contains(string(doc), want) {
		t.Errorf("docs/compatibility.md lacks %q, %v", want, err)
	}
}

func ExampleNames() {
	fmt.Println(templates.Names("fio"))
	// Output: [fio-latency-cluster fio-latency-host fio-latency-job fio-latency-section fio-runs]
}
