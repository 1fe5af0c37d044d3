package slo

import (
	"fmt"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/mapping"
)

// Rule is an objective, made by [Parse]. Rules are equal if they mean the same and were written with the same units.
type Rule struct {
	Direction string // one of [mapping.Directions]; empty: each
	Metric    facts.Metric
	operator  string // <, <=, > or >=
	limit     number
	share     number // share of windows; zero if the rule is not about windows
	lasts     number // how long windows must break it without a break, in nanoseconds; zero: in one
}

type number struct {
	text  string // in one form: "10ms"
	value float64
}

// everyWindow is the share that means all windows.
var everyWindow = number{"100%", 1}

// Parse parses a rule in the grammar of the package comment. A mistake is an [*expr.Error].
func Parse(text string) (Rule, error) {
	p := expr.New(text)
	r, at := Rule{}, p.At()
	var ok bool
	if r.Direction, r.Metric, ok = facts.ReadSubject(p); !ok {
		p.Want(at, "a percentile such as p99.9, or min, mean, max, within 100ms, iops or requests")
	}
	if r.Direction == mapping.Sync && !r.Metric.IsOf(r.Direction) {
		p.Want(at, "a latency or requests: syncs have no IOPS")
	}
	if r.operator = p.Op("<=", ">=", "<", ">"); r.operator == "" {
		p.Want(p.At(), "<, <=, > or >=")
	}
	switch r.Metric.Kind {
	case expr.Latency:
		r.limit = quantity(p, expr.Latency)
	case expr.Percent:
		r.limit = quantity(p, expr.Percent)
	default:
		r.limit = quantity(p, expr.Count)
	}
	if at = p.At(); p.Keyword("in") {
		if r.Metric.Kind == expr.Count {
			p.Want(at, "the end (requests count over the whole run; in windows use iops)")
		}
		at = p.At()
		if p.Keyword("every") {
			if r.share = everyWindow; !p.Keyword("window") {
				p.Want(p.At(), `"window"`)
			}
		} else {
			if r.share = quantity(p, expr.Percent); r.share.value == 0 {
				p.Want(at, `a share above 0%, or "every window"`)
			}
			for _, word := range []string{"of", "windows"} {
				if !p.Keyword(word) {
					p.Want(p.At(), fmt.Sprintf("%q", word))
				}
			}
			if r.share.value == 1 {
				r.share = everyWindow
			}
		}
	}
	if at = p.At(); p.Keyword("for") {
		if r.Metric.Kind == expr.Count {
			p.Want(at, "the end (requests count over the whole run; use iops)")
		} else if r.share != everyWindow && r.InWindows() {
			p.Want(at, `the end ("for" is about every window)`)
		}
		if r.share, r.lasts = everyWindow, quantity(p, expr.Duration); r.lasts.value == 0 {
			p.Want(at, "a time above 0s")
		}
	}
	p.End(`"in 99% of windows", "in every window", "for 30s" or the end`)
	if err := p.Err(); err != nil {
		return Rule{}, fmt.Errorf("%q, %w", text, err)
	}
	return r, nil
}

// quantity parses a quantity that is not negative, and a share of at most 100 %.
func quantity(p *expr.Parser, k expr.Kind) number {
	value, at := p.Quantity(k)
	if value < 0 || k == expr.Percent && value > 1 {
		p.Want(at, k.Want()+", not below 0 or above 100%")
	}
	return number{k.Text(p.Since(at)), value}
}

// String returns the rule in the form that [Parse] accepts.
func (r Rule) String() string {
	text := r.Metric.String() + " " + r.operator + " " + r.limit.text
	if r.Direction != "" {
		text = r.Direction + "." + text
	}
	switch {
	case r.lasts != number{}:
		return text + " for " + r.lasts.text
	case r.share == everyWindow:
		return text + " in every window"
	case r.InWindows():
		return text + " in " + r.share.text + " of windows"
	}
	return text
}

// InWindows reports whether the rule is about single windows.
func (r Rule) InWindows() bool { return r.share != number{} }

// InEveryWindow reports whether each window must meet the rule, or some window in each time of [Rule.Lasts].
func (r Rule) InEveryWindow() bool { return r.share == everyWindow }

// Lasts returns how long windows may break the rule without a break; 0: not at all.
func (r Rule) Lasts() time.Duration { return time.Duration(r.lasts.value) }

// hasLasted reports whether windows break the rule once they break it without a break for a time. Windows of fio's reports are some
// milliseconds shorter than seconds.
func (r *Rule) hasLasted(d time.Duration) bool {
	return d.Round(100*time.Millisecond) >= r.Lasts()
}

// Kind returns the kind of the limit and of the values of verdicts. For rules about windows it is a share of the
// time, or a time that they may be broken. For others it is the kind of their metric.
func (r Rule) Kind() expr.Kind {
	if r.lasts.value > 0 {
		return expr.Duration
	}
	if r.InWindows() {
		return expr.Percent
	}
	return r.Metric.Kind
}

// Limit returns the limit of a verdict's value.
func (r Rule) Limit() float64 {
	if r.lasts.value > 0 {
		return r.lasts.value
	}
	if r.InWindows() {
		return r.share.value
	}
	return r.limit.value
}

// Target returns the operator and the limit for people: "<= 10ms".
func (r Rule) Target() string {
	if r.lasts.value > 0 {
		return "< " + r.lasts.text
	}
	if r.InWindows() {
		return ">= " + r.share.text
	}
	return r.operator + " " + r.limit.text
}

// isAbout reports whether a rule is about a direction. Without one it is about the latencies of syncs, too, and not about how many
// there are: somebody who waits for a request waits for its sync.
func (r *Rule) isAbout(direction string) bool {
	isForAny := direction != mapping.Sync || r.Metric.IsOfHistogram()
	return r.Direction == direction || r.Direction == "" && isForAny
}

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
