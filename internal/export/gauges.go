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
	"github.com/fio2es/fio2es/mapping"
)

// GaugesType is the media type of what [Gauges] writes.
const GaugesType = "text/plain; version=0.0.4; charset=utf-8"

// Gauges writes the numbers of the latest complete run of each workload in the text format of Prometheus.
func Gauges(w io.Writer, workloads []*workload.Workload) error {
	var m gauges
	for _, one := range workloads {
		for _, run := range slices.Backward(one.Runs) {
			if run.Run.Complete {
				m.add(one.Title, run)
				break
			}
		}
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
	{"fio2es_latency_seconds", "Latency of the latest run of a workload; quantile 0 is the minimum, 1 the maximum. With bound=\"lower\" it is that or more."},
	{"fio2es_latency_mean_seconds", "Mean latency of the latest run of a workload. With bound=\"lower\" it is that or more."},
	{"fio2es_iops", "Requests a second of the latest run of a workload."},
	{"fio2es_bandwidth_bytes_per_second", "Bytes a second of the latest run of a workload."},
	{"fio2es_requests", "Requests of the latest run of a workload."},
	{"fio2es_objective_met", "Whether the latest run of a workload meets an objective: 1 or 0."},
	{"fio2es_run_start_timestamp_seconds", "When the latest run of a workload started."},
}

// gauges are metrics in the text format of Prometheus, by family.
type gauges [len(families)]bytes.Buffer

// add adds the numbers of a run, except those that are not known.
func (m *gauges) add(title string, run *mapping.Run) {
	labels := []string{"workload", title, "run", facts.ShortID(run.Run.ID), "mode", run.CBT.Mode, "bs", unit.OrNothing(run.CBT.OpSize), "qd", unit.OrNothing(run.CBT.IODepth)}
	for _, d := range run.ByDirection() {
		of := append(slices.Clip(labels), "direction", d.Direction)
		l := facts.LatenciesOfTotals(d.Totals)
		m.latency(0, &l, "min", append(of, "quantile", "0"))
		for _, p := range mapping.Percentiles {
			m.latency(0, &l, p.Field, append(of, "quantile", decimal(p.Quantile)))
		}
		m.latency(0, &l, "max", append(of, "quantile", "1"))
		m.latency(1, &l, "mean", of)
		m.known(2, d.IOPS, of)
		m.put(3, d.KnownBandwidth(), of...)
		m.known(4, float64(d.Requests), of)
	}
	for _, v := range run.SLA {
		met := 0.0
		if v.Holds {
			met = 1
		}
		m.put(5, met, append(slices.Clip(labels), "rule", v.Rule)...)
	}
	if unit.IsKnown(run.Run.Start) {
		m.put(6, float64(run.Run.Start.UnixMilli())/1000, labels...)
	}
}

// latency adds the latency with this field name in documents. A lower bound has a label that says so.
func (m *gauges) latency(family int, l *facts.Latencies, name string, labels []string) {
	us, isBound := l.ValueOrMore(name)
	if isBound {
		labels = append(labels, "bound", "lower")
	}
	m.put(family, us/1e6, labels...)
}

// known adds a number of a direction that has requests, unless it is 0, which stands for an unknown one.
func (m *gauges) known(family int, value float64, labels []string) {
	if value != 0 {
		m.put(family, value, labels...)
	}
}

// put adds a value with its labels, which are names and values in turn.
func (m *gauges) put(family int, value float64, labels ...string) {
	if math.IsNaN(value) {
		return
	}
	var text strings.Builder
	for i := 0; i < len(labels); i += 2 {
		addLabel(&text, labels[i], labels[i+1])
	}
	fmt.Fprintf(&m[family], "%s{%s} %s\n", families[family].name, &text, decimal(value))
}
