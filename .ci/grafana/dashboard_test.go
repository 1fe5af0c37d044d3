package grafana

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
)

// dashboard has the parts of a Grafana dashboard that the test reads.
type dashboard struct {
	Title, UID    string
	SchemaVersion int
	Panels        []dashboardPanel
	Templating    struct{ List []dashboardVariable }
}

type dashboardVariable struct {
	Name, Type string
	Query      any // an object for a variable of type query
}

type dashboardPanel struct {
	ID          int
	Type, Title string
	GridPos     struct{ X, Y, W, H int }
	Datasource  struct{ Type, UID string }
	Targets     []dashboardTarget
	FieldConfig struct{ Overrides []dashboardOverride }
}

type dashboardTarget struct {
	RefID, Expr, LegendFormat, Format string
	Instant, Range                    bool
	Datasource                        struct{ Type, UID string }
}

// dashboardOverride changes the fields that a matcher names.
type dashboardOverride struct {
	Matcher    struct{ ID, Options string }
	Properties []struct {
		ID    string
		Value any
	}
}

// drawing is a dashboard, and a Prometheus that answers its queries.
type drawing struct {
	dashboard
	prometheus
	variables map[string]string // by variable: all its values, in the form for queries
	used      map[string]bool   // metrics that queries use
}

// made is where a test of internal/web writes the metrics that this test reads.
var made = filepath.Join("..", "..", "internal", "web", "testdata", "grafana")

// row is what the dashboard's table shows of a run: numbers by title.
type row struct {
	Run, Direction string
	Cells          map[string]float64
}

// TestDashboard draws the example dashboard. It scrapes the metrics of two nights, and runs each query as Grafana
// does. Each query must have an answer, with the labels that its legend names, and the numbers in the table must be
// those of the runs.
func TestDashboard(t *testing.T) {
	d := &drawing{prometheus: prometheus{series: map[string]*scraped{}}, variables: map[string]string{}, used: map[string]bool{}}
	all := map[string]bool{}
	for night, name := range []string{"night1.txt", "night2.txt"} {
		families := metricsOf(t, filepath.Join(made, name))
		d.scrape(families, time.Date(2026, 11, 21+night, 3, 0, 0, 0, time.UTC))
		for name := range families {
			all[name] = true
		}
	}
	readJSON(t, filepath.Join("..", "..", "examples", "grafana", "fio2es.json"), &d.dashboard)
	var rows []row
	readJSON(t, filepath.Join(made, "table.json"), &rows)
	if d.Title == "" || d.UID == "" || d.SchemaVersion < 36 || len(d.Panels) == 0 || len(rows) == 0 {
		t.Errorf("no dashboard: %q, %q, version %d, %d panels, %d rows", d.Title, d.UID, d.SchemaVersion, len(d.Panels), len(rows))
	}
	d.layout(t)
	for _, v := range d.Templating.List {
		d.variables[v.Name] = d.values(t, v)
	}
	for i := range d.Panels {
		d.panel(t, &d.Panels[i], rows)
	}
	if got, want := slices.Sorted(maps.Keys(d.used)), slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
		t.Errorf("the dashboard has %v of /metrics, want all: %v", got, want)
	}
}

func readJSON(t *testing.T, path string, v any) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

// metricsOf returns the metrics of a page.
func metricsOf(t *testing.T, path string) map[string]*dto.MetricFamily {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var parser expfmt.TextParser
	families, err := parser.TextToMetricFamilies(f)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return families
}

// layout checks that panels have unique ids, and positions that do not overlap, on a grid of 24 columns.
func (d *drawing) layout(t *testing.T) {
	ids, places := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.ID == 0 || p.Title == "" || p.GridPos.W <= 0 || p.GridPos.H <= 0 || p.GridPos.X < 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %d %q: %+v", p.ID, p.Title, p.GridPos)
		}
		ids[p.ID] = true
		for x := p.GridPos.X; x < p.GridPos.X+p.GridPos.W; x++ {
			for y := p.GridPos.Y; y < p.GridPos.Y+p.GridPos.H; y++ {
				if other := places[[2]int{x, y}]; other != "" {
					t.Fatalf("%s lies over %s", p.Title, other)
				}
				places[[2]int{x, y}] = p.Title
			}
		}
	}
}

var labelValues = regexp.MustCompile(`^label_values\((\w+), (\w+)\)$`)

// values returns all values of a variable, in the form in which Grafana puts them into a query.
func (d *drawing) values(t *testing.T, v dashboardVariable) string {
	if v.Type != "query" {
		return ""
	}
	object, _ := v.Query.(map[string]any)
	text, _ := object["query"].(string)
	m := labelValues.FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("variable %s: %v", v.Name, v.Query)
	}
	d.used[m[1]] = true
	var list []string
	for _, s := range d.query(t, m[1], false) {
		value := strings.ReplaceAll(regexp.QuoteMeta(s.Metric.Get(m[2])), `\`, `\\`)
		if value != "" && !slices.Contains(list, value) {
			list = append(list, value)
		}
	}
	if len(list) == 0 {
		t.Errorf("variable %s has no values: %s", v.Name, text)
	}
	return "(" + strings.Join(list, "|") + ")"
}

var variable = regexp.MustCompile(`\$\{?(\w+)\}?`)

// panel runs the queries of a panel.
func (d *drawing) panel(t *testing.T, p *dashboardPanel, rows []row) {
	// value: whether its queries are about a time range
	kinds := map[string]bool{"stat": false, "table": false, "timeseries": true, "state-timeline": true}
	isRange, ok := kinds[p.Type]
	if !ok || len(p.Targets) == 0 || p.Datasource.UID != "${datasource}" {
		t.Errorf("%s: a %s with %d queries of %v", p.Title, p.Type, len(p.Targets), p.Datasource)
	}
	refs := map[string]bool{}
	for _, target := range p.Targets {
		if refs[target.RefID] || target.RefID == "" || target.Range != isRange || target.Instant == isRange || target.Datasource != p.Datasource || (p.Type == "table") != (target.Format == "table") {
			t.Errorf("%s: query %+v", p.Title, target)
		}
		refs[target.RefID] = true
		expr := variable.ReplaceAllStringFunc(target.Expr, func(name string) string {
			value := d.variables[variable.FindStringSubmatch(name)[1]]
			if value == "" {
				t.Errorf("%s: no variable %s", p.Title, name)
			}
			return value
		})
		for _, s := range selectors(t, expr) {
			d.used[s.Name] = true
		}
		d.answer(t, p, &target, expr, rows)
	}
}

var legendLabel = regexp.MustCompile(`\{\{(\w+)\}\}`)

// answer checks the answer to a query.
func (d *drawing) answer(t *testing.T, p *dashboardPanel, target *dashboardTarget, expr string, rows []row) {
	answer := d.query(t, expr, target.Range)
	if len(answer) == 0 {
		t.Errorf("%s: no answer to %s", p.Title, expr)
	}
	hasBound := false
	for _, s := range answer {
		hasBound = hasBound || s.Metric.Get("bound") == "lower"
		for _, label := range legendLabel.FindAllStringSubmatch(target.LegendFormat, -1) {
			if s.Metric.Get(label[1]) == "" && label[1] != "bound" {
				t.Errorf("%s: the legend has a label that %v does not: %s", p.Title, s.Metric, label[1])
			}
		}
		if target.Range && len(s.Floats) != len(d.times) {
			t.Errorf("%s: a line ends between two runs: %v", p.Title, s)
		}
		if p.Type == "table" {
			p.cell(t, target.RefID, s.Metric.Get("run"), s.Metric.Get("direction"), s.Floats[0].F, rows)
		}
	}
	if strings.Contains(expr, "fio2es_latency_seconds") && target.Range && !hasBound {
		t.Errorf("%s: lower bounds look like values: %s", p.Title, expr)
	}
	want := len(rows)
	if p.fieldTitle("Value #"+target.RefID) == boundsFrom {
		want = 1
	}
	if p.Type == "table" && len(answer) != want {
		t.Errorf("%s: %d rows, want %d: %s", p.Title, len(answer), want, expr)
	}
	if p.Title == "Broken objectives" && answer[0].Floats[0].F != 1 {
		t.Errorf("%s: %v, want 1", p.Title, answer)
	}
}

// boundsFrom is the column that says which latencies are lower bounds.
const boundsFrom = "Lower bounds from"

// cell checks that a number of the table is the run's number in the column with its name.
func (p *dashboardPanel) cell(t *testing.T, ref, run, direction string, got float64, rows []row) {
	title := p.fieldTitle("Value #" + ref)
	for _, r := range rows {
		if r.Run != run || r.Direction != direction {
			continue
		}
		if want := r.Cells[title]; !(math.Abs(got/want-1) < 1e-9) {
			t.Errorf("%s, %s of %s: %v, want %v", p.Title, title, run, got, want)
		}
		return
	}
	t.Errorf("%s, %s: run %s %s is not the latest of a workload", p.Title, title, run, direction)
}

// fieldTitle returns the title of a field.
func (p *dashboardPanel) fieldTitle(name string) string {
	for _, o := range p.FieldConfig.Overrides {
		for _, property := range o.Properties {
			if title, ok := property.Value.(string); ok && o.Matcher.ID == "byName" && o.Matcher.Options == name && property.ID == "displayName" {
				return title
			}
		}
	}
	return ""
}
