package report

import (
	"math"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
)

// maxColumns is the most columns of charts over time, because 960 pixels cannot show more. If there are more
// windows, they are joined.
const maxColumns = 600

// spare is how many times maxColumns are kept while more windows may come. At the end, at least half of the columns
// remain.
const spare = 4

// overTime are the percentiles in charts over time. The maximum is the last.
var overTime = [...]struct {
	name string
	q    float64
}{{"p50", 0.50}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}}

const (
	ofP99 = 2 // indices in overTime
	ofMax = len(overTime) - 1
)

// latencies are the values of overTime in microseconds, or NaN if they are not known.
type latencies [len(overTime)]float64

var noLatencies = func() (l latencies) {
	for i := range l {
		l[i] = math.NaN()
	}
	return l
}()

// column is one window of a direction, or several consecutive ones.
type column struct {
	window.Span
	windows  int
	longest  time.Duration // longest window
	served   float64       // see [window.Window.Served]
	requests sparse

	at, worst          latencies // of all requests; highest of any window
	iops, lowest, most float64   // of all requests; lowest and highest of any window
}

// newColumn returns the column of one window. requests is nil for averages, or without requests.
func newColumn(w *window.Window, requests *hist.Histogram) *column {
	c := &column{
		Span: window.Span{Start: w.Start, End: w.End}, windows: 1, longest: w.Length(), served: w.Served(),
		at: noLatencies, worst: noLatencies,
	}
	c.iops = w.KnownIOPS()
	c.lowest, c.most = c.iops, c.iops
	if requests == nil {
		return c
	}
	l := &w.Latency
	c.requests = sparse{requests.Layout(), requests.Weights()}
	c.at = latencies{l.P50, l.P95, l.P99, l.P999, l.Max}
	c.worst = c.at
	return c
}

// lastBin returns the lowest latency of the last bin, and whether a drawn latency lies in that bin.
func (s *series) lastBin() (us float64, isOpen bool) {
	for _, c := range s.columns {
		for _, v := range [...]float64{c.at[ofMax], c.worst[ofMax]} {
			if c.requests.isOpen(v) {
				return c.requests.lastBin(), true
			}
		}
	}
	return 0, false
}

func (c *column) merge(o *column) {
	c.Join(o.Span)
	c.windows += o.windows
	c.longest = max(c.longest, o.longest)
	c.served += o.served
	c.lowest, c.most = min(c.lowest, o.lowest), max(c.most, o.most)
	for i, v := range o.worst {
		c.worst[i] = higher(c.worst[i], v)
	}
	c.requests.add(&o.requests)
}

// higher returns the higher of two numbers. It ignores NaN.
func higher(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// finish computes the percentiles of a column after all its windows are added.
func (c *column) finish() {
	if c.windows == 1 {
		return
	}
	c.iops = 0
	if ms := c.Length().Milliseconds(); ms > 0 {
		c.iops = c.served * 1000 / float64(ms)
	}
	c.at = noLatencies
	if h := c.requests.histogram(); !h.IsEmpty() {
		for i := range overTime {
			c.at[i] = micros(h.Percentile(overTime[i].q).Value)
		}
	}
}

// micros converts nanoseconds to microseconds, rounded to the nanosecond as in documents.
func micros(ns float64) float64 { return math.Round(ns) / 1000 }

// series has the windows of a direction in order of time. If there are few, each is a column. Otherwise neighbours
// are joined.
type series struct {
	limit   int // most columns at the end
	windows *window.Columns[column]
	columns []*column // set by finish
	worst   moments
}

func newSeries(limit int) *series {
	return &series{limit: limit, windows: window.NewColumns(spare*limit, (*column).merge)}
}

// add adds the next window. requests is nil for averages, or without requests.
func (s *series) add(w *window.Window, requests *hist.Histogram) {
	c := newColumn(w, requests)
	s.worst.see(c)
	if s.worst.seen == 2 { // the first column stays alone, because the run may cut its window
		s.windows.Origin = w.ElapsedMS
	}
	if to := s.windows.At(w.ElapsedMS); to.windows == 0 {
		*to = *c
	} else {
		to.merge(c)
	}
}

func (s *series) finish() {
	if starts := s.windows.Starts(); len(starts) > s.limit {
		step, others := s.windows.Step(), int64(s.limit-1) // the first window may be cut, so it gets its own column
		slots := (starts[len(starts)-1]-s.windows.Origin)/step + 1
		s.windows.Widen((slots + others - 1) / others * step)
	}
	s.columns = s.windows.All()
	for _, c := range s.columns {
		c.finish()
	}
}

// follows reports whether column i begins where the one before ends.
func (s *series) follows(i int) bool {
	return i > 0 && s.columns[i].gap(s.columns[i-1]) == 0
}

// gap returns the time between a column and the one before. A time that is too short for a window counts as 0,
// because rows may be late.
func (c *column) gap(before *column) time.Duration {
	gap := c.Start.Sub(before.End)
	if gap <= max(c.longest, before.longest)/2 {
		return 0
	}
	return gap
}

// sparse is a histogram that stores only bins with requests.
type sparse struct {
	layout hist.Layout
	bins   []hist.Weight
}

func (s *sparse) histogram() *hist.Histogram {
	h := hist.New(s.layout)
	for _, b := range s.bins {
		h.AddAt(b.Index, b.Count)
	}
	return h
}

func (s *sparse) add(o *sparse) {
	switch {
	case len(o.bins) == 0:
	case len(s.bins) == 0:
		*s = *o
	case s.layout == o.layout:
		s.bins = sum(s.bins, o.bins)
	default:
		h := s.histogram()
		h.Merge(o.histogram())
		*s = sparse{h.Layout(), h.Weights()}
	}
}

// sum adds bins of one layout, without allocating a whole histogram.
func sum(a, b []hist.Weight) []hist.Weight {
	list := make([]hist.Weight, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Index < b[0].Index:
			list, a = append(list, a[0]), a[1:]
		case a[0].Index > b[0].Index:
			list, b = append(list, b[0]), b[1:]
		default:
			list = append(list, hist.Weight{Index: a[0].Index, Count: a[0].Count + b[0].Count})
			a, b = a[1:], b[1:]
		}
	}
	return append(append(list, a...), b...)
}

// slowest returns the lowest latency of the slowest request's bin, in microseconds, or NaN if there is none.
func (s *sparse) slowest() float64 {
	if len(s.bins) == 0 {
		return math.NaN()
	}
	low, _ := s.layout.Bounds(s.bins[len(s.bins)-1].Index)
	return micros(float64(low))
}

// lastBin returns the lowest latency of the last bin, in microseconds.
func (s *sparse) lastBin() float64 {
	low, _ := s.layout.Bounds(s.layout.Len() - 1)
	return micros(float64(low))
}

// isOpen reports whether a latency lies in the last bin, so that it is a lower bound.
func (s *sparse) isOpen(us float64) bool { return len(s.bins) > 0 && us >= s.lastBin() }

// moment is the time of an event, such as the worst window, and its value.
type moment struct {
	at         time.Time // the zero time is the start of a run whose date is not known
	value      float64
	isTimeless bool // no window shows when it was
}

// moments are the worst windows of a direction. They do not depend on which windows are joined to columns.
type moments struct {
	p99     *moment // window with the highest p99
	slowest *moment // window with the slowest request; its number is the lowest latency of the request's bin
	// idle is the longest time without windows, or else the window with the lowest iops, except the first and the last, which
	// may be cut. gap is the length of that time; 0 if there is none.
	idle *moment
	gap  time.Duration

	seen   int
	before *column
}

func (m *moments) see(c *column) {
	m.p99 = worse(m.p99, c, c.at[ofP99])
	m.slowest = worse(m.slowest, c, c.requests.slowest())
	if m.seen > 0 {
		if gap := c.gap(m.before); gap > m.gap {
			m.idle, m.gap = &moment{at: m.before.End}, gap
		}
	}
	if m.seen > 1 && !math.IsNaN(m.before.iops) && (m.idle == nil || m.before.iops < m.idle.value) {
		m.idle = &moment{at: m.before.Start, value: m.before.iops}
	}
	m.before = c
	m.seen++
}

// worse returns c if its value is higher than that of m, and otherwise m.
func worse(m *moment, c *column, value float64) *moment {
	if math.IsNaN(value) || m != nil && value <= m.value {
		return m
	}
	return &moment{at: c.Start, value: value}
}
