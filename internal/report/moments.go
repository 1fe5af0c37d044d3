package report

import (
	"math"
	"time"
)

// moment is when a window was, and the number for which it is reported.
type moment struct {
	at    time.Time
	value float64
}

// moments are the worst windows of a direction, whichever windows are joined to columns.
type moments struct {
	p99     *moment // with the highest p99
	slowest *moment // with the slowest request, by the lowest latency of its bin
	idle    *moment // with the lowest iops, except the first and the last, which may be cut
	gap     *moment // the longest time without windows, in seconds

	seen   int
	before *column
}

func (m *moments) see(c *column) {
	m.p99 = worse(m.p99, c, c.at[ofP99])
	m.slowest = worse(m.slowest, c, c.requests.slowest())
	if m.seen > 0 {
		if gap := c.gap(m.before).Seconds(); gap > 0 && (m.gap == nil || gap > m.gap.value) {
			m.gap = &moment{m.before.End, gap}
		}
	}
	if m.seen > 1 && (m.idle == nil || m.before.iops < m.idle.value) {
		m.idle = &moment{m.before.Start, m.before.iops}
	}
	m.before = c
	m.seen++
}

// worse is the window with the higher value, or the earlier of equal ones.
func worse(m *moment, c *column, value float64) *moment {
	if math.IsNaN(value) || m != nil && value <= m.value {
		return m
	}
	return &moment{c.Start, value}
}
