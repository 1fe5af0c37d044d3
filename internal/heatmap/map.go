package heatmap

import (
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
)

// Map is requests by time and latency.
type Map struct {
	Columns []Column // those that have requests, in order of time
	// Width is the time of a slot, and Slots are how many there are: columns on an even
	// grid. Origin is where slot 0 begins; the first column may begin later.
	Width       time.Duration
	Slots       int
	Origin      time.Time
	Low, High   int   // bands with requests: Low … High-1
	Total, Most int64 // requests of all cells, and of the one that has most
	// OpenUS is the lowest latency of the last bin, in microseconds, if there are requests in it: then
	// the highest band has all slower requests too. Else 0.
	OpenUS float64
}

// Column contains the requests of a stretch of time. It ends where its windows end, or where the next column begins.
type Column struct {
	window.Span
	First, Last int // its slots: First … Last-1
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

// place fills the map with columns that start at slots.
func (m *Map) place(columns *window.Columns[Column]) {
	m.Low = bands
	slots := append(columns.Starts(), int64(m.Slots))
	for i, c := range columns.All() {
		if i+1 < len(columns.All()) {
			after := columns.All()[i+1].Start
			if c.End.After(after) && after.After(c.Start) {
				c.End = after
			}
		}
		long := max(int((c.Length()+m.Width/2)/m.Width), 1)
		c.First = int(slots[i])
		c.Last = min(c.First+long, int(slots[i+1]))
		m.count(c)
		m.Columns = append(m.Columns, *c)
	}
	second := m.Columns[min(1, len(m.Columns)-1)] // a run may cut the first
	m.Origin = second.Start.Add(-time.Duration(second.First) * m.Width)
}

func (m *Map) count(c *Column) {
	for band, n := range c.Counts {
		if n == 0 {
			continue
		}
		m.Low, m.High = min(m.Low, band), max(m.High, band+1)
		m.Total += n
		m.Most = max(m.Most, n)
	}
}

// shownAs is the number of requests that gives a cell of the column its colour. A run may cut its first and last
// window. Their cells have the colour of their rate, as if they were as long as the others.
func (m *Map) shownAs(c *Column, n int64) int64 {
	const most = 10 // times: the rate of a shorter column says little
	length := c.Length()
	if n == 0 || m.Width <= 0 || length >= m.Width*3/4 {
		return n
	}
	return int64(float64(n)*min(float64(m.Width)/float64(max(length, 1)), most) + 0.5)
}

// End is where the last column ends.
func (m *Map) End() time.Time { return m.Columns[len(m.Columns)-1].End }

// Start is where the first column begins.
func (m *Map) Start() time.Time { return m.Columns[0].Start }
