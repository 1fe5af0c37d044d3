package report

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// mapColumns is how many columns a heat map has at most.
const mapColumns = 240

// Run is a run of a page. It takes windows of the cluster, and of hosts, in order of time.
type Run struct {
	page     *Page
	series   map[string]*series // by direction
	bytes    map[string]*byteSum
	cells    *heatmap.Builder
	hosts    map[string]map[string]*hostSum // by direction, host
	from, to time.Time                      // what windows span

	// When it has ended.
	doc    *mapping.Run
	totals []*total
	curves []*curve
	view   *runView // nil of runs beyond MaxSections
}

// byteSum is the bytes of a direction's windows.
type byteSum struct {
	bytes     float64
	isUnknown bool // of some window
}

// Run begins a run of the page.
func (p *Page) Run() *Run {
	p.begun++
	r := &Run{page: p}
	if p.begun <= MaxSections || p.opt.Part != "" {
		r.series, r.bytes, r.hosts = map[string]*series{}, map[string]*byteSum{}, map[string]map[string]*hostSum{}
	}
	if p.begun <= MaxSections {
		r.cells = heatmap.NewBuilder(mapColumns)
	}
	return r
}

// wantsWindows tells whether windows are of use: of whole runs beyond those that have a section,
// the run's own document says all.
func (r *Run) wantsWindows() bool { return r.series != nil }

// Add takes a window of the cluster or of a host.
func (r *Run) Add(d *mapping.Interval) error {
	switch {
	case !r.wantsWindows():
		return nil
	case d.Level == mapping.Host:
		return r.addHost(d)
	case d.Level != mapping.Cluster:
		return nil
	}
	var requests *hist.Histogram
	if d.Latency.Layout != "" { // else of averages, or of nothing
		var err error
		if requests, err = d.Latency.Hist(); err != nil {
			return fmt.Errorf("%s: %w", d.Run.Name, err)
		}
	}
	direction := d.Fio.Direction
	if r.series[direction] == nil {
		r.series[direction], r.bytes[direction] = &series{limit: maxColumns}, &byteSum{}
	}
	r.span(d.Time, d.Window.End)
	b := r.bytes[direction]
	b.bytes += d.Bandwidth * float64(d.Window.MS) / 1000
	b.isUnknown = b.isUnknown || d.Bandwidth == 0 && d.Requests.Completed > 0
	r.series[direction].add(newColumn(d, requests))
	if r.cells != nil && requests != nil {
		r.cells.Add(heatmap.Window{ElapsedMS: d.Window.ElapsedMS, Start: d.Time, End: d.Window.End, Requests: requests})
	}
	return nil
}

// span widens what windows span.
func (r *Run) span(start, end time.Time) {
	if r.to.IsZero() || start.Before(r.from) {
		r.from = start
	}
	if end.After(r.to) {
		r.to = end
	}
}

func (r *Run) addHost(d *mapping.Interval) error {
	direction, host := d.Fio.Direction, d.Host.Name
	if r.hosts[direction] == nil {
		r.hosts[direction] = map[string]*hostSum{}
	}
	if r.hosts[direction][host] == nil {
		r.hosts[direction][host] = &hostSum{host: host}
	}
	if err := r.hosts[direction][host].add(d); err != nil {
		return fmt.Errorf("%s: %s: %w", d.Run.Name, host, err)
	}
	return nil
}

// End ends the run, whose document this is. It is false when there is nothing in what was asked for: then the run is
// not on the page.
func (r *Run) End(doc *mapping.Run) (bool, error) {
	r.doc = doc.Light()
	for _, s := range r.series {
		s.finish()
	}
	var err error
	if r.page.opt.Part == "" {
		r.totals, err = totalsOf(doc, r.page.opt.Directions)
	} else {
		r.totals = r.totalsOfWindows()
	}
	if err != nil || len(r.totals) == 0 {
		return false, err
	}
	r.page.runs = append(r.page.runs, r)
	for _, t := range r.totals {
		if t.histogram != nil && !t.histogram.IsEmpty() {
			r.curves = append(r.curves, newCurve(t.Direction, t.Direction, t.histogram))
		}
	}
	if r.cells != nil {
		r.view = r.newView(len(r.page.runs))
	}
	r.series, r.cells, r.hosts, r.bytes = nil, nil, nil, nil
	return true, nil
}

// totalsOfWindows are those of the windows that were taken.
func (r *Run) totalsOfWindows() []*total {
	var list []*total
	seconds := r.to.Sub(r.from).Seconds()
	for _, direction := range r.directions() {
		h, completed := &hist.Histogram{}, int64(0)
		for i := range r.series[direction].columns {
			c := &r.series[direction].columns[i]
			if len(c.bins) > 0 {
				h.Merge(c.histogram())
			}
			completed += c.completed
		}
		t := &mapping.Totals{Requests: completed, DurationMS: r.to.Sub(r.from).Milliseconds()}
		if h.IsEmpty() {
			h = nil
		} else {
			t.Requests, t.Latency = int64(math.Round(h.Total())), mapping.NewLatency(h, nil)
		}
		if seconds > 0 {
			t.IOPS = float64(completed) / seconds
		}
		if b := r.bytes[direction]; seconds > 0 && !b.isUnknown {
			t.Bandwidth = b.bytes / seconds
		}
		list = append(list, &total{facts.NewLine(r.doc, len(list) == 0, mapping.DirectionTotals{Direction: direction, Totals: t}), h})
	}
	return list
}

// directions are those that have windows.
func (r *Run) directions() []string {
	return slices.DeleteFunc(slices.Clone(mapping.Directions[:]), func(name string) bool { return r.series[name] == nil })
}

// runView is what the template shows of a run.
type runView struct {
	Number           int
	Many             bool   // runs on the page
	Class            string // of the run's colour
	Name             string
	Lead, Setting    string
	Part             string
	Facts, Settings  []fact
	Incomplete       bool
	Missing          string
	Warnings         []string
	Header           []string
	Numbers          []numbersRow
	Few              bool
	Worst            []worstRow
	Time             template.HTML
	TimeNote         string
	Data             []panelData
	Map              template.HTML
	MapNote          string
	Curves           template.HTML
	Hosts            []hostTable
	HostNote         string
	Options, Configs []fact
}

func (r *Run) newView(number int) *runView {
	d := r.doc
	v := &runView{
		Number: number, Name: d.Run.Name, Lead: r.lead(), Setting: settingsLine(d), Facts: r.facts(), Settings: settings(d),
		Incomplete: !d.Run.Complete, Warnings: d.Warnings, Header: titles(numbersColumns),
		Options: optionFacts(d.Fio.Options), Configs: configFacts(d.Config),
	}
	if d.Missing.Requests > 0 {
		v.Missing = unit.Count(d.Missing.Requests)
	}
	if r.page.opt.Part != "" {
		v.Part = fmt.Sprintf("%s: windows from %s to %s", r.page.opt.Part, r.moment(r.from), r.moment(r.to))
	}
	for _, t := range r.totals {
		row := t.row()
		v.Numbers, v.Few = append(v.Numbers, row), v.Few || row.Few
	}
	if len(r.curves) > 0 {
		v.Curves = drawCurves(r.curves, fmt.Sprintf("Latency by percentile of %s: %s", d.Run.Name, labels(r.totals)))
	}
	r.viewHosts(v)
	r.viewTime(v)
	return v
}

// viewTime draws what goes over time.
func (r *Run) viewTime(v *runView) {
	names := r.directions()
	if len(names) == 0 {
		v.TimeNote = "The run has no windows: " + cmp.Or(r.doc.NoWindows, "its files do not say what happened when") + "."
		return
	}
	axis := chart.TimeAxis{From: r.from, Until: r.to, Clock: r.clock()}
	if !axis.Until.After(axis.From) {
		axis.Until = axis.From.Add(time.Millisecond)
	}
	label := fmt.Sprintf("Percentiles of latency and IOPS over time of %s, from %s to %s: %s", v.Name, r.moment(r.from), r.moment(r.to), labels(r.totals))
	v.Time, v.Data = newTimeChart(axis, names, r.series, label)
	v.TimeNote = r.timeNote(names)
	for _, t := range r.totals {
		if row := r.worst(t); row != nil {
			v.Worst = append(v.Worst, *row)
		}
	}
	m := r.cells.Map()
	if m.Total == 0 {
		return
	}
	v.Map = template.HTML(m.Fragment(heatmap.Picture{ // which escapes texts
		Title: v.Name, Subtitle: unit.Count(m.Total) + " requests", Clock: axis.Clock, From: axis.From, To: axis.Until,
	}))
	v.MapNote = fmt.Sprintf("%s requests (%s) in cells of %s by a twentieth of a power of ten; colours are logarithmic, and of a shorter last column those of its rate. Lines are percentiles of each column.",
		unit.Count(m.Total), strings.Join(names, ", "), unit.Elapsed(m.Width))
	if m.OpenUS > 0 {
		v.MapNote += fmt.Sprintf(" The top row has requests of %s or more: fio's last bin has no upper end.", unit.Latency(m.OpenUS))
	}
}

// timeNote says what a column is.
func (r *Run) timeNote(names []string) string {
	joined, longest, window := 0, time.Duration(0), time.Duration(r.doc.IntervalMS)*time.Millisecond
	for _, name := range names {
		joined = max(joined, r.series[name].joined())
		for i := range r.series[name].columns {
			longest = max(longest, r.series[name].columns[i].longest)
		}
	}
	of := "windows"
	if window > 0 {
		of += " of " + unit.Elapsed(window)
	}
	if window > 0 && longest > window*3/2 { // --interval auto
		of += " to " + unit.Elapsed(longest)
	}
	if joined > 1 {
		return fmt.Sprintf("Up to %d %s are joined to a column, with the percentiles of their merged histograms; where a single one of them was worse, the shade reaches up to it.", joined, of)
	}
	return fmt.Sprintf("Percentiles of %s. Where a window is missing, nothing was served, or nothing is known.", of)
}

// viewHosts makes the tables of hosts.
func (r *Run) viewHosts(v *runView) {
	for _, direction := range mapping.Directions {
		var sums []*hostSum
		for _, s := range r.hosts[direction] {
			sums = append(sums, s)
		}
		if len(sums) > 1 {
			v.Hosts = append(v.Hosts, newHostTable(direction, sums, r.doc.Hosts))
		}
	}
	if len(v.Hosts) == 0 && len(r.doc.Hosts) > 1 && !slices.Contains(r.doc.Levels, mapping.Host) {
		v.HostNote = "The history has no documents of this run's hosts: ingest it with --levels cluster,host."
	}
}

func (r *Run) clock() chart.Clock {
	return chart.Clock{Start: r.doc.Run.Start, Known: facts.HasClock(r.doc)}
}
