package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// mapColumns is the most columns of a heat map.
const mapColumns = 240

// run is what is known of a run: its document, and what its windows add. A page and a screen both show it.
type run struct {
	Doc    *mapping.Run
	Part   string // which part of the run this is; empty: all of it
	Totals []*total
	Worst  []*worst
	Hosts  []*host // by direction, the slowest first; none if there is only one
	// HostNote says why a run of several hosts has no Hosts, or why their IOPS do not add up to those of the run.
	HostNote string

	// of a run on a page
	Number  int      // from 1; of a stage, on the page of its execution, that of the stage
	Differs string   // settings of a stage, in words that no other stage on the page has
	Class   string   // class of its colour, on a page of several runs
	Section *section // nil for runs beyond MaxSections
	curves  []*curve
	side    *compare.Run // its windows; nil on a page of one run
}

// runSums collects the windows of a run: those of the cluster and of hosts, in order of time.
type runSums struct {
	query  *query.Query
	series map[string]*series // by direction; nil if the run document is enough
	hosts  map[hostKey]*hostSum
	cells  *heatmap.Builder // nil for runs without a section
	sum    window.Sum       // of the windows of level Cluster
	last   []clusterWindow  // windows of level Cluster of the latest time, until the next time begins
}

type clusterWindow struct {
	*window.Window
	requests *hist.Histogram
}

// newRunSums returns the sums of a run of which q wants a part. columns is how many a heat map has at most. With 0 only totals
// are wanted, and these need no windows if q wants all of the run.
func newRunSums(q *query.Query, columns int) *runSums {
	r := &runSums{query: q}
	if columns > 0 || q.Times() != "" {
		r.series, r.hosts = map[string]*series{}, map[hostKey]*hostSum{}
	}
	if columns > 0 {
		r.cells = heatmap.NewBuilder(columns)
	}
	return r
}

// Levels returns the levels of the windows that a page or a screen of a run needs.
func Levels(run *query.Run) []mapping.Level {
	levels := []mapping.Level{mapping.Cluster}
	if run.Has(mapping.Host) {
		levels = append(levels, mapping.Host)
	}
	return levels
}

// add adds a window of the cluster or of a host. requests is nil for averages, or without requests.
func (r *runSums) add(w *window.Window, requests *hist.Histogram) {
	switch {
	case r.series == nil:
		return
	case w.Level == mapping.Host:
		key := hostKey{w.Direction, w.Host}
		if r.hosts[key] == nil {
			r.hosts[key] = &hostSum{}
		}
		r.hosts[key].add(w, requests)
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
		r.sum.AddWith(w.Window, w.requests)
		r.series[w.Direction].add(w.Window, w.requests)
		if r.cells != nil && w.requests != nil && r.isInMap(w.Direction) {
			r.cells.Add(w.Window, w.requests)
		}
	}
	r.last = r.last[:0]
}

// end ends the run; doc is its document. It returns nil if no request matches.
func (r *runSums) end(doc *mapping.Run) (*run, error) {
	isHalf := false // in a live run, directions come one after another, and the last ones may still be missing
	for direction := range r.series {
		isHalf = isHalf || !slices.ContainsFunc(r.last, func(w clusterWindow) bool { return w.Direction == direction })
	}
	if !doc.Run.Live() || !isHalf {
		r.addLast()
	}
	one := &run{Doc: doc.Light()}
	for _, s := range r.series {
		s.finish()
	}
	times := r.query.Times()
	// The document of a live run also has requests of windows that are not complete yet, which no picture shows.
	var err error
	if times != "" || doc.Run.Live() && !r.sum.Span.IsZero() {
		one.Totals, err = sumsOf(one.Doc, &r.sum)
	} else {
		one.Totals, err = totalsOf(doc, r.query.Directions)
	}
	if err != nil {
		return nil, err
	}
	if len(one.Totals) == 0 {
		return nil, nil
	}
	if times != "" {
		one.Part = fmt.Sprintf("%s: windows from %s to %s", times, unit.Time(r.sum.Span.Start, unit.Moment), unit.Time(r.sum.Span.End, unit.Moment))
	}
	for _, t := range one.Totals {
		if w := newWorst(one, t, r.series[t.Direction]); w != nil {
			one.Worst = append(one.Worst, w)
		}
	}
	for _, direction := range mapping.Directions {
		hosts, err := hostsOf(direction, r.hosts, doc, times == "" && !doc.Run.Live())
		if err != nil {
			return nil, err
		}
		if len(hosts) > 1 {
			one.Hosts = append(one.Hosts, hosts...)
			one.HostNote = cmp.Or(one.HostNote, apart(hosts, one.Totals))
		}
	}
	if len(one.Hosts) == 0 && len(doc.Hosts) > 1 && !slices.Contains(doc.Levels, mapping.Host) {
		one.HostNote = "The history has no documents of this run's hosts: ingest it with --levels cluster,host."
	}
	return one, nil
}

// isInMap reports whether the requests of a direction are in the heat map: syncs are not among all requests.
func (r *runSums) isInMap(direction string) bool {
	return direction != mapping.Sync || slices.Contains(r.query.Directions, direction)
}

func (r *runSums) directions() []string {
	all := slices.Concat(mapping.Directions[:], []string{mapping.AllDirections})
	return slices.DeleteFunc(all, func(name string) bool { return r.series[name] == nil })
}
