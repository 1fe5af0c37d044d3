package slo

import (
	"cmp"
	"slices"
)

// tally adds up the results of a rule in windows, as milliseconds of their lengths.
type tally struct {
	judged, held  int64   // all windows that count; windows in which the rule is met
	open          int64   // windows that are unknown, because the latency has no upper bound
	surely, maybe int64   // windows in which the rule is met at all values within the error bounds; at some of them
	lengths       []int64 // of the windows with requests in which the rule is met
	worst         Moment
	broken        []Moment // broken windows, in any order
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
		if t.held += length; w.completed > 0 {
			t.lengths = append(t.lengths, length)
		}
	case o.isUnknown:
		t.open += length
	default:
		t.broken = append(t.broken, m)
	}
}

// longer returns the milliseconds of windows in which the rule is met although they are much longer than a usual one,
// because fio's reports came late. The rule may be broken in a part of them.
func (t *tally) longer(usual int64) (sum int64) {
	for _, length := range t.lengths {
		if length > usual+usual*3/4 {
			sum += length
		}
	}
	return sum
}

// worse reports whether m is worse than another moment. If their values are equal, the earlier one is worse.
func worse(m, than Moment, upper bool) bool {
	if m.Value == than.Value {
		return m.Start < than.Start
	}
	return (m.Value > than.Value) == upper
}

// stretches returns the first broken window, and the longest stretch of broken windows with less than gap between
// them.
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
