package slo

import (
	"cmp"
	"slices"
)

// tally is what windows said of a rule: lengths in milliseconds of all that did, and of
// those in which it held.
type tally struct {
	judged, held  int64
	open          int64 // of those that cannot be judged, as the latency has no upper bound
	surely, maybe int64 // whatever the error of their answers; as it may be
	worst         Moment
	broken        []Moment // windows, in no order
}

// add adds a window's outcome.
func (t *tally) add(r *Rule, w passed, o outcome) {
	m, length := Moment{w.start, w.end, o.value, o.atLeast}, w.end-w.start
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
	case o.holds:
		t.held += length
	case o.open:
		t.open += length
	default:
		t.broken = append(t.broken, m)
	}
}

// worse tells which of two moments is: of the same value, the earlier one.
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
