package report

import (
	"math"
	"time"
)

// moment is the time of an event, such as the worst window, and its value.
type moment struct {
	at    time.Time
	value float64
}

// moments are the worst windows of a direction. They do not depend on which windows are joined to columns.
type moments struct {
	p99     *moment // window with the highest p99
	slowest *moment // window with the slowest request; its number is the lowest latency of the request's bin
	idle    *moment // window with the lowest iops, except the first and the last, which may be cut
	gap     *moment // longest time without windows, in seconds

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

// worse returns c if its value is higher than that of m, and otherwise m.
func worse(m *moment, c *column, value float64) *moment {
	if math.IsNaN(value) || m != nil && value <= m.value {
		return m
	}
	return &moment{c.Start, value}
}
