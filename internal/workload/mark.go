package workload

import (
	"fmt"

	"github.com/fio2es/fio2es/mapping"
)

// LeastChange is the default of the smallest change that is looked for, as a share: 0.03 is 3 %.
const LeastChange = 0.03

// Usual returns the names of the numbers in which changes are looked for by default.
func Usual() []string { return []string{"p50", "p99", "p99.9", "mean", "iops", "bandwidth"} }

// Marks finds the changes of the usual numbers in all workloads of runs. It returns them by the id of the first run
// after each, and their number.
func Marks(runs []*mapping.Run) (changes map[string][]mapping.Change, n int) {
	numbers := MustNumbers(Usual()...)
	changes = map[string][]mapping.Change{}
	for _, w := range Group(runs) {
		for _, s := range w.Series(numbers, LeastChange) {
			for i := range s.Changes {
				id := s.Changes[i].After.Run.ID
				changes[id] = append(changes[id], (&Row{s, &s.Changes[i]}).mark())
				n++
			}
		}
	}
	return changes, n
}

// mark returns the change as documents have it.
func (r *Row) mark() mapping.Change {
	c := r.Change
	return mapping.Change{
		Direction: r.Direction, Metric: r.Number.Name, Verdict: r.Verdict(), Before: digits(c.Level.Before.N), After: digits(c.Level.After.N),
		Percent: percent(c.Level.Ratio.N), BeforeRun: c.Before.Run.ID,
		Text: fmt.Sprintf("%s of %ss %s, was %s: %s (%s)", r.Number.Text, r.Direction,
			r.Number.TextOf(c.Level.After), r.Number.TextOf(c.Level.Before), c.Text(), c.interval()),
	}
}
