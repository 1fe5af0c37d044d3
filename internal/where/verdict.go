package where

import "cmp"

// verdict says whether a condition is met. "and" has the lowest verdict of its parts, "or" the highest.
type verdict int8

const (
	no        verdict = iota
	undecided         // the run lacks the values that decide it
	yes
)

func verdictOf(isMet bool) verdict {
	if isMet {
		return yes
	}
	return no
}

// always returns a test of a value that is known exactly.
func always(passes func(value any) bool) func(value any) verdict {
	return func(v any) verdict { return verdictOf(passes(v)) }
}

// AtLeast is a lower bound of a latency in microseconds: the latency lies in fio's last bin, which has no upper end.
type AtLeast float64

// order compares a number, or a lower bound of one, with another number.
func order(value any, op string, want float64) verdict {
	bound, isBound := value.(AtLeast)
	switch {
	case !isBound:
		return verdictOf(inOrder(cmp.Compare(value.(float64), want), op))
	case float64(bound) > want || float64(bound) == want && (op == "<" || op == ">="):
		return verdictOf(inOrder(1, op)) // the value is greater, or equal and greater give the same answer
	}
	return undecided
}
