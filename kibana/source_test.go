package kibana

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/fio2es/fio2es/mapping"
)

// small are the sources of one panel of each kind.
var small = map[string]string{
	"formats.json":         `[{"fields": ["iops", "*.iops"], "id": "number", "params": {"pattern": "0"}}]`,
	"dataviews/runs.json":  `{"index": "${prefix}-runs", "name": "runs"}`,
	"panels/text.json":     `{"title": "T", "description": "d", "markdown": "text.md", "values": {"who": "me"}}`,
	"panels/text.md":       "[${who}](#/view/${id:all})",
	"panels/spec.json":     `{"title": "S", "description": "d", "vega": "spec.vg.json", "values": {"level": "host"}}`,
	"panels/spec.vg.json":  `{"data": [{"name": "a", "url": {"index": "${prefix}-latency.${level}-*", "body": {"query": {"bool": {` + clauses + `, {"term": {"run.pending": true}}]}}, "aggs": {"b": {"range": {"field": "latency.histogram", "ranges": "${bands}"}}}}}}]}`,
	"panels/table.json":    `{"title": "L", "description": "d", "columns": [{"field": "all.iops", "width": 90}]}`,
	"dashboards/all.json":  `{"title": "D", "description": "d", "controls": [{"title": "Mode", "view": "runs", "field": "cbt.mode", "width": "small"}], "rows": [{"height": 10, "panels": [{"panel": "text", "width": 10}, {"panel": "spec", "width": 38}]}, {"height": 5, "panels": [{"panel": "table", "width": 48}]}]}`,
	"dashboards/more.json": `{"title": "M", "description": "d", "time": {"from": "now-1y", "to": "now"}, "controls": [], "rows": []}`,
}

// clauses are the filters of a dashboard, in a query to which must_not clauses can be added.
const clauses = `"must": ["%dashboard_context-must_clause%"], "filter": ["%dashboard_context-filter_clause%"], "must_not": ["%dashboard_context-must_not_clause%"`

func files(changes map[string]string) fstest.MapFS {
	all := maps.Clone(small)
	maps.Copy(all, changes)
	fs := fstest.MapFS{}
	for name, text := range all {
		if text != "" {
			fs[name] = &fstest.MapFile{Data: []byte(text)}
		}
	}
	return fs
}

func TestSmallBundle(t *testing.T) {
	if err := check(files(nil)); err != nil {
		t.Fatal(err)
	}
	b := newBundle(Options{Prefix: mapping.DefaultPrefix, Space: "lab"}, files(nil))
	var ids []string
	for _, o := range b.Objects {
		ids = append(ids, o.ID)
	}
	want := []string{"fio2es-lab-runs", "fio2es-lab-spec", "fio2es-lab-table", "fio2es-lab-text", "fio2es-lab-all", "fio2es-lab-more"}
	if !slices.Equal(ids, want) {
		t.Errorf("%v, want %v", ids, want)
	}
	if state := b.Objects[3].Attributes["visState"].(string); !strings.Contains(state, "[me](#/view/fio2es-lab-all)") {
		t.Errorf("text: %s", state)
	}
	if text := string(b.Specs["spec"]); !strings.Contains(text, `[{"to":0.001},{"from":0.001,"to":0.00112202}`) || !strings.Contains(text, "fio-latency.host-*") {
		t.Errorf("specification: %.300s", text)
	}
	grid := b.Objects[4].Attributes["panelsJSON"].(string)
	for _, part := range []string{`"gridData":{"h":10,"i":"1","w":38,"x":10,"y":0}`, `"gridData":{"h":5,"i":"2","w":48,"x":0,"y":10}`} {
		if !strings.Contains(grid, part) {
			t.Errorf("panels are not %s: %s", part, grid)
		}
	}
	if format := b.Objects[0].Attributes["fieldFormatMap"].(string); !strings.Contains(format, `"trim.iops":{"id":"number"`) {
		t.Errorf("formats: %s", format)
	}
}

// TestSourceFaults: each error names the file and the fault.
func TestSourceFaults(t *testing.T) {
	const panel = "panels/table.json"
	for name, test := range map[string]struct{ file, text, want string }{
		"no JSON":           {panel, `{`, "unexpected EOF"},
		"placeholder":       {"panels/text.md", "${who} ${missing}", "nothing stands for ${missing}"},
		"dashboard":         {"panels/text.md", "${who} ${id:nosuch}", "nothing stands for ${id:nosuch}"},
		"unused value":      {"panels/text.md", "x", `no place for the value "who"`},
		"field":             {panel, `{"title": "L", "columns": [{"field": "nosuch", "width": 1}]}`, `column "nosuch"`},
		"column":            {panel, `{"title": "L", "columns": [{"field": "all.iops"}]}`, "no width"},
		"specification":     {"panels/spec.vg.json", `{"${level}"`, "panel spec: unexpected end"},
		"index":             {"panels/spec.vg.json", `{"${level}": 1, "data": [{"name": "a", "url": {"index": "other-*", "body": {}}}]}`, "none of ours"},
		"field of a search": {"panels/spec.vg.json", `{"${level}": 1, "marks": [{"data": [{"name": "a", "url": {"index": "fio-runs", "%timefield%": "time", "body": {}}}]}]}`, `no field "time"`},
		"no panel":          {"dashboards/all.json", `{"title": "x", "rows": [{"height": 1, "panels": [{"panel": "nosuch", "width": 1}]}]}`, `no panel "nosuch"`},
		"panel nowhere":     {"dashboards/all.json", `{"title": "x", "rows": []}`, "on no dashboard"},
		"control":           {"dashboards/all.json", `{"title": "x", "controls": [{"title": "c", "view": "runs", "field": "all.iops", "width": "small"}]}`, "must be keyword"},
		"data view's index": {"dataviews/runs.json", `{"index": "${prefix}-nosuch", "name": "x"}`, "one of ours"},
	} {
		err := check(files(map[string]string{test.file: test.text}))
		switch {
		case err == nil:
			t.Errorf("%s: no error", name)
		case !strings.Contains(err.Error(), test.want):
			t.Errorf("%s: %v, want %s", name, err, test.want)
		case !strings.Contains(err.Error(), base(test.file)):
			t.Errorf("%s: the error does not name %s: %v", name, test.file, err)
		}
	}
}

// base returns the name of a file that an error must contain.
func base(file string) string {
	name, _, _ := strings.Cut(path.Base(file), ".")
	if file == "dashboards/all.json" {
		return "" // a panel on no dashboard is not a fault of one file
	}
	return name
}

func TestFormats(t *testing.T) {
	b, err := New(Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range b.Objects {
		if o.Type != typeDataView {
			continue
		}
		formats := o.Attributes["fieldFormatMap"].(string)
		want := []string{`"latency.p99":{"id":"duration"`, `"iops":{"id":"number"`}
		if o.ID == "fio2es-runs" {
			want = []string{`"all.latency.p99_9":{"id":"duration"`, `"read.iops":{"id":"number"`, `"run.link":{"id":"url"`}
		}
		for _, part := range want {
			if !strings.Contains(formats, part) {
				t.Errorf("%s: no %s", o.ID, part)
			}
		}
	}
}

// TestBands: the bands in Kibana begin at 1 ns and end at 31.6 s, each is 12 % wide, and every request is in one.
func TestBands(t *testing.T) {
	var list []struct{ From, To float64 }
	all, low, middle, high := bands()
	if err := json.Unmarshal([]byte(all), &list); err != nil {
		t.Fatal(err)
	}
	if n := len(list); n != 212 || list[0].To != 0.001 || list[20].To != 0.01 || list[n-1].From < 31.6e6 || list[n-1].To != 0 {
		t.Errorf("%d bands: %v", n, list)
	}
	for i, b := range list[1 : len(list)-1] {
		if ratio := b.To / b.From; ratio < 1.1219 || ratio > 1.1222 || b.From != list[i].To {
			t.Errorf("band %v to %v, after %v", b.From, b.To, list[i])
		}
	}
	if thirds := strings.TrimSuffix(low, "]") + "," + strings.Trim(middle, "[]") + "," + strings.TrimPrefix(high, "["); thirds != all {
		t.Errorf("three thirds are %s", thirds)
	}
}
