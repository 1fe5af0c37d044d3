package where

import "cmp"

// verdict is whether a condition is met. The least verdict is that of "and", the greatest that of "or".
type verdict int8

const (
	no        verdict = iota
	undecided         // what is known of the run does not decide it
	yes
)

func verdictOf(isMet bool) verdict {
	if isMet {
		return yes
	}
	return no
}

// always makes a test of a value that is known exactly.
func always(passes func(value any) bool) func(value any) verdict {
	return func(v any) verdict { return verdictOf(passes(v)) }
}

// AtLeast is a latency in microseconds that is a lower bound, because it lies in fio's last bin, which has no upper end.
type AtLeast float64

// order compares a number, or the lower bound of one, with another.
func order(value any, op string, want float64) verdict {
	bound, isBound := value.(AtLeast)
	switch {
	case !isBound:
		return verdictOf(inOrder(cmp.Compare(value.(float64), want), op))
	case float64(bound) > want || float64(bound) == want && (op == "<" || op == ">="):
		return verdictOf(inOrder(1, op)) // greater, or the same answer for equal and greater
	}
	return undecided
}
