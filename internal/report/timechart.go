package report

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/unit"
)

// Heights in charts over time.
const (
	keyHeight     = 26  // of the legend
	titleHeight   = 26  // of a panel's title
	latencyHeight = 190 // of a panel of latencies
	rateHeight    = 120
	betweenPanels = 14
	timesHeight   = 54 // of the labels below
)

// timeChart draws percentiles of each direction and iops, one above the other, over the
// same time.
type timeChart struct {
	*canvas
	axis   timeAxis
	names  []string // directions
	series map[string]*series
	data   []panelData
}

// panelData is what a pointer over the charts reads out: of each column from where to where it
// is drawn, and texts.
type panelData struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns"` // what the texts are
	Rows    [][]any  `json:"rows"`    // from, to, time, texts
}

// newTimeChart draws the chart. Directions without histograms have no panel of latencies.
func newTimeChart(axis timeAxis, names []string, all map[string]*series, label string) (template.HTML, []panelData) {
	var withLatency []string
	for _, name := range names {
		if low, high := all[name].latencies(); high >= low {
			withLatency = append(withLatency, name)
		}
	}
	height := float64(len(withLatency)*(titleHeight+latencyHeight+betweenPanels) + titleHeight + rateHeight + timesHeight)
	if len(withLatency) > 0 {
		height += keyHeight
	}
	t := &timeChart{canvas: newCanvas(height, "time", label), axis: axis, names: names, series: all}
	top := 0.0
	if len(withLatency) > 0 {
		t.legend(withLatency)
		top = keyHeight
	}
	low, high := math.Inf(1), 0.0
	for _, name := range withLatency {
		l, h := all[name].latencies()
		low, high = min(low, l), max(high, h)
	}
	for _, name := range withLatency {
		t.latencies(name, latencyAxis(low, high, top+titleHeight, latencyHeight))
		top += titleHeight + latencyHeight + betweenPanels
	}
	t.rates(top + titleHeight)
	t.times(top + titleHeight + rateHeight)
	for _, name := range names {
		t.data = append(t.data, t.panelData(name))
	}
	return t.end(), t.data
}

// latencies are the lowest and the highest that are drawn; the highest is below the lowest
// where there are none.
func (s *series) latencies() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for i := range s.columns {
		c := &s.columns[i]
		if !math.IsNaN(c.at[0]) {
			low = min(low, c.at[0])
		}
		// Coarser windows make the bins of a column coarser, and its highest latency may be told higher.
		if w := higher(c.at[ofMax], c.worst[ofMax]); !math.IsNaN(w) {
			high = max(high, w)
		}
	}
	return low, high
}

// legend tells the lines, and what is beside them where windows are joined.
func (t *timeChart) legend(names []string) {
	x := float64(left)
	for _, p := range overTime {
		x = t.key(x, 14, "line "+className(p.name), p.name)
	}
	for _, name := range names {
		if t.series[name].joined() > 1 {
			t.printf(`<path class="shade p99" d="M%s 4h22v12h-22z"/>`, number(x))
			t.text(x+27, 14, "soft", "up to the worst window of those that are joined")
			return
		}
	}
}

// className is a percentile's name as style sheets have it.
func className(percentile string) string { return strings.ReplaceAll(percentile, ".", "") }

// latencies draws the percentiles of a direction.
func (t *timeChart) latencies(name string, a *valueAxis) {
	s := t.series[name]
	title := name + " latency"
	if us, isOpen := s.lastBin(); isOpen {
		title += ", at the top " + unit.Latency(us) + " or more: fio's last bin has no upper end"
	}
	t.text(left, a.top-9, "name", title)
	t.grid(a)
	t.printf("<g>")
	for p := range ofMax {
		t.path("shade "+className(overTime[p].name), name+" "+overTime[p].name+" of the worst window", t.shade(s, a,
			func(c *column) (from, to float64) { return c.at[p], c.worst[p] }))
	}
	t.path("line max", name+" max", t.dashes(s, a, func(c *column) float64 { return c.at[ofMax] }))
	for p := range ofMax {
		t.path("line "+className(overTime[p].name), name+" "+overTime[p].name, t.steps(s, a, func(c *column) float64 { return c.at[p] }))
	}
	t.printf("</g>\n")
}

// rates draws the iops of all directions.
func (t *timeChart) rates(top float64) {
	most := 0.0
	for _, s := range t.series {
		for i := range s.columns {
			most = max(most, s.columns[i].most, s.columns[i].iops)
		}
	}
	a := rateAxis(most, top, rateHeight, 4)
	t.text(left, top-9, "name", "IOPS")
	x := float64(left) + 60
	t.grid(a)
	for _, name := range t.names {
		if len(t.names) > 1 {
			x = t.key(x, top-9, "line "+name, name)
		}
		s := t.series[name]
		t.path("shade "+name, name+" iops of the windows that are joined", t.shade(s, a, func(c *column) (from, to float64) { return c.lowest, c.most }))
		t.path("line rate "+name, name+" iops", t.steps(s, a, func(c *column) float64 { return c.iops }))
	}
}

// grid draws the frame, with lines at round times.
func (t *timeChart) grid(a *valueAxis) {
	t.printf(`<g class="grid">`)
	for _, tick := range t.axis.ticks() {
		t.printf(`<path d="M%s %sv%s"/>`, number(left+tick.At*areaWidth), number(a.top), number(a.height))
	}
	t.printf("</g>\n")
	t.axes(a)
}

// times are the labels below the last panel.
func (t *timeChart) times(bottom float64) {
	t.printf(`<g text-anchor="middle">`)
	for _, tick := range t.axis.ticks() {
		t.text(left+tick.At*areaWidth, bottom+20, "", tick.Label)
	}
	t.text(left+areaWidth/2, bottom+44, "soft", t.axis.name())
	t.printf("</g>\n")
}

// span is from where to where a column is drawn: however short, it can be seen.
func (t *timeChart) span(c *column) (from, to float64) {
	from, to = t.axis.x(c.start), t.axis.x(c.end)
	if to < from+1 {
		from = min(from, left+areaWidth-1)
		to = from + 1
	}
	return from, to
}

// steps is a line with a step for each column, which ends where a window is missing.
func (t *timeChart) steps(s *series, a *valueAxis, value func(*column) float64) string {
	var d strings.Builder
	drawn := false
	for i := range s.columns {
		c := &s.columns[i]
		v := value(c)
		if math.IsNaN(v) {
			drawn = false
			continue
		}
		from, to := t.span(c)
		if drawn && s.follows(i) {
			fmt.Fprintf(&d, "V%sH%s", number(a.y(v)), number(to))
		} else {
			fmt.Fprintf(&d, "M%s %sH%s", number(from), number(a.y(v)), number(to))
		}
		drawn = true
	}
	return d.String()
}

// dashes is a dash for each column.
func (t *timeChart) dashes(s *series, a *valueAxis, value func(*column) float64) string {
	var d strings.Builder
	for i := range s.columns {
		c := &s.columns[i]
		if v := value(c); !math.IsNaN(v) {
			from, to := t.span(c)
			fmt.Fprintf(&d, "M%s %sH%s", number(from), number(a.y(v)), number(to))
		}
	}
	return d.String()
}

// shade is what lies between two values in columns of several windows, where it can be seen.
func (t *timeChart) shade(s *series, a *valueAxis, between func(*column) (from, to float64)) string {
	var d strings.Builder
	for i := range s.columns {
		c := &s.columns[i]
		low, high := between(c)
		if c.windows < 2 || math.IsNaN(low) || a.y(low)-a.y(high) < 0.5 {
			continue
		}
		from, to := t.span(c)
		fmt.Fprintf(&d, "M%s %sH%sV%sH%sz", number(from), number(a.y(low)), number(to), number(a.y(high)), number(from))
	}
	return d.String()
}

// panelData are the texts of a direction.
func (t *timeChart) panelData(name string) panelData {
	s := t.series[name]
	p := panelData{Name: name}
	for _, o := range overTime {
		p.Columns = append(p.Columns, o.name)
	}
	p.Columns = append(p.Columns, "iops")
	for i := range s.columns {
		c := &s.columns[i]
		from, to := t.span(c)
		row := []any{math.Round(from*10) / 10, math.Round(to*10) / 10, t.when(c.start) + " – " + t.when(c.end)}
		for _, v := range c.at {
			row = append(row, unit.LatencyOrMore(v, c.isOpen(v)))
		}
		p.Rows = append(p.Rows, append(row, unit.Rate(c.iops)))
	}
	return p
}

// when is a time as precise as windows are.
func (t *timeChart) when(at time.Time) string { return clockTime(t.axis.clock, at) }
