package slo

import (
	"strings"

	"github.com/fio2es/fio2es/internal/window"
)

// Rule is an objective. [Parse] makes rules; the zero value is none. Rules are equal if they were
// written in the same way.
type Rule struct {
	Direction string // read, write or trim; empty: each that there is
	Metric    window.Metric
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
func (r Rule) Unit() window.Unit {
	if r.InWindows() {
		return window.Share
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
