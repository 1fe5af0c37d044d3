// Package heatmap draws requests by time and latency. A map has cells; a cell is the number of requests in a stretch
// of time and in a band of latency. It is drawn as SVG or as text.
//
// A [Builder] adds up windows to a [Map], which WriteSVG, Fragment and WriteText draw. The package does not know
// documents or files. Latencies are in microseconds if their names say so, and otherwise in nanoseconds.
package heatmap

import (
	"math"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// Map has the number of requests by time and latency.
type Map struct {
	Columns []Column // columns with requests, in order of time
	// Width is the length of a slot, and Slots their number: the columns lie on an even grid. Origin is the begin of
	// slot 0; the first column may begin later.
	Width       time.Duration
	Slots       int
	Origin      time.Time
	Low, High   int   // bands with requests are Low … High-1
	Total, Most int64 // requests in all cells, and in the cell with the most
	// OpenUS is the lowest latency of the last bin in microseconds, if it has requests: then the highest band
	// includes all slower requests. Otherwise it is 0.
	OpenUS float64
}

// Column has the requests in a stretch of time. It ends with its windows, or where the next column begins.
type Column struct {
	window.Span
	First, Last int // its slots are First … Last-1
	Counts      [bands]int64
	Requests    hist.Histogram
}

func (c *Column) merge(other *Column) {
	c.Join(other.Span)
	for i, n := range other.Counts {
		c.Counts[i] += n
	}
	c.Requests.Merge(&other.Requests)
}

// shownAs returns the number of requests by which a cell of the column is coloured. A run may cut its first and last
// windows. Their cells are coloured by their rate, as if they were as long as the others.
func (m *Map) shownAs(c *Column, n int64) int64 {
	// times that the number may grow at most, because the rate of a very short column is not reliable
	const most = 10
	length := c.Length()
	if n == 0 || m.Width <= 0 || length >= m.Width*3/4 {
		return n
	}
	return int64(float64(n)*min(float64(m.Width)/float64(max(length, 1)), most) + 0.5)
}

// End returns the end of the last column.
func (m *Map) End() time.Time { return m.Columns[len(m.Columns)-1].End }

// Start returns the start of the first column.
func (m *Map) Start() time.Time { return m.Columns[0].Start }

// scale is a logarithmic scale from numbers of requests to levels of colour: the lowest number of each level. 1 has
// the lowest level, and the largest number the highest.
type scale []int64

func newScale(most int64, levels int) scale {
	s := make(scale, levels)
	s[0] = 1
	for i := 1; i < levels; i++ {
		s[i] = int64(math.Ceil(math.Pow(float64(most), (float64(i)-0.5)/float64(levels-1))))
	}
	return s
}

// level returns the level of n requests; n is at least 1. Levels for which there is no whole number are never
// returned.
func (s scale) level(n int64) int {
	i := len(s) - 1
	for i > 0 && s[i] > n {
		i--
	}
	return i
}

// has reports whether some number of requests has that level.
func (s scale) has(level int) bool {
	return level == len(s)-1 || s[level] < s[level+1]
}

const (
	// BandsPerDecade is how many bands of latency a power of ten has. A band is 12 % wide; a bin of fio is at most
	// 1.6 % wide.
	BandsPerDecade = 20

	// Powers of ten of microseconds. fio's finest bins are nanoseconds. The highest bound is 88 hours, more than the
	// slowest request of a fio that was rebuilt for latencies of minutes.
	lowestDecade, highestDecade = -3, 11

	bands = (highestDecade-lowestDecade)*BandsPerDecade + BandsPerDecade/2
)

// Bound returns the lowest latency of band i in microseconds, 10^(i/20 - 3), rounded to six digits as in Kibana's
// dashboards. A band is [Bound(i), Bound(i+1)).
func Bound(i int) float64 { return bounds()[i] }

// bounds are the lower bounds of all bands, and the end of the last one.
var bounds = sync.OnceValue(func() *[bands + 1]float64 {
	list := new([bands + 1]float64)
	for i := range list {
		exact := math.Pow(10, float64(i)/BandsPerDecade+lowestDecade)
		// cannot fail: FormatFloat wrote the text
		list[i], _ = strconv.ParseFloat(strconv.FormatFloat(exact, 'g', 6, 64), 64)
	}
	return list
})

// bandsOf returns, for each bin of a layout, the band of its middle.
func bandsOf(l hist.Layout) []int {
	list := make([]int, l.Len())
	for i := range list {
		list[i] = bandOf(l.Middle(i) / 1000)
	}
	return list
}

// bandOf returns the band of a latency. Latencies below or above all bands are in the nearest band.
func bandOf(us float64) int {
	above := sort.Search(bands+1, func(i int) bool { return Bound(i) > us })
	return min(max(above-1, 0), bands-1)
}

// Builder adds up windows to the columns of a map. Windows may come in any order.
type Builder struct {
	limit   int
	longest int64   // longest window, in milliseconds
	open    float64 // OpenUS of the map
	columns *window.Columns[Column]
	bands   map[hist.Layout][]int
}

// spare is how many times the columns of the map are kept while more windows may come. With only 2, the map could
// end with half as many columns as it may have.
const spare = 8

// NewBuilder returns a builder of a map with at most this number of columns.
func NewBuilder(columns int) *Builder {
	return &Builder{limit: columns, columns: window.NewColumns(spare*columns, (*Column).merge), bands: map[hist.Layout][]int{}}
}

// Add adds a window and the histogram of its requests, whose counts must be whole.
func (b *Builder) Add(w *window.Window, requests *hist.Histogram) {
	if requests.IsEmpty() {
		return
	}
	layout := requests.Layout()
	if b.bands[layout] == nil {
		b.bands[layout] = bandsOf(layout)
	}
	c := b.columns.At(w.ElapsedMS)
	c.Span.Add(w)
	for i, n := range requests.All() {
		c.Counts[b.bands[layout][i]] += int64(n)
		if layout.Open(i) {
			low, _ := layout.Bounds(i)
			b.open = max(b.open, float64(low)/1000)
		}
	}
	c.Requests.Merge(requests)
	b.longest = max(b.longest, w.Length().Milliseconds())
}

// Map returns the map of the windows so far.
func (b *Builder) Map() *Map { return b.MapOf(b.limit, 0) }

// MapOf returns the map with at most most columns, and with room for a run of some length.
func (b *Builder) MapOf(most int, length time.Duration) *Map {
	m := &Map{OpenUS: b.open}
	columns, starts := b.columns.All(), b.columns.Starts()
	if len(columns) == 0 {
		return m
	}
	// The length of a slot is the step of the windows. If there are gaps between all windows, it is their length.
	ms, width := float64(b.columns.Step()), float64(b.columns.Width())
	if len(columns) == 1 {
		ms = max(float64(b.longest), width)
	} else if b.longest > 0 {
		parts := math.Round(ms / float64(b.longest))
		ms /= min(max(parts, 1), ms/width)
	}
	// Slots count from the second column, because a run may cut the first one.
	slots := make([]int64, len(columns))
	apart := func(i, j int) int64 { return int64(math.Round(float64(starts[j]-starts[i]) / ms)) }
	for i := 1; i < len(columns); i++ {
		slots[i] = max(apart(0, 1), 1) + apart(1, i)
	}
	last := len(columns) - 1
	total := slots[last] + max(int64(math.Round(float64(columns[last].Length().Milliseconds())/ms)), 1)
	total = max(total, int64(float64(length.Milliseconds())/ms))
	joined := (total + int64(most) - 1) / int64(most)
	grouped := window.NewColumns(len(columns)+1, (*Column).merge)
	for i, c := range columns {
		grouped.At(slots[i] / joined).merge(c)
	}
	m.Width = time.Duration(ms * float64(joined) * float64(time.Millisecond))
	m.Slots = int((total + joined - 1) / joined)

	columns, slots = grouped.All(), append(grouped.Starts(), int64(m.Slots))
	m.Low = bands
	for i, c := range columns {
		if i+1 < len(columns) {
			if after := columns[i+1].Start; c.End.After(after) && after.After(c.Start) {
				c.End = after
			}
		}
		long := max(int((c.Length()+m.Width/2)/m.Width), 1)
		c.First = int(slots[i])
		c.Last = min(c.First+long, int(slots[i+1]))
		for band, n := range c.Counts {
			if n > 0 {
				m.Low, m.High = min(m.Low, band), max(m.High, band+1)
				m.Total += n
				m.Most = max(m.Most, n)
			}
		}
		m.Columns = append(m.Columns, *c)
	}
	second := m.Columns[min(1, len(m.Columns)-1)] // not the first, because a run may cut it
	m.Origin = second.Start.Add(-time.Duration(second.First) * m.Width)
	return m
}

// Row is a cell that has requests.
type Row struct {
	run      *mapping.RunInfo
	column   *Column
	band     int
	requests int64
	isOpen   bool // some lie in fio's last bin, so the cell has no upper bound
}

func (r *Row) of() *mapping.RunInfo { return r.run }

// Columns returns the columns of cells for tables.
func Columns() []table.Column[*Row] {
	return slices.Concat(
		facts.RunColumns((*Row).of),
		facts.TimeColumns((*Row).of, func(r *Row) time.Time { return r.column.Start }, func(r *Row) time.Time { return r.column.End }),
		[]table.Column[*Row]{
			// the band is [low, high)
			{Name: "low", Unit: "us", Value: func(r *Row) any { return Bound(r.band) }},
			{Name: "high", Unit: "us", Value: func(r *Row) any { return Bound(r.band + 1) }},
			{Name: "requests", Value: func(r *Row) any { return r.requests }},
			{Name: "open", Sparse: true, Value: func(r *Row) any { return r.isOpen }},
		},
	)
}

// Rows returns the cells that have requests, sorted by time, then by latency.
func (m *Map) Rows(run *mapping.RunInfo) (rows []*Row) {
	for i := range m.Columns {
		for band, n := range m.Columns[i].Counts {
			if n > 0 {
				rows = append(rows, &Row{run, &m.Columns[i], band, n, m.OpenUS > 0 && m.OpenUS < Bound(band+1)})
			}
		}
	}
	return rows
}
