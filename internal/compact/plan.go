package compact

import (
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/mapping"
)

// Plan says what compacting would do.
type Plan struct {
	Runs    []*mapping.Run // runs to compact, the oldest first
	LeftOut []LeftOut
	Already int          // number of runs whose windows are long enough
	Last    *mapping.Run // the run among these that was compacted last; nil if there is none

	Before int // number of interval documents of Runs
	After  int // approximate number afterwards; it depends on gaps
}

// LeftOut is a run that cannot be compacted, with the reason.
type LeftOut struct {
	Run    *mapping.Run
	Reason string
}

// NewPlan plans to compact runs to windows of a length. The runs need no histograms. It reads nothing.
func NewPlan(runs []*mapping.Run, length time.Duration) *Plan {
	p := &Plan{}
	for _, r := range runs {
		reason := unfit(r, length.Milliseconds())
		switch {
		case reason != "":
			p.LeftOut = append(p.LeftOut, LeftOut{r, reason})
		case r.IntervalMS >= length.Milliseconds():
			p.Already++
			if at := r.Run.Compacted.At; !at.IsZero() && (p.Last == nil || at.After(p.Last.Run.Compacted.At)) {
				p.Last = r
			}
		default:
			p.Runs = append(p.Runs, r)
			for _, l := range mapping.Levels {
				n := r.Documents.Of(l)
				p.Before += n
				p.After += about(r, n, length)
			}
		}
	}
	slices.SortStableFunc(p.Runs, func(a, b *mapping.Run) int { return a.Run.Start.Compare(b.Run.Start) })
	return p
}

// about returns about how many windows n windows of a run become. Each series has one for each part of the run, and
// a shorter one at the end.
func about(run *mapping.Run, n int, length time.Duration) int {
	parts := func(of time.Duration) int { return int(max((run.Run.End.Sub(run.Run.Start)+of-1)/of, 1)) }
	before := parts(time.Duration(run.IntervalMS) * time.Millisecond)
	return (n*parts(length) + before - 1) / before
}

// unfit returns why a run cannot be compacted to windows of ms milliseconds, or "".
func unfit(r *mapping.Run, ms int64) string {
	switch {
	case r.Run.Live():
		return "it is not over: its files are still followed"
	case r.Run.Partial:
		return "some of its files are missing, and may follow"
	case r.Documents == mapping.Documents{}:
		return "it has no windows"
	case r.IntervalMS <= 0:
		return "its windows are not of one length"
	case r.IntervalMS < ms && ms%r.IntervalMS != 0:
		return fmt.Sprintf("its windows of %s do not fit into longer ones of %s", facts.Length(r.IntervalMS), facts.Length(ms))
	}
	return ""
}
