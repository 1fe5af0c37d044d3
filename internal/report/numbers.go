package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

type total struct {
	*facts.Line
	histogram *hist.Histogram // nil for averages
}

func totalsOf(doc *mapping.Run, wanted []string) ([]*total, error) {
	var list []*total
	for _, line := range facts.Lines(doc) {
		if len(wanted) > 0 && !slices.Contains(wanted, line.Direction) {
			continue
		}
		one := &total{Line: line}
		if line.Latency.HasPercentiles() {
			var err error
			if one.histogram, err = line.Latency.Hist(); err != nil {
				return nil, err
			}
		}
		list = append(list, one)
	}
	return list, nil
}

func sumsOf(doc *mapping.Run, sum *window.Sum) (list []*total, err error) {
	for _, w := range sum.Windows() {
		if w.Direction == mapping.AllDirections && len(list) > 0 {
			break // it is the last
		}
		h, err := w.Histogram()
		if err != nil {
			return nil, err
		}
		t := &mapping.Totals{Requests: w.Completed, DurationMS: w.Length().Milliseconds(), IOPS: w.IOPS, Bandwidth: w.Bandwidth, Latency: w.Latency}
		list = append(list, &total{facts.NewLine(doc, len(list) == 0, mapping.DirectionTotals{Direction: w.Direction, Totals: t}), h})
	}
	return list, nil
}

func numbers() []table.Column[*facts.Line] {
	return append(table.Pick(facts.Columns(), "direction"), facts.Numbers()...)
}

func ofLine(columns []table.Column[*facts.Line]) []table.Column[*total] {
	return table.Map(columns, func(t *total) *facts.Line { return t.Line })
}

// Few reports whether any percentile has too few requests.
func (r *run) Few() bool {
	return slices.ContainsFunc(r.Totals, func(t *total) bool {
		return slices.ContainsFunc(mapping.Percentiles[:], func(p mapping.Percentile) bool { return t.isFew(p.Quantile) })
	})
}

// isFew reports whether the direction has too few requests for a percentile.
func (t *total) isFew(q float64) bool {
	if t.histogram == nil {
		return false
	}
	_, high, ok := t.histogram.ConfidenceInterval(q, confidence)
	return !ok && high.Value == 0 && !t.histogram.Percentile(q).Open
}

// latencyCell returns a latency with its error bounds, and with a mark if it is a percentile of too few requests.
// Without a histogram of all requests, it is the value that fio computed for a single job, or lies between bounds; without any, it
// is the mean of averages.
func (t *total) latencyCell(name string) Cell {
	us, n := t.Latencies.Value(name), t.Latencies.Number(name)
	m, _ := facts.ParseMetric(name)
	isExact := m.Quantile == 0 && t.Latency.Exact && n.IsKnown()
	switch {
	case isExact:
		return Cell{Text: t.Latencies.Text(name), Note: "exact", Title: "fio's own figure of all requests"}
	case t.Unbinned > 0 && n.IsBound() && !n.IsOpen:
		low, high := unit.Latency(n.Low), unit.Latency(n.High)
		c := Cell{Text: t.Latencies.Text(name), Title: fmt.Sprintf("%s to %s: %s", low, high, t.unbinnedText())}
		if math.IsInf(n.High, 1) {
			c.Title = fmt.Sprintf("%s or more: %s", low, t.unbinnedText())
		}
		if n.High > n.Low && !math.IsInf(n.High, 1) {
			c.Note = "to " + high
		}
		return c
	case t.Unbinned > 0 && n.ByFio:
		return Cell{Text: strings.TrimSuffix(t.Latencies.Text(name), "*"), Note: "fio's own", Title: "computed by fio: " + t.unbinnedText()}
	case t.histogram != nil && t.Unbinned == 0:
	case t.Latencies.ByFio && !math.IsNaN(us):
		const byFio = "computed by fio: its report has no bins (json+ has them), so it cannot be merged with other jobs"
		return Cell{Text: strings.TrimSuffix(t.Latencies.Text(name), "*"), Note: "fio's own", Title: byFio}
	default:
		return Cell{Text: unit.Latency(us)}
	}
	c := boundedCell(us, m.Of(t.histogram))
	if m.Quantile > 0 && t.isFew(m.Quantile) {
		c.Text += "†"
		c.Title += "; too few requests to predict another run"
	}
	return c
}

// unbinnedText says how many requests are in no bin, or is "".
func (t *total) unbinnedText() string {
	if t.Unbinned == 0 || t.histogram == nil {
		return ""
	}
	return fmt.Sprintf("%s of %s %s are in no row of a log and in no bin of a report (json+ has them)",
		unit.Count(t.Unbinned), unit.Count(t.Requests), mapping.Plural(t.Direction))
}

// boundedCell returns a latency in microseconds with its error bounds.
func boundedCell(us float64, a hist.Answer) Cell {
	c := Cell{Text: unit.OrMore(unit.Latency(us), a.Open)}
	low, high := unit.Latency(a.Low/1000), unit.Latency(a.High/1000)
	if a.Open {
		c.Note, c.Title = "or more", fmt.Sprintf("%s or more: fio's last bin has no upper end", low)
		return c
	}
	switch {
	case a.High == a.Low:
		c.Note, c.Title = "exact", "the bin is a nanosecond wide"
		return c
	case a.Value > 0:
		c.Note = "±" + share(max(a.High-a.Value, a.Value-a.Low)/a.Value)
	}
	c.Title = fmt.Sprintf("between %s and %s: the bounds of the bin", low, high)
	return c
}

// share returns a share in percent, with at least two digits.
func share(x float64) string {
	percent := x * 100
	digits := 0
	switch {
	case percent < 0.1 && percent > 0:
		digits = 2
	case percent < 10:
		digits = 1
	}
	return strconv.FormatFloat(percent, 'f', digits, 64) + " %"
}

// shortText returns a percentile or the maximum of l for people: "≥17.0s" has no upper bound.
func shortText(l *mapping.Latency, us float64) string {
	if l.IsOpen(us) {
		us = l.OpenFrom()
	}
	return unit.OrMore(unit.Latency(us), l.IsOpen(us))
}

// labels describes the directions for people who cannot see a chart.
func labels(totals []*total) string {
	var list []string
	for _, t := range totals {
		text := mapping.Plural(t.Direction)
		if l := &t.Latencies; t.histogram != nil {
			text += fmt.Sprintf(": p50 %s, p99 %s, p99.9 %s, max %s", l.Text("p50"), l.Text("p99"), l.Text("p99_9"), l.Text("max"))
		}
		list = append(list, text)
	}
	return strings.Join(list, "; ")
}
