package export

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/internal/workload/rule"
	"github.com/fio2es/fio2es/mapping"
)

// GaugesType is the media type of what [Gauges] writes.
const GaugesType = "text/plain; version=0.0.4; charset=utf-8"

// Gauges writes the numbers of the latest complete run of each workload in the text format of Prometheus, and which rules
// live runs meet now, as their documents have it.
func Gauges(w io.Writer, workloads []*workload.Workload, live []*mapping.Run) error {
	var m gauges
	for _, one := range workloads {
		for _, run := range slices.Backward(one.Runs) {
			if run.Run.Complete {
				m.add(rule.Of(run).Name, run) // a title depends on the other workloads
				break
			}
		}
	}
	for _, run := range live {
		m.addRules(7, rule.Of(run).Name, run)
	}
	for i, f := range families {
		if m[i].Len() == 0 {
			continue
		}
		kind := "gauge"
		if i == 0 { // "quantile" is reserved for summaries
			kind = "summary"
		}
		if _, err := fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s %s\n%s", f.name, f.help, f.name, kind, m[i].Bytes()); err != nil {
			return err
		}
	}
	return nil
}

var families = [...]struct{ name, help string }{
	{"fio2es_latency_seconds", "Latency of the latest run of a workload; quantile 0 is the minimum, 1 the maximum. With bound=\"lower\" it is that or more, with bound=\"upper\" that or less."},
	{"fio2es_latency_mean_seconds", "Mean latency of the latest run of a workload. With bound=\"lower\" it is that or more."},
	{"fio2es_iops", "Requests a second of the latest run of a workload."},
	{"fio2es_bandwidth_bytes_per_second", "Bytes a second of the latest run of a workload."},
	{"fio2es_requests", "Requests of the latest run of a workload."},
	{"fio2es_objective_met", "Whether the latest run of a workload meets an objective: 1 or 0."},
	{"fio2es_run_start_timestamp_seconds", "When the latest run of a workload started."},
	{"fio2es_live_objective_met", "Whether a live run meets an objective now: 1 or 0."},
}

// gauges are metrics in the text format of Prometheus, by family.
type gauges [len(families)]bytes.Buffer

// add adds the numbers of a run, except those that are not known.
func (m *gauges) add(title string, run *mapping.Run) {
	ofRun := labelsOf(title, run)
	for _, d := range run.ByDirection() {
		for _, n := range facts.OfTotals {
			family, labels := 0, append(slices.Clip(ofRun), "direction", d.Direction)
			of := n.OfTotals(d.Totals)
			scale := 1.0
			switch n {
			case facts.IOPS:
				family = 2
			case facts.Bandwidth:
				family = 3
			case facts.Requests:
				family = 4
			case facts.Bytes:
				continue
			case facts.Mean:
				family, scale = 1, 1e6
			default:
				quantile := n.Quantile // 0 of the minimum
				if n == facts.Max {
					quantile = 1
				}
				scale, labels = 1e6, append(labels, "quantile", decimal(quantile))
			}
			if !of.IsBound() {
				m.put(family, of.Value/scale, labels)
				continue
			}
			m.put(family, of.Low/scale, append(slices.Clip(labels), "bound", "lower"))
			if !math.IsInf(of.High, 1) {
				m.put(family, of.High/scale, append(slices.Clip(labels), "bound", "upper"))
			}
		}
	}
	m.addRules(5, title, run)
	if unit.IsKnown(run.Run.Start) {
		m.put(6, float64(run.Run.Start.UnixMilli())/1000, ofRun)
	}
}

func labelsOf(title string, run *mapping.Run) []string {
	return []string{"workload", title, "run", facts.ShortID(run.Run.ID), "mode", run.CBT.Mode, "bs", unit.OrNothing(run.CBT.OpSize), "qd", unit.OrNothing(max(run.CBT.IODepth, run.CBT.TotalIODepth))}
}

// addRules adds which rules a run meets.
func (m *gauges) addRules(family int, title string, run *mapping.Run) {
	for _, v := range run.SLA {
		met := 0.0
		if v.Holds {
			met = 1
		}
		m.put(family, met, append(labelsOf(title, run), "rule", v.Rule))
	}
}

// put adds a value, unless it is not known, with its labels, which are names and values in turn.
func (m *gauges) put(family int, value float64, labels []string) {
	if math.IsNaN(value) {
		return
	}
	var text strings.Builder
	for i := 0; i < len(labels); i += 2 {
		addLabel(&text, labels[i], labels[i+1])
	}
	fmt.Fprintf(&m[family], "%s{%s} %s\n", families[family].name, &text, decimal(value))
}
