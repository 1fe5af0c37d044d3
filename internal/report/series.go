package report

import (
	"math"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
)

// maxColumns is how many columns charts over time have at most, because 960 pixels cannot show more. More windows are
// joined.
const maxColumns = 600

// spare is how many columns are kept for each of these while more windows may come. At least half of the columns are
// left at the end.
const spare = 4

// overTime are the percentiles of charts over time. The maximum is the last.
var overTime = [...]struct {
	name string
	q    float64
}{{"p50", 0.50}, {"p95", 0.95}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}}

const (
	ofP99 = 2 // places in these
	ofMax = len(overTime) - 1
)

// latencies are the latencies that overTime lists, NaN if not known.
type latencies [len(overTime)]float64

var noLatencies = func() (l latencies) {
	for i := range l {
		l[i] = math.NaN()
	}
	return l
}()

// column is a window of a direction, or several windows in a row.
type column struct {
	window.Span
	windows   int
	longest   time.Duration // of the windows
	completed int64
	requests  sparse

	at, worst          latencies // of all requests; the highest of any window
	iops, lowest, most float64   // of all requests; of the windows
}

// newColumn is the column of one window, with its requests; nil of averages, or of nothing.
func newColumn(w *window.Window, requests *hist.Histogram) *column {
	c := &column{
		Span: window.Span{Start: w.Start, End: w.End}, windows: 1, longest: w.Length(), completed: w.Completed,
		iops: w.IOPS, lowest: w.IOPS, most: w.IOPS, at: noLatencies, worst: noLatencies,
	}
	if requests == nil {
		return c
	}
	l := &w.Latency
	c.requests = sparse{requests.Layout(), requests.Weights()}
	c.at = latencies{l.P50, l.P95, l.P99, l.P999, l.Max}
	c.worst = c.at
	return c
}

// lastBin is the lowest latency of the last bin, and whether any drawn request lies in it.
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

// merge adds a later column.
func (c *column) merge(o *column) {
	c.Join(o.Span)
	c.windows += o.windows
	c.longest = max(c.longest, o.longest)
	c.completed += o.completed
	c.lowest, c.most = min(c.lowest, o.lowest), max(c.most, o.most)
	for i, v := range o.worst {
		c.worst[i] = higher(c.worst[i], v)
	}
	c.requests.add(&o.requests)
}

// higher is the higher of two numbers. One or both may be NaN.
func higher(a, b float64) float64 {
	if math.IsNaN(a) || b > a {
		return b
	}
	return a
}

// finish computes the percentiles of a column that has all of its windows.
func (c *column) finish() {
	if c.windows == 1 {
		return
	}
	c.iops = 0
	if ms := c.Length().Milliseconds(); ms > 0 {
		c.iops = float64(c.completed) * 1000 / float64(ms)
	}
	c.at = noLatencies
	if h := c.requests.histogram(); !h.IsEmpty() {
		for i := range overTime {
			c.at[i] = micros(h.Percentile(overTime[i].q).Value)
		}
	}
}

// micros is ns nanoseconds in microseconds, rounded to the nanosecond as in documents.
func micros(ns float64) float64 { return math.Round(ns) / 1000 }

// series is the windows of a direction in order of time. Few windows have a column each, more are joined with their
// neighbours.
type series struct {
	limit   int // columns at most, at the end
	windows *window.Columns[column]
	columns []*column // when all windows were added
	worst   moments
	bytes   window.Bytes
}

func newSeries(limit int) *series {
	return &series{limit: limit, windows: window.NewColumns(spare*limit, (*column).merge)}
}

// add adds the next window, and its requests; nil of averages, or of nothing.
func (s *series) add(w *window.Window, requests *hist.Histogram) {
	s.bytes.Add(w)
	c := newColumn(w, requests)
	s.worst.see(c)
	if s.worst.seen == 2 { // a run may cut its first window
		s.windows.Origin = w.ElapsedMS
	}
	if to := s.windows.At(w.ElapsedMS); to.windows == 0 {
		*to = *c
	} else {
		to.merge(c)
	}
}

// finish ends the series.
func (s *series) finish() {
	if starts := s.windows.Starts(); len(starts) > s.limit {
		step, others := s.windows.Step(), int64(s.limit-1) // the first window may be cut, and has a column of its own
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

// gap is the time between a column and the one before. A time too short for a window is no gap, because rows may be
// late.
func (c *column) gap(before *column) time.Duration {
	gap := c.Start.Sub(before.End)
	if gap <= max(c.longest, before.longest)/2 {
		return 0
	}
	return gap
}

// joined is the largest number of windows in a column.
func (s *series) joined() int {
	most := 0
	for _, c := range s.columns {
		most = max(most, c.windows)
	}
	return most
}
