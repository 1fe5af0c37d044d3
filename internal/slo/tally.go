package slo

import (
	"cmp"
	"slices"
)

// tally adds up what windows say about a rule, in milliseconds of their lengths.
type tally struct {
	judged, held  int64 // all windows that say something; those in which the rule is met
	open          int64 // windows that are unknown, because the latency has no upper bound
	surely, maybe int64 // windows in which it is met at all bounds of their error; at one at least
	worst         Moment
	broken        []Moment // windows, in no order
}

func (t *tally) add(r *Rule, w passed, o outcome) {
	m, length := Moment{w.start, w.end, o.Value, o.Open}, w.end-w.start
	if length <= 0 {
		return
	}
	if t.judged == 0 || worse(m, t.worst, r.isUpper()) {
		t.worst = m
	}
	t.judged += length
	if o.surely {
		t.surely += length
	}
	if o.maybe {
		t.maybe += length
	}
	switch {
	case o.met:
		t.held += length
	case o.isUnknown:
		t.open += length
	default:
		t.broken = append(t.broken, m)
	}
}

// worse reports whether m is worse than another moment: of the same value, if it is earlier.
func worse(m, than Moment, upper bool) bool {
	if m.Value == than.Value {
		return m.Start < than.Start
	}
	return (m.Value > than.Value) == upper
}

// stretches are the first window that is broken and the longest stretch of them, between
// which there is less than a gap.
func (t *tally) stretches(gap int64, upper bool) (first, longest Moment) {
	slices.SortFunc(t.broken, func(a, b Moment) int { return cmp.Compare(a.Start, b.Start) })
	var open Moment
	for i, m := range t.broken {
		switch {
		case i == 0:
			first, open = m, m
		case m.Start-open.End < gap:
			open.End = max(open.End, m.End)
			if worse(m, open, upper) {
				open.Value, open.Open = m.Value, m.Open
			}
		default:
			open = m
		}
		if open.End-open.Start > longest.End-longest.Start {
			longest = open
		}
	}
	return first, longest
}
