package web

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/mapping"
)

// nights returns the metrics of two nights, and the runs of the second. One run reads, and has requests in fio's
// last bin.
func nights(t *testing.T) (pages [2]string, latest []*mapping.Run) {
	runs := workloadRuns()
	for _, i := range []int{37, 39} {
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
	for night, have := range [][]*mapping.Run{runs[:38], runs} {
		pages[night] = serve(historyOf(t, have...)).get(t, "/metrics").Body.String()
	}
	return pages, runs[38:]
}

// tableRow has what the dashboard's table must show of a run: numbers by title.
type tableRow struct {
	Run       string             `json:"run"`
	Direction string             `json:"direction"`
	Cells     map[string]float64 `json:"cells"`
}

func rowOf(run *mapping.Run) tableRow {
	of, direction := run.Write, "write"
	if of == nil {
		of, direction = run.Read, "read"
	}
	latencies := facts.LatenciesOfTotals(of)
	seconds := func(name string) float64 {
		return latencies.Value(name) / 1e6
	}
	return tableRow{Run: run.Run.ID[:8], Direction: direction, Cells: map[string]float64{
		"Start": float64(run.Run.Start.UnixMilli()), "Requests": float64(of.Requests), "IOPS": of.IOPS,
		"Bandwidth": of.Bandwidth, "Mean": seconds("mean"), "p50": seconds("p50"), "p99": seconds("p99"),
		"p99.9": seconds("p99_9"), "Max": seconds("max"), "Lower bounds from": seconds("max"),
	}}
}

// TestGrafana writes the metrics from which .ci/grafana draws the example dashboard, and what its table must show.
// The drawing needs the engine of Prometheus. This test finds metrics and labels that /metrics lacks.
func TestGrafana(t *testing.T) {
	made := filepath.Join("testdata", "grafana")
	pages, latest := nights(t)
	golden.File(t, filepath.Join(made, "night1.txt"), pages[0])
	golden.File(t, filepath.Join(made, "night2.txt"), pages[1])
	table, err := json.MarshalIndent([]tableRow{rowOf(latest[0]), rowOf(latest[1])}, "", "  ")
	must(t, err)
	golden.File(t, filepath.Join(made, "table.json"), string(table)+"\n")

	text, err := os.ReadFile(filepath.Join("..", "..", "examples", "grafana", "fio2es.json"))
	must(t, err)
	if !json.Valid(text) {
		t.Error("the dashboard is no JSON")
	}
	names := map[string]bool{}
	for _, m := range regexp.MustCompile(`fio2es_\w+`).FindAllString(string(text), -1) {
		names["\n"+m+"{"] = true
	}
	for _, m := range regexp.MustCompile(`(\w+)=~?\\"|\{\{(\w+)\}\}|\b(?:by|on) \(([\w, ]+)\)`).FindAllStringSubmatch(string(text), -1) {
		for label := range strings.SplitSeq(m[1]+m[2]+m[3], ", ") {
			names[label+`="`] = true
		}
	}
	if len(names) < 10 {
		t.Errorf("the dashboard names %v", names)
	}
	for name := range names {
		if !strings.Contains(pages[1], name) {
			t.Errorf("the dashboard names %q, which /metrics does not have:\n%s", name, pages[1])
		}
	}
}
