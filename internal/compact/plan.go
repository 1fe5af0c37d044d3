package compact

import (
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// Plan says what compacting some runs would do.
type Plan struct {
	Runs    []*mapping.Run // the oldest first
	LeftOut []LeftOut
	Already int          // runs whose windows are long enough
	Last    *mapping.Run // of these the one that was compacted last; nil if none was

	Before int // interval documents of Runs
	After  int // about: gaps decide how many there are
}

// LeftOut is a run that cannot be compacted.
type LeftOut struct {
	Run    *mapping.Run
	Reason string
}

// NewPlan plans to compact runs, given without histograms, to windows of a length. It reads nothing.
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

// about is how many windows n windows of a run become: each series has one for each part of the
// run, also for the last one, which is shorter.
func about(run *mapping.Run, n int, length time.Duration) int {
	parts := func(of time.Duration) int { return int(max((run.Run.End.Sub(run.Run.Start)+of-1)/of, 1)) }
	before := parts(time.Duration(run.IntervalMS) * time.Millisecond)
	return (n*parts(length) + before - 1) / before
}

// unfit is why a run cannot be compacted to windows of ms milliseconds; empty if it can be, or need
// not be.
func unfit(r *mapping.Run, ms int64) string {
	switch {
	case r.Run.Live():
		return "it is not over: its files are still followed"
	case !r.Run.Complete:
		return "it is incomplete: files may follow"
	case r.Documents == mapping.Documents{}:
		return "it has no windows"
	case r.IntervalMS <= 0:
		return "its windows are not of one length"
	case r.IntervalMS < ms && ms%r.IntervalMS != 0:
		own := time.Duration(r.IntervalMS) * time.Millisecond
		return fmt.Sprintf("its windows of %s do not fit into longer ones of %s", unit.Short(own), unit.Short(time.Duration(ms)*time.Millisecond))
	}
	return ""
}
