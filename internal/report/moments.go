package report

import (
	"math"
	"time"
)

// moment is a window, and what makes it worth telling.
type moment struct {
	at    time.Time
	value float64
}

// moments are the worst windows of a direction, each for itself however columns are joined.
type moments struct {
	p99     *moment // with the highest p99
	slowest *moment // with the slowest request, by the lowest latency of its bin
	idle    *moment // with the lowest iops; the first and the last may be cut, and do not count
	gap     *moment // where windows are missing for longest, by the seconds

	seen   int
	before *column
}

// see takes the next window.
func (m *moments) see(c *column) {
	m.p99 = worse(m.p99, c, c.at[ofP99])
	m.slowest = worse(m.slowest, c, c.slowest())
	if m.seen > 0 {
		if gap := c.gap(m.before).Seconds(); gap > 0 && (m.gap == nil || gap > m.gap.value) {
			m.gap = &moment{m.before.end, gap}
		}
	}
	if m.seen > 1 && (m.idle == nil || m.before.iops < m.idle.value) {
		m.idle = &moment{m.before.start, m.before.iops}
	}
	m.before = c
	m.seen++
}

// worse is the window with the higher value, the earlier of equal ones.
func worse(m *moment, c *column, value float64) *moment {
	if math.IsNaN(value) || m != nil && value <= m.value {
		return m
	}
	return &moment{c.start, value}
}

// slowest is the lowest latency of the bin of the slowest request, NaN where there is none.
func (c *column) slowest() float64 {
	if len(c.bins) == 0 {
		return math.NaN()
	}
	low, _ := c.layout.Bounds(c.bins[len(c.bins)-1].Index)
	return micros(float64(low))
}
