package web

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

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/mapping"
)

// dashboard is what the test reads of a dashboard of Grafana.
type dashboard struct {
	Title, UID    string
	SchemaVersion int
	Panels        []dashboardPanel
	Templating    struct{ List []dashboardVariable }
}

type dashboardVariable struct {
	Name, Type string
	Query      any // of a variable of type query an object
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

// drawing is a dashboard with the answers of a Prometheus.
type drawing struct {
	dashboard
	prometheus
	variables map[string]string // by name: the values of all, as a query has them
	used      map[string]bool   // metrics
}

// TestGrafana draws the dashboard of the examples: it scrapes the metrics of two nights, and runs each query as Grafana
// does. Each has an answer, with the labels that its legend names, and the numbers in the table are those of the runs.
func TestGrafana(t *testing.T) {
	runs := workloadRuns()
	for _, i := range []int{37, 39} { // the latest of the other workload, with requests in fio's last bin
		runs[i] = runOf(i/2, runs[i].Run.Name, 2e6)
		runs[i].CBT.Mode, runs[i].Read, runs[i].Write = "randread", runs[i].Write, nil
	}
	for _, run := range runs {
		run.SLA = []mapping.Verdict{{Rule: "p99 <= 1ms", Holds: run.CBT.Mode == "randread"}}
		for _, totals := range []*mapping.Totals{run.Write, run.Read} {
			if totals != nil {
				totals.Bandwidth = totals.IOPS * 4096
			}
		}
	}
	d := &drawing{prometheus: prometheus{series: map[string]*scraped{}}, variables: map[string]string{}, used: map[string]bool{}}
	all := map[string]bool{}
	for night, have := range [][]*mapping.Run{runs[:38], runs} {
		families := metricsOf(t, have)
		d.scrape(families, began.Add(time.Duration(night)*24*time.Hour))
		for name := range families {
			all[name] = true
		}
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "grafana", "fio2es.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d.dashboard); err != nil {
		t.Fatal(err)
	}
	if d.Title == "" || d.UID == "" || d.SchemaVersion < 36 || len(d.Panels) == 0 {
		t.Errorf("no dashboard: %q, %q, version %d, %d panels", d.Title, d.UID, d.SchemaVersion, len(d.Panels))
	}
	d.layout(t)
	for _, v := range d.Templating.List {
		d.variables[v.Name] = d.values(t, v)
	}
	for i := range d.Panels {
		d.panel(t, &d.Panels[i], runs[38:])
	}
	if got, want := slices.Sorted(maps.Keys(d.used)), slices.Sorted(maps.Keys(all)); !slices.Equal(got, want) {
		t.Errorf("the dashboard has %v of /metrics, want all: %v", got, want)
	}
}

// metricsOf are the metrics of a history of runs.
func metricsOf(t *testing.T, runs []*mapping.Run) map[string]*dto.MetricFamily {
	t.Helper()
	var parser expfmt.TextParser
	families, err := parser.TextToMetricFamilies(serve(historyOf(t, runs...)).get(t, "/metrics").Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// layout checks that panels have ids of their own and places that do not overlap, on a grid of 24 columns.
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

// values are the values of a variable, all of them chosen, as Grafana writes them into a query.
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
func (d *drawing) panel(t *testing.T, p *dashboardPanel, latest []*mapping.Run) {
	kinds := map[string]bool{"stat": false, "table": false, "timeseries": true, "state-timeline": true} // whether it is about a range
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
		d.answer(t, p, &target, expr, latest)
	}
}

var legendLabel = regexp.MustCompile(`\{\{(\w+)\}\}`)

// answer checks the answer to a query.
func (d *drawing) answer(t *testing.T, p *dashboardPanel, target *dashboardTarget, expr string, latest []*mapping.Run) {
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
			p.cell(t, target.RefID, s.Metric.Get("run"), s.Metric.Get("direction"), s.Floats[0].F, latest)
		}
	}
	if strings.Contains(expr, "fio2es_latency_seconds") && target.Range && !hasBound {
		t.Errorf("%s: lower bounds look like values: %s", p.Title, expr)
	}
	rows := len(latest)
	if p.fieldTitle("Value #"+target.RefID) == boundsFrom {
		rows = 1
	}
	if p.Type == "table" && len(answer) != rows {
		t.Errorf("%s: %d rows, want %d: %s", p.Title, len(answer), rows, expr)
	}
	if p.Title == "Broken objectives" && answer[0].Floats[0].F != 1 {
		t.Errorf("%s: %v, want 1", p.Title, answer)
	}
}

// boundsFrom is the column that says which latencies are lower bounds.
const boundsFrom = "Lower bounds from"

// cell checks a number of the table: it is that of the run, in the column of its name.
func (p *dashboardPanel) cell(t *testing.T, ref, id, direction string, got float64, latest []*mapping.Run) {
	title := p.fieldTitle("Value #" + ref)
	for _, run := range latest {
		of := run.Write
		if direction == "read" {
			of = run.Read
		}
		if !strings.HasPrefix(run.Run.ID, id) || of == nil {
			continue
		}
		latencies := facts.LatenciesOfTotals(of)
		seconds := func(name string) float64 {
			us, _ := latencies.ValueOrMore(name)
			return us / 1e6
		}
		want := map[string]float64{
			"Start": float64(run.Run.Start.UnixMilli()), "Requests": float64(of.Requests), "IOPS": of.IOPS, "Bandwidth": of.Bandwidth, "Mean": seconds("mean"),
			"p50": seconds("p50"), "p99": seconds("p99"), "p99.9": seconds("p99_9"), "Max": seconds("max"), boundsFrom: seconds("max"),
		}[title]
		if !(math.Abs(got/want-1) < 1e-9) {
			t.Errorf("%s, %s of %s: %v, want %v", p.Title, title, run.Run.Name, got, want)
		}
		return
	}
	t.Errorf("%s, %s: run %s %s is not the latest of a workload", p.Title, title, id, direction)
}

// fieldTitle is the title of a field.
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
