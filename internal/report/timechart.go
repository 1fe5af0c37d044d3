package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Heights in charts over time, in pixels.
const (
	titleHeight   = 26  // of a panel's title
	latencyHeight = 190 // of a panel of latencies
	rateHeight    = 120
	betweenPanels = 14
)

// timeChart draws a panel of percentiles for each direction, and a panel of iops, below one another with the same
// time axis.
type timeChart struct {
	chart.Canvas
	axis   chart.TimeAxis
	ticks  []chart.Tick
	names  []string // directions
	series map[string]*series
}

// chartData is what the script of the page needs of charts.
type chartData struct {
	Times  *chartTimes `json:"times,omitempty"` // nil: the axis is none of time
	Panels []panelData `json:"panels"`
}

// chartTimes are the ends of an axis of time in milliseconds since 1970, or since the run's start if its date is not known,
// and the offset of [unit.Zone].
type chartTimes struct {
	From   int64 `json:"from"`
	Until  int64 `json:"until"`
	Offset int   `json:"offset"`
	Since  bool  `json:"since,omitempty"`
}

func timesOf(axis *chart.TimeAxis) *chartTimes {
	if zero := (time.Time{}); !unit.IsKnown(axis.From) {
		return &chartTimes{From: axis.From.Sub(zero).Milliseconds(), Until: axis.Until.Sub(zero).Milliseconds(), Since: true}
	}
	_, seconds := axis.From.In(unit.Zone()).Zone()
	return &chartTimes{From: axis.From.UnixMilli(), Until: axis.Until.UnixMilli(), Offset: 1000 * seconds}
}

// panelData has what a pointer over the charts shows: the position of each column, and its texts.
type panelData struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"` // names of the texts; nil: they need none
	Rows    [][]any  `json:"rows"`    // each row: from, to, time, texts
}

// newTimeChart draws the chart. Directions without histograms have no panel of latencies.
func newTimeChart(axis chart.TimeAxis, names []string, all map[string]*series, label string) Figure {
	var withLatency []string
	for _, name := range names {
		if low, high := all[name].latencies(); high >= low {
			withLatency = append(withLatency, name)
		}
	}
	t := &timeChart{axis: axis, ticks: axis.Ticks(), names: names, series: all}
	top := 0.0
	if len(withLatency) > 0 {
		t.legend(withLatency)
	}
	low, high := math.Inf(1), 0.0
	for _, name := range withLatency {
		l, h := all[name].latencies()
		low, high = min(low, l), max(high, h)
	}
	for _, name := range withLatency {
		t.latencies(name, chart.LatencyAxis(low, high, top+titleHeight, latencyHeight))
		top += titleHeight + latencyHeight + betweenPanels
	}
	t.rates(top + titleHeight)
	top += titleHeight + rateHeight
	t.Below(t.ticks, top, axis.Name())
	data := chartData{Times: timesOf(&axis)}
	for _, name := range names {
		data.Panels = append(data.Panels, t.panelData(name))
	}
	return Figure{SVG: picture(&t.Canvas, "time", top+chart.BelowHeight, label), Data: data}
}

// latencies returns the lowest and the highest drawn latency. If there is none, high is below low.
func (s *series) latencies() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, c := range s.columns {
		if !math.IsNaN(c.at[0]) {
			low = min(low, c.at[0])
		}
		// If one window of a column is coarser, the column's bins are too, and its highest latency may be higher.
		if w := higher(c.at[ofMax], c.worst[ofMax]); !math.IsNaN(w) {
			high = max(high, w)
		}
	}
	return low, high
}

// legend explains the lines, and the shade around them if windows are joined.
func (t *timeChart) legend(names []string) {
	for _, p := range overTime {
		t.Key("line "+className(p.name), p.name)
	}
	for _, name := range names {
		if slices.ContainsFunc(t.series[name].columns, func(c *column) bool { return c.windows > 1 }) {
			t.Key("shade p99", "up to the worst of the joined windows")
			return
		}
	}
}

func className(percentile string) string { return strings.ReplaceAll(percentile, ".", "") }

func (t *timeChart) latencies(name string, a *chart.ValueAxis) {
	s := t.series[name]
	title := name + " latency"
	if us, isOpen := s.lastBin(); isOpen {
		title += ", at the top " + unit.Latency(us) + " or more: fio's last bin has no upper end"
	}
	t.Text(chart.Left, a.Top-9, "name", title)
	t.Axes(a, t.ticks)
	t.Printf("<g>")
	for p := range ofMax {
		t.Path("shade "+className(overTime[p].name), name+" "+overTime[p].name+" of the worst window", t.shade(s, a,
			func(c *column) (from, to float64) { return c.at[p], c.worst[p] }))
	}
	t.Path("line max", name+" max", t.steps(s, a, false, func(c *column) float64 { return c.at[ofMax] }))
	for p := range ofMax {
		t.Path("line "+className(overTime[p].name), name+" "+overTime[p].name, t.steps(s, a, true, func(c *column) float64 { return c.at[p] }))
	}
	t.Printf("</g>\n")
}

func (t *timeChart) rates(top float64) {
	most := 0.0
	for _, s := range t.series {
		for _, c := range s.columns {
			most = higher(most, higher(c.most, c.iops))
		}
	}
	a := chart.RateAxis(most, top, rateHeight, 4)
	t.Text(chart.Left, top-9, "name", "IOPS")
	t.Axes(a, t.ticks)
	names := slices.DeleteFunc(slices.Clone(t.names), func(name string) bool { return name == mapping.Sync }) // which has no IOPS
	for _, name := range names {
		if len(names) > 1 {
			t.Key("line "+name, name+" IOPS")
		}
		s := t.series[name]
		t.Path("shade "+name, name+" iops of the joined windows", t.shade(s, a, func(c *column) (from, to float64) { return c.lowest, c.most }))
		t.Path("line rate "+name, name+" iops", t.steps(s, a, true, func(c *column) float64 { return c.iops }))
	}
}

// steps returns a line with a step for each column. It ends where a window is missing. With isJoined, steps are
// joined by vertical lines.
func (t *timeChart) steps(s *series, a *chart.ValueAxis, isJoined bool, value func(*column) float64) string {
	var d strings.Builder
	isDrawn := false
	for i, c := range s.columns {
		v := value(c)
		if math.IsNaN(v) {
			isDrawn = false
			continue
		}
		from, to := t.axis.Span(c.Start, c.End)
		if isJoined && isDrawn && s.follows(i) {
			fmt.Fprintf(&d, "V%sH%s", chart.Number(a.Y(v)), chart.Number(to))
		} else {
			fmt.Fprintf(&d, "M%s %sH%s", chart.Number(from), chart.Number(a.Y(v)), chart.Number(to))
		}
		isDrawn = true
	}
	return d.String()
}

// shade returns the area between two values, for columns of several windows, where it is high enough to be visible.
func (t *timeChart) shade(s *series, a *chart.ValueAxis, between func(*column) (from, to float64)) string {
	var d strings.Builder
	for _, c := range s.columns {
		low, high := between(c)
		if c.windows < 2 || math.IsNaN(low) || a.Y(low)-a.Y(high) < 0.5 {
			continue
		}
		from, to := t.axis.Span(c.Start, c.End)
		fmt.Fprintf(&d, "M%s %sH%sV%sH%sz", chart.Number(from), chart.Number(a.Y(low)), chart.Number(to), chart.Number(a.Y(high)), chart.Number(from))
	}
	return d.String()
}

// panelData returns the texts of a direction.
func (t *timeChart) panelData(name string) panelData {
	s := t.series[name]
	p := panelData{Name: name}
	for _, o := range overTime {
		p.Columns = append(p.Columns, o.name)
	}
	p.Columns = append(p.Columns, "iops")
	for _, c := range s.columns {
		from, to := t.axis.Span(c.Start, c.End)
		row := []any{from, to, clockTime(t.axis.From, c.Start) + " – " + clockTime(t.axis.From, c.End)}
		for _, v := range c.at {
			row = append(row, unit.OrMore(unit.Latency(v), c.requests.isOpen(v)))
		}
		p.Rows = append(p.Rows, append(row, unit.Rate(c.iops)))
	}
	return p
}
