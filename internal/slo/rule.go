package slo

import (
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/hist"
)

// Rule is an objective. [Parse] makes rules; the zero value is none. Rules are equal if they were
// written in the same way.
type Rule struct {
	Direction string // read, write or trim; empty: each that there is
	Metric    Metric
	operator  string // <, <=, > or >=
	limit     number
	share     number // of the windows; the zero value: it is not about windows
}

// number is one of a rule, with its unit.
type number struct {
	text  string // as it was written, without upper case and spaces: "10ms"
	value float64
}

// everyWindow is the share of all windows.
var everyWindow = number{"100%", 1}

// String is the rule as [Parse] reads it.
func (r Rule) String() string {
	text := r.Metric.String() + " " + r.operator + " " + r.limit.text
	if r.Direction != "" {
		text = r.Direction + "." + text
	}
	switch {
	case r.share == everyWindow:
		return text + " in every window"
	case r.InWindows():
		return text + " in " + r.share.text + " of windows"
	}
	return text
}

// InWindows reports whether the rule is about single windows.
func (r Rule) InWindows() bool { return r.share != number{} }

// Unit is that of the limit and of verdicts' values: rules about windows have shares of the
// time, others what their metric has.
func (r Rule) Unit() Unit {
	if r.InWindows() {
		return Share
	}
	return r.Metric.Unit()
}

// Limit is the limit for the value of a verdict.
func (r Rule) Limit() float64 {
	if r.InWindows() {
		return r.share.value
	}
	return r.limit.value
}

// Target is the limit and its operator for people: "<= 10ms".
func (r Rule) Target() string {
	if r.InWindows() {
		return ">= " + r.share.text
	}
	return r.operator + " " + r.limit.text
}

// isAbout reports whether the rule is about a direction.
func (r *Rule) isAbout(direction string) bool { return r.Direction == "" || r.Direction == direction }

// isUpper reports whether the limit is an upper one: more is worse.
func (r *Rule) isUpper() bool { return strings.HasPrefix(r.operator, "<") }

// met reports whether a value of the metric is within the limit.
func (r *Rule) met(value float64) bool {
	switch r.operator {
	case "<":
		return value < r.limit.value
	case "<=":
		return value <= r.limit.value
	case ">":
		return value > r.limit.value
	}
	return value >= r.limit.value
}

// Unit is that of a metric's values.
type Unit int

// The units.
const (
	Nanoseconds Unit = iota
	Share            // 0 … 1
	PerSecond
	Requests
)

// Metric is what a rule is about.
type Metric struct {
	name   string  // p99.9, min, mean, max, within, iops or requests
	q      float64 // of a percentile: 0 … 1, without either
	within number  // nanoseconds
}

// String is the metric as in rules: "p99.9", "within 100ms".
func (m Metric) String() string {
	if m.name == "within" {
		return m.name + " " + m.within.text
	}
	return m.name
}

// Unit is that of its values.
func (m Metric) Unit() Unit {
	switch m.name {
	case "within":
		return Share
	case "iops":
		return PerSecond
	case "requests":
		return Requests
	}
	return Nanoseconds
}

// isOfLatency reports whether the metric comes from histograms. The others are counts.
func (m Metric) isOfLatency() bool { return m.Unit() == Nanoseconds || m.Unit() == Share }

// of is the metric's value, of a histogram that is not empty, and the bounds of its error.
func (m Metric) of(h *hist.Histogram) hist.Answer {
	switch m.name {
	case "min":
		return h.Min()
	case "max":
		return h.Max()
	case "mean":
		return h.Mean()
	case "within":
		n, low, high := h.CountWithin(m.within.value)
		total := h.Total()
		isOpen := high > low && h.Layout().Open(h.Layout().Index(int64(m.within.value)))
		return hist.Answer{Value: n / total, Low: low / total, High: high / total, Open: isOpen}
	}
	return h.Percentile(m.q)
}

// percentileOf is the metric of a percentile, such as "99.90", which is p99.9.
func percentileOf(percent string) (Metric, bool) {
	x, err := strconv.ParseFloat(percent, 64)
	if err != nil || !(x > 0 && x < 100) {
		return Metric{}, false
	}
	name := strconv.FormatFloat(x, 'f', -1, 64)
	q, err := strconv.ParseFloat(name+"e-2", 64) // 99.9/100 is not quite 0.999
	return Metric{name: "p" + name, q: q}, err == nil
}
