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
	"github.com/fio2es/fio2es/mapping"
)

// total is what a direction came to.
type total struct {
	*facts.Line
	histogram *hist.Histogram // nil of averages
}

// totalsOf are those of the run's document.
func totalsOf(doc *mapping.Run, wanted []string) ([]*total, error) {
	var list []*total
	for _, line := range facts.Lines(doc) {
		if len(wanted) > 0 && !slices.Contains(wanted, line.Direction) {
			continue
		}
		one := &total{Line: line}
		if line.Latency.Layout != "" {
			var err error
			if one.histogram, err = line.Latency.Hist(); err != nil {
				return nil, err
			}
		}
		list = append(list, one)
	}
	return list, nil
}

// cell is one of a table's: what it says, what is written small below, and what is told
// to those who point at it.
type cell struct{ Text, Note, Title string }

// numbersRow is a direction's line in the table of numbers.
type numbersRow struct {
	Direction string
	Cells     []cell
	Few       bool // requests: a percentile says little of what another run would give
}

// numbersColumns are all numbers but p75.
var numbersColumns = slices.DeleteFunc(slices.Clone(facts.Numbers), func(c table.Column[*facts.Line]) bool {
	return c.Name == "p75" || c.Heading == ""
})

// titles are the headings of columns.
func titles(columns []table.Column[*facts.Line]) []string {
	var list []string
	for i := range columns {
		list = append(list, columns[i].Title())
	}
	return list
}

// sure is the confidence of an interval of a percentile.
const sure = 0.95

// row is the direction's line.
func (t *total) row() numbersRow {
	row := numbersRow{Direction: t.Direction}
	for i := range numbersColumns {
		c := &numbersColumns[i]
		switch {
		case c.Unit != "us":
			row.Cells = append(row.Cells, cell{Text: c.TextOf(t.Line)})
		case t.histogram == nil:
			row.Cells = append(row.Cells, t.bareCell(c.Name))
		default:
			latency, isFew := t.latencyCell(c.Name)
			row.Cells, row.Few = append(row.Cells, latency), row.Few || isFew
		}
	}
	return row
}

// answer is a latency with the bounds of its error, and whether it is a percentile of too few requests.
func (t *total) answer(name string) (a hist.Answer, isFew bool) {
	switch name {
	case "min":
		return t.histogram.Min(), false
	case "mean":
		return t.histogram.Mean(), false
	case "max":
		return t.histogram.Max(), false
	}
	for _, p := range mapping.Percentiles {
		if p.Field == name {
			a = t.histogram.Percentile(p.Quantile)
			_, high, ok := t.histogram.ConfidenceInterval(p.Quantile, sure)
			return a, !ok && high == 0 && !a.Open
		}
	}
	return a, false
}

// bareCell is a latency without a histogram: computed by fio for a single job, or the mean of averages.
func (t *total) bareCell(name string) cell {
	us := t.Latencies.Value(name)
	if t.Latencies.ByFio && !math.IsNaN(us) {
		return cell{unit.Latency(us), "fio's own", byFio}
	}
	return cell{Text: unit.Latency(us)}
}

// byFio says where fio's own latencies come from.
const byFio = "computed by fio: its report has no bins (json+ has them), so it cannot be merged with other jobs"

// latencyCell is a latency with the bound of its error, and whether it is a percentile of too few requests.
func (t *total) latencyCell(name string) (c cell, isFew bool) {
	a, isFew := t.answer(name)
	c = boundedCell(t.Latencies.Value(name), a)
	if isFew {
		c.Text += "†"
		c.Title += "; too few requests to tell what another run would give"
	}
	return c, isFew
}

// boundedCell is a latency in microseconds with the bounds of its error.
func boundedCell(us float64, a hist.Answer) cell {
	c := cell{Text: unit.LatencyOrMore(us, a.Open)}
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
	c.Title = fmt.Sprintf("surely from %s to %s: the bounds of the bin", low, high)
	return c
}

// share is one in percent, as small as it may be.
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

// label says what there is of a direction, for those who cannot see a chart.
func (t *total) label() string {
	if t.histogram == nil {
		return t.Direction + "s"
	}
	l := &t.Latency
	return fmt.Sprintf("%ss: p50 %s, p99 %s, p99.9 %s, max %s", t.Direction, latencyText(l, l.P50), latencyText(l, l.P99), latencyText(l, l.P999), latencyText(l, l.Max))
}

// latencyText is a percentile or the maximum of l, in words where it has no upper bound.
func latencyText(l *mapping.Latency, us float64) string {
	if l.IsOpen(us) {
		return unit.Latency(l.OpenFrom()) + " or more"
	}
	return unit.Latency(us)
}

// shortText is latencyText where there is little room: "≥17.0s".
func shortText(l *mapping.Latency, us float64) string {
	if l.IsOpen(us) {
		us = l.OpenFrom()
	}
	return unit.LatencyOrMore(us, l.IsOpen(us))
}

// labels are those of all.
func labels(totals []*total) string {
	var list []string
	for _, t := range totals {
		list = append(list, t.label())
	}
	return strings.Join(list, "; ")
}
