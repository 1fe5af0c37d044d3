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
	elapsed    int64 // milliseconds: the nominal start
	start, end time.Time
	windows    int
	longest    time.Duration // of the windows
	completed  int64
	iops       float64
	layout     hist.Layout
	bins       []hist.Weight

	at           latencies // of one window those of its document, of several those of their merged histogram
	worst        latencies // the highest of any window
	lowest, most float64   // of the windows' iops
}

// newColumn is the column of one window, with its requests; nil of averages, or of nothing.
func newColumn(w *window.Window, requests *hist.Histogram) *column {
	c := &column{
		elapsed: w.ElapsedMS, start: w.Start, end: w.End, windows: 1,
		longest: w.Length(), completed: w.Completed, iops: w.IOPS,
		lowest: w.IOPS, most: w.IOPS, at: noLatencies, worst: noLatencies,
	}
	if requests == nil {
		return c
	}
	l := &w.Latency
	c.layout, c.bins = requests.Layout(), requests.Weights()
	c.at = latencies{l.P50, l.P95, l.P99, l.P999, l.Max}
	c.worst = c.at
	return c
}

// isOpen reports whether a latency lies in the last bin. Then it is a lower bound.
func (c *column) isOpen(us float64) bool {
	if len(c.bins) == 0 {
		return false
	}
	low, _ := c.layout.Bounds(c.layout.Len() - 1)
	return us >= micros(float64(low))
}

// lastBin is the lowest latency of the last bin, and whether any drawn request lies in it.
func (s *series) lastBin() (us float64, isOpen bool) {
	for i := range s.columns {
		c := &s.columns[i]
		for _, v := range [...]float64{c.at[ofMax], c.worst[ofMax]} {
			if c.isOpen(v) {
				low, _ := c.layout.Bounds(c.layout.Len() - 1)
				return micros(float64(low)), true
			}
		}
	}
	return 0, false
}

// histogram is the histogram of all requests.
func (c *column) histogram() *hist.Histogram {
	h := hist.New(c.layout)
	for _, b := range c.bins {
		h.AddAt(b.Index, b.Count)
	}
	return h
}

// merge adds a later column, or more of the same window.
func (c *column) merge(o *column) {
	if o.end.After(c.end) {
		c.end = o.end
	}
	c.windows += o.windows
	c.longest = max(c.longest, o.longest)
	c.completed += o.completed
	c.lowest, c.most = min(c.lowest, o.lowest), max(c.most, o.most)
	for i, v := range o.worst {
		c.worst[i] = higher(c.worst[i], v)
	}
	c.add(o)
}

// add adds the requests of another column.
func (c *column) add(o *column) {
	switch {
	case len(o.bins) == 0:
	case len(c.bins) == 0:
		c.layout, c.bins = o.layout, o.bins
	case c.layout == o.layout:
		c.bins = sum(c.bins, o.bins)
	default:
		h := c.histogram()
		h.Merge(o.histogram())
		c.layout, c.bins = h.Layout(), h.Weights()
	}
}

// sum adds bins of one layout, without the memory of a histogram.
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
	if ms := c.end.Sub(c.start).Milliseconds(); ms > 0 {
		c.iops = float64(c.completed) * 1000 / float64(ms)
	}
	c.at = noLatencies
	if h := c.histogram(); !h.IsEmpty() {
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
	columns []column
	width   int64 // of a column, milliseconds of nominal time; 0: a window each
	step    int64 // from one window to the next at least
	worst   moments
}

// add adds the next window.
func (s *series) add(c *column) {
	n := len(s.columns)
	if s.width == 0 && n > 1 { // a run may cut its first window
		if apart := c.elapsed - s.columns[n-1].elapsed; s.step == 0 || apart < s.step {
			s.step = apart
		}
	}
	s.worst.see(c)
	if s.width > 0 && s.slot(&s.columns[n-1]) == s.slot(c) {
		s.columns[n-1].merge(c)
	} else {
		s.columns = append(s.columns, *c)
	}
	if len(s.columns) > spare*s.limit {
		s.join(2 * max(s.width, s.step, 1))
	}
}

// slot is the place of a column on the grid of columns. A run may cut its first window, so the grid begins at the
// second.
func (s *series) slot(c *column) int64 {
	since := c.elapsed - s.columns[min(1, len(s.columns)-1)].elapsed
	if since < 0 {
		return -1
	}
	return since / s.width
}

// join makes columns so many milliseconds wide.
func (s *series) join(width int64) {
	s.width = width
	slots := make([]int64, len(s.columns))
	for i := range s.columns {
		slots[i] = s.slot(&s.columns[i])
	}
	kept := s.columns[:1]
	for i := 1; i < len(slots); i++ {
		if slots[i] == slots[i-1] {
			kept[len(kept)-1].merge(&s.columns[i])
			continue
		}
		kept = append(kept, s.columns[i])
	}
	clear(s.columns[len(kept):])
	s.columns = kept
}

// finish ends the series.
func (s *series) finish() {
	if n := len(s.columns); n > s.limit {
		wide := max(s.width, s.step, 1)
		span := s.columns[n-1].elapsed - s.columns[1].elapsed
		slots := span/wide + 1
		others := int64(s.limit - 1) // the first window may be cut, and has a column of its own
		s.join((slots + others - 1) / others * wide)
	}
	for i := range s.columns {
		s.columns[i].finish()
	}
}

// follows reports whether column i begins where the one before ends.
func (s *series) follows(i int) bool {
	return i > 0 && s.columns[i].gap(&s.columns[i-1]) == 0
}

// gap is the time between a column and the one before. A time too short for a window is no gap, because rows may be
// late.
func (c *column) gap(before *column) time.Duration {
	gap := c.start.Sub(before.end)
	if gap <= max(c.longest, before.longest)/2 {
		return 0
	}
	return gap
}

// joined is the largest number of windows in a column.
func (s *series) joined() int {
	most := 0
	for i := range s.columns {
		most = max(most, s.columns[i].windows)
	}
	return most
}
