package workload

import (
	"fmt"
	"strings"

	"github.com/fio2es/fio2es/internal/trend"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Standing says in a line which p99 new runs of a workload have, and how it lies to that of runs before them with the same settings:
// "p99 of reads 6.27ms, slower than the 4 runs before (1.90ms to 2.10ms); of writes 48.7µs (the 4 runs before: 40.0µs to 61.0µs)". It is
// slower or faster only if it lies beyond all of at least [trend.LeastLevel] runs. It is empty if no p99 is known.
func Standing(now, before []*mapping.Run) string {
	isNew := map[string]bool{}
	for _, run := range now {
		isNew[run.Run.ID] = true
	}
	var parts []string
	for _, s := range (&Workload{Runs: append(before[:len(before):len(before)], now...)}).Series(MustNumbers("p99"), LeastChange) {
		var is, was []trend.Value
		for i, run := range s.Runs {
			if isNew[run.Run.ID] {
				is = append(is, s.Values[i])
			} else {
				was = append(was, s.Values[i])
			}
		}
		if len(is) == 0 {
			continue
		}
		text := fmt.Sprintf("of %s %s", mapping.Plural(s.Direction), s.spanText(is))
		if len(is) > 1 {
			text += " in " + unit.Plural(len(is), "run")
		}
		if before := "the run before"; len(was) > 0 {
			if len(was) > 1 {
				before = fmt.Sprintf("the %d runs before", len(was))
			}
			fastest, slowest := extremes(was)
			low, high := extremes(is)
			switch isFew := len(was) < trend.LeastLevel; {
			case !isFew && low.Low > slowest.High:
				text += fmt.Sprintf(", slower than %s (%s)", before, s.spanText(was))
			case !isFew && high.High < fastest.Low:
				text += fmt.Sprintf(", faster than %s (%s)", before, s.spanText(was))
			default:
				text += fmt.Sprintf(" (%s: %s)", before, s.spanText(was))
			}
		}
		parts = append(parts, text)
	}
	if len(parts) == 0 {
		return ""
	}
	return "p99 " + strings.Join(parts, "; ")
}

// extremes returns the lowest and the highest of some values.
func extremes(values []trend.Value) (low, high trend.Value) {
	low, high = values[0], values[0]
	for _, v := range values {
		if v.Low < low.Low {
			low = v
		}
		if v.High > high.High {
			high = v
		}
	}
	return low, high
}

// spanText returns the lowest and the highest of some values for people: "1.90ms to 2.10ms".
func (s *Series) spanText(values []trend.Value) string {
	low, high := extremes(values)
	if low == high {
		return s.TextOf(low)
	}
	return s.TextOf(low) + " to " + s.TextOf(high)
}
