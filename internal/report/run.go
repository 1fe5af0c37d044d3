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
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// mapColumns is how many columns a heat map has at most.
const mapColumns = 240

// pageRun is a run on a page. It takes the windows of the cluster and of hosts, in order of time.
type pageRun struct {
	page   *Page
	series map[string]*series // by direction
	bytes  map[string]*byteSum
	cells  *heatmap.Builder
	hosts  map[string]map[string]*hostSum // by direction, host
	span   window.Span                    // of the windows of the cluster

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

// begin begins a run of the page.
func (p *Page) begin() *pageRun {
	p.begun++
	r := &pageRun{page: p}
	if p.begun <= MaxSections || p.opt.Query.Times() != "" {
		r.series, r.bytes, r.hosts = map[string]*series{}, map[string]*byteSum{}, map[string]map[string]*hostSum{}
	}
	if p.begun <= MaxSections {
		r.cells = heatmap.NewBuilder(mapColumns)
	}
	return r
}

// wantsWindows reports whether the page needs windows. For all of a run without a section, the run's document is
// enough.
func (r *pageRun) wantsWindows() bool { return r.series != nil }

// add adds a window of the cluster or of a host, and its requests: nil for averages, or if there are none.
func (r *pageRun) add(w *window.Window, requests *hist.Histogram) {
	switch {
	case !r.wantsWindows():
		return
	case w.Level == mapping.Host:
		r.addHost(w, requests)
		return
	}
	direction := w.Direction
	if r.series[direction] == nil {
		r.series[direction], r.bytes[direction] = newSeries(maxColumns), &byteSum{}
	}
	r.span.Add(w)
	b := r.bytes[direction]
	b.bytes += w.Bandwidth * float64(w.Length().Milliseconds()) / 1000
	b.isUnknown = b.isUnknown || w.Bandwidth == 0 && w.Completed > 0
	r.series[direction].add(w, requests)
	if r.cells != nil && requests != nil {
		r.cells.Add(w, requests)
	}
}

func (r *pageRun) addHost(w *window.Window, requests *hist.Histogram) {
	direction, host := w.Direction, w.Host
	if r.hosts[direction] == nil {
		r.hosts[direction] = map[string]*hostSum{}
	}
	if r.hosts[direction][host] == nil {
		r.hosts[direction][host] = &hostSum{host: host}
	}
	r.hosts[direction][host].add(w, requests)
}

// end ends the run, whose document this is. It returns false if no request matches; then the run is not on the page.
func (r *pageRun) end(doc *mapping.Run) (bool, error) {
	r.doc = doc.Light()
	for _, s := range r.series {
		s.finish()
	}
	var err error
	if r.page.opt.Query.Times() == "" {
		r.totals, err = totalsOf(doc, r.page.opt.Query.Directions)
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

// totalsOfWindows are the totals of the windows.
func (r *pageRun) totalsOfWindows() []*total {
	var list []*total
	seconds := r.span.Length().Seconds()
	for _, direction := range r.directions() {
		h, completed := &hist.Histogram{}, int64(0)
		for _, c := range r.series[direction].columns {
			if len(c.requests.bins) > 0 {
				h.Merge(c.requests.histogram())
			}
			completed += c.completed
		}
		t := &mapping.Totals{Requests: completed, DurationMS: r.span.Length().Milliseconds()}
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

// directions are the directions with windows.
func (r *pageRun) directions() []string {
	return slices.DeleteFunc(slices.Clone(mapping.Directions[:]), func(name string) bool { return r.series[name] == nil })
}

// runView is the data of the template for a run.
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
	Numbers          []row
	Few              bool
	Worst            []row
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

func (r *pageRun) newView(number int) *runView {
	d := r.doc
	v := &runView{
		Number: number, Name: d.Run.Name, Lead: r.lead(), Setting: settingsLine(d), Facts: r.facts(), Settings: settings(d),
		Incomplete: !d.Run.Complete, Warnings: d.Warnings, Header: titles(numbersColumns),
		Options: factsOf(d.Fio.Options), Configs: factsOf(d.Config),
	}
	if d.Missing.Requests > 0 {
		v.Missing = unit.Count(d.Missing.Requests)
	}
	if times := r.page.opt.Query.Times(); times != "" {
		v.Part = fmt.Sprintf("%s: windows from %s to %s", times, r.moment(r.span.Start), r.moment(r.span.End))
	}
	for _, t := range r.totals {
		line, isFew := t.row()
		v.Numbers, v.Few = append(v.Numbers, line), v.Few || isFew
	}
	if len(r.curves) > 0 {
		v.Curves = drawCurves(r.curves, fmt.Sprintf("Latency by percentile of %s: %s", d.Run.Name, labels(r.totals)))
	}
	r.viewHosts(v)
	r.viewTime(v)
	return v
}

// viewTime draws the charts over time.
func (r *pageRun) viewTime(v *runView) {
	names := r.directions()
	if len(names) == 0 {
		v.TimeNote = "The run has no windows: " + cmp.Or(r.doc.NoWindows, "its files have no times of requests") + "."
		return
	}
	axis := chart.TimeAxis{From: r.span.Start, Until: r.span.End, Clock: r.clock()}
	if !axis.Until.After(axis.From) {
		axis.Until = axis.From.Add(time.Millisecond)
	}
	label := fmt.Sprintf("Percentiles of latency and IOPS over time of %s, from %s to %s: %s", v.Name, r.moment(r.span.Start), r.moment(r.span.End), labels(r.totals))
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
	v.MapNote = fmt.Sprintf("%s requests (%s) in cells of %s and 1/20 of a power of ten. Colours are logarithmic; a shorter last column has the colours of its rate. Lines are percentiles of each column.",
		unit.Count(m.Total), strings.Join(names, ", "), unit.Elapsed(m.Width))
	if m.OpenUS > 0 {
		v.MapNote += fmt.Sprintf(" The top row has requests of %s or more: fio's last bin has no upper end.", unit.Latency(m.OpenUS))
	}
}

// timeNote explains a column of the charts over time.
func (r *pageRun) timeNote(names []string) string {
	joined, longest, window := 0, time.Duration(0), time.Duration(r.doc.IntervalMS)*time.Millisecond
	for _, name := range names {
		joined = max(joined, r.series[name].joined())
		for _, c := range r.series[name].columns {
			longest = max(longest, c.longest)
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
		return fmt.Sprintf("A column is up to %d %s, with the percentiles of their merged histograms. The shade reaches up to the worst single window.", joined, of)
	}
	return fmt.Sprintf("Percentiles of %s. Where a window is missing, no request was served, or none is known.", of)
}

// viewHosts makes the tables of hosts.
func (r *pageRun) viewHosts(v *runView) {
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

func (r *pageRun) clock() chart.Clock {
	return chart.Clock{Start: r.doc.Run.Start, Known: unit.IsKnown(r.doc.Run.Start)}
}
