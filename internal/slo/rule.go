package slo

import (
	"strings"

	"github.com/fio2es/fio2es/internal/window"
)

// Rule is an objective, made by [Parse]. Rules are equal if they were written in the same way.
type Rule struct {
	Direction string // read, write or trim; empty: each direction
	Metric    window.Metric
	operator  string // <, <=, > or >=
	limit     number
	share     number // share of windows; zero if the rule is not about windows
}

// number is a number of a rule, with its unit.
type number struct {
	text  string // as it was written, in lower case and without spaces: "10ms"
	value float64
}

// everyWindow is the share that means all windows.
var everyWindow = number{"100%", 1}

// String returns the rule in the form that [Parse] accepts.
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

// Unit returns the unit of the limit and of the values of verdicts. For rules about windows it is a share of the
// time, for others the unit of their metric.
func (r Rule) Unit() window.Unit {
	if r.InWindows() {
		return window.Share
	}
	return r.Metric.Unit()
}

// Limit returns the limit of a verdict's value.
func (r Rule) Limit() float64 {
	if r.InWindows() {
		return r.share.value
	}
	return r.limit.value
}

// Target returns the operator and the limit for people: "<= 10ms".
func (r Rule) Target() string {
	if r.InWindows() {
		return ">= " + r.share.text
	}
	return r.operator + " " + r.limit.text
}

// isAbout reports whether the rule applies to a direction.
func (r *Rule) isAbout(direction string) bool { return r.Direction == "" || r.Direction == direction }

// isUpper reports whether the limit is an upper limit, so that higher values are worse.
func (r *Rule) isUpper() bool { return strings.HasPrefix(r.operator, "<") }

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
