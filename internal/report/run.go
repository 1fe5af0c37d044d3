package report

import (
	"math"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// mapColumns is the most columns of a heat map.
const mapColumns = 240

// run is a run on a page, for the template.
type run struct {
	Number  int    // number on the page, from 1
	Class   string // class of its colour, on a page of several runs
	Doc     *mapping.Run
	Totals  []*total
	Section *section // nil for runs beyond MaxSections
	curves  []*curve
}

// runSums collects the windows of a run: those of the cluster and of hosts, in order of time.
type runSums struct {
	page   *Page
	series map[string]*series // by direction; nil if the run document is enough
	hosts  map[string]map[string]*hostSum
	cells  *heatmap.Builder // nil for runs without a section
	span   window.Span      // of the windows of level Cluster
	last   []clusterWindow  // windows of level Cluster of the latest time, until the next time begins
}

// clusterWindow is a window and its requests.
type clusterWindow struct {
	*window.Window
	requests *hist.Histogram
}

// begin begins the next run of the page. A run without a section needs no windows if all of the run is wanted.
func (p *Page) begin() *runSums {
	p.begun++
	r := &runSums{page: p}
	if p.begun <= MaxSections || p.opt.Query.Times() != "" {
		r.series, r.hosts = map[string]*series{}, map[string]map[string]*hostSum{}
	}
	if p.begun <= MaxSections {
		r.cells = heatmap.NewBuilder(mapColumns)
	}
	return r
}

// add adds a window of the cluster or of a host. requests is nil for averages, or without requests.
func (r *runSums) add(w *window.Window, requests *hist.Histogram) {
	switch {
	case r.series == nil:
		return
	case w.Level == mapping.Host:
		hosts := r.hosts[w.Direction]
		if hosts == nil {
			hosts = map[string]*hostSum{}
			r.hosts[w.Direction] = hosts
		}
		if hosts[w.Host] == nil {
			hosts[w.Host] = &hostSum{host: w.Host}
		}
		hosts[w.Host].add(w, requests)
		return
	}
	if len(r.last) > 0 && r.last[0].ElapsedMS != w.ElapsedMS {
		r.addLast()
	}
	r.last = append(r.last, clusterWindow{w, requests})
}

// addLast adds the latest windows.
func (r *runSums) addLast() {
	for _, w := range r.last {
		if r.series[w.Direction] == nil {
			r.series[w.Direction] = newSeries(maxColumns)
		}
		r.span.Add(w.Window)
		r.series[w.Direction].add(w.Window, w.requests)
		if r.cells != nil && w.requests != nil {
			r.cells.Add(w.Window, w.requests)
		}
	}
	r.last = r.last[:0]
}

// end ends the run; doc is its document. It returns false if no request matches. Then the run is not on the page.
func (r *runSums) end(doc *mapping.Run) (bool, error) {
	isHalf := false // in a live run, directions come one after another, and the last ones may still be missing
	for direction := range r.series {
		isHalf = isHalf || !slices.ContainsFunc(r.last, func(w clusterWindow) bool { return w.Direction == direction })
	}
	if !doc.Run.Live() || !isHalf {
		r.addLast()
	}
	one := &run{Number: len(r.page.runs) + 1, Doc: doc.Light()}
	for _, s := range r.series {
		s.finish()
	}
	var err error
	// The document of a live run also has requests of windows that are not complete yet, which no picture shows.
	isOfWindows := r.page.opt.Query.Times() != "" || doc.Run.Live() && !r.span.IsZero()
	if !isOfWindows {
		one.Totals, err = totalsOf(doc, r.page.opt.Query.Directions)
	} else {
		one.Totals = r.totals(one.Doc)
	}
	if err != nil || len(one.Totals) == 0 {
		return false, err
	}
	r.page.runs = append(r.page.runs, one)
	for _, t := range one.Totals {
		if t.histogram != nil && !t.histogram.IsEmpty() {
			one.curves = append(one.curves, newCurve(t.Direction, t.Direction, t.histogram))
		}
	}
	if r.cells != nil {
		one.Section = r.section(one)
	}
	return true, nil
}

// totals returns the totals of the windows.
func (r *runSums) totals(doc *mapping.Run) []*total {
	var list []*total
	seconds := r.span.Length().Seconds()
	for _, direction := range r.directions() {
		s, h, completed := r.series[direction], &hist.Histogram{}, int64(0)
		for _, c := range s.columns {
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
			t.IOPS, t.Bandwidth = float64(completed)/seconds, s.bytes.Sum()/seconds
		}
		list = append(list, &total{facts.NewLine(doc, len(list) == 0, mapping.DirectionTotals{Direction: direction, Totals: t}), h})
	}
	return list
}

// directions returns the directions with windows.
func (r *runSums) directions() []string {
	return slices.DeleteFunc(slices.Clone(mapping.Directions[:]), func(name string) bool { return r.series[name] == nil })
}
