package pipeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// tail finds the requests that an entry counts beyond the rows of its logs, because fio did not
// log them. All rows must have been read.
type tail struct {
	covered
	totals   bool // no job of the run has rows: it has totals, and no windows
	problems *Problems
}

// rows are the rows that fio did not log.
func (t tail) rows() (rows []align.Row) {
	parts := t.parts()
	for d, part := range parts {
		if part == nil || part.IsEmpty() {
			continue
		}
		if row, ok := t.place(fiolog.Direction(d), part); ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// parts returns the requests of each direction that are in no row. A part is nil if it is unknown.
func (t tail) parts() (parts [fiolog.Directions]*hist.Histogram) {
	if !t.IsMixed {
		for d := range fiolog.Direction(fiolog.Directions) {
			parts[d] = t.rest(d)
		}
		return parts
	}
	all, shares := t.loggedAll()
	rest := t.mixedRest(all)
	if rest == nil {
		return parts
	}
	if n := rest.Total(); n > 0 && shares[0] != all.Total() && shares[1] != all.Total() && shares[2] != all.Total() {
		t.problems.note("%s: fio reported all directions in one (unified_rw_reporting): the %.0f requests of its "+
			"end are divided in proportion to those before", t.Describe(), n)
	}
	return shareOut(rest, shares)
}

// rest returns the requests of a direction that are in the report and not in the logs. It is nil if there
// are none, or if they are unknown and were counted as missing.
func (t tail) rest(d fiolog.Direction) *hist.Histogram {
	stats, logged := &t.Directions[d], t.logged(d)
	left := float64(t.Measured(stats)) - logged.Total()
	switch _, ok := t.Failed(stats); {
	case stats.Uncounted, stats.TotalIOs == 0 && logged.IsEmpty():
		return nil
	case t.isOutrun(d):
		t.problems.skip(fmt.Errorf("%s: its report ends after %d ms and %d requests, its logs have %.0f requests of %d ms: fio was "+
			"killed or had no room for its last report; the logs count, without the last part of an interval of the job", t.describeOf(d),
			t.Ran, t.Measured(stats), logged.Total(), t.last()))
		return nil
	case left < 0:
		t.problems.skip(fmt.Errorf("%s: its logs have %.0f requests, more than the %d of the report: some rows "+
			"are of another run, or are there twice; keep the files of each run in a folder of their own",
			t.describeOf(d), logged.Total(), t.Measured(stats)))
		return nil
	case len(stats.Clat.Bins) == 0:
		isEmpty := stats.Clat.Mean > 0 && t.withRows() == 0 && t.WantsRows() && t.Ran > 2*t.interval()
		if !t.totals && !t.Several && (isEmpty || t.isCut(d, left)) {
			t.problems.skip(fmt.Errorf(cutLog, t.describeOf(d), int64(left), t.last(), t.Ran))
		}
		t.miss(d, int64(left))
		return nil
	case !ok:
		t.problems.skip(t.Miscounted(stats, false))
		t.miss(d, int64(left))
		return nil
	}
	rest := inLayoutOf(t.Histogram(stats), logged)
	switch {
	case !rest.Subtract(logged):
		t.problems.skip(fmt.Errorf("%s: the bins of its logs are not among those of the report: the logs are of "+
			"another run, or were changed; keep the files of each run in a folder of their own", t.describeOf(d)))
		t.miss(d, int64(left))
		return nil
	case t.isTorn(): // which of the rest is the tail is unknown
		t.miss(d, int64(rest.Total()))
		return nil
	}
	return rest
}

// mixedRest is rest for a report that has all directions in one (unified_rw_reporting). The rows of the
// logs have directions; all is their sum.
func (t tail) mixedRest(all *hist.Histogram) *hist.Histogram {
	left := float64(t.Measured(t.Mixed)) - all.Total()
	rest := inLayoutOf(t.Histogram(t.Mixed), all)
	switch _, ok := t.Failed(t.Mixed); {
	case left < 0:
		t.problems.skip(fmt.Errorf("%s: its logs have %.0f requests, more than the %d of the report; keep the "+
			"files of each run in a folder of their own", t.Describe(), all.Total(), t.Measured(t.Mixed)))
		return nil
	case !ok || all.IsEmpty() || rest.IsEmpty() || t.isTorn() || !rest.Subtract(all):
		t.miss(fiolog.Read, int64(left))
		if !ok {
			t.problems.skip(t.Miscounted(t.Mixed, false))
		}
		return nil
	}
	return rest
}

// inLayoutOf returns h in the layout merged with that of other. If h has this layout or other is empty, it returns h.
func inLayoutOf(h, other *hist.Histogram) *hist.Histogram {
	if l := other.Layout().Merged(h.Layout()); l != h.Layout() && !other.IsEmpty() {
		return h.To(l)
	}
	return h
}

// shareOut divides the requests of each bin in proportion to shares, into whole requests.
// Rounding errors cancel out over the bins.
func shareOut(rest *hist.Histogram, shares [fiolog.Directions]float64) (parts [fiolog.Directions]*hist.Histogram) {
	sum := 0.0
	for d := range shares {
		parts[d] = hist.New(rest.Layout())
		sum += shares[d]
	}
	var due, given [fiolog.Directions]float64
	for i, n := range rest.All() {
		left := n
		for d := range shares {
			due[d] += n * shares[d] / sum
			part := math.Min(math.Max(math.Round(due[d])-given[d], 0), left)
			if d == len(shares)-1 {
				part = left
			}
			parts[d].AddAt(i, part)
			given[d] += part
			left -= part
		}
	}
	return parts
}

// place makes a row of the rest, between the last row and the end of the job. It returns false if that time is too long
// for the last part of an interval, or if there are too many requests for it. Then logs end early or rows are missing,
// and the times of these requests are unknown.
func (t tail) place(d fiolog.Direction, rest *hist.Histogram) (align.Row, bool) {
	row := t.row(d, rest)
	interval := t.interval()
	tooLong := interval == 0 || row.End-row.Start > 2*interval+interval/10
	switch {
	case t.totals && !t.WantsRows() && tooLong:
		return row, false // reported once for the run
	case t.withRows() > 0 && t.withRows() < t.Size: // the rest has all requests of jobs without a log, which are reported as that
	case t.isShort(d):
		t.problems.note("%s: %d requests of the report are in no row of its log: fio writes the first row of a direction %d ms after "+
			"its first request, and these came in less, as in a short verify phase; they count in the run's totals, and in no window; "+
			"run fio with a shorter --log_hist_msec", t.describeOf(d), row.Total, interval)
	case !t.Several && t.isCut(d, rest.Total()):
		t.problems.skip(fmt.Errorf(cutLog, t.describeOf(d), row.Total, row.Start, t.Ran))
	case tooLong && len(t.Jobs) > 1 && t.Ran-t.last() <= 2*interval:
		t.problems.skip(fmt.Errorf("%s: %d requests of the report are in no row of its logs, which end from %d to %d ms: its jobs did not end together, "+
			"so when these requests completed is unknown; they count in the run's totals, and in no window; "+
			"run fio without group_reporting, or if a log was cut, copy it again", t.describeOf(d), row.Total, row.Start, t.last()))
	case t.Several: // one stage may lack few requests, and another many
		t.problems.note("%s: %d requests of the report are not in its log: those at the ends of its stages, which fio does not log; "+
			"they count in the run's totals, and in no window; run fio with --per_job_logs=1", t.describeOf(d), row.Total)
	case tooLong || t.isCrowded(row):
		t.problems.skip(fmt.Errorf(cutLog, t.describeOf(d), row.Total, row.Start, t.Ran))
	default:
		first := &t.tallies[0].directions[d]
		first.recovered += int64(row.Total)
		first.end = max(first.end, row.End)
		return row, true
	}
	t.miss(d, int64(rest.Total()))
	return row, false
}

// cutLog is the message for rows that are missing at the end of a log, or somewhere in it.
const cutLog = "%s: %d requests of the report are not in its log, which ends at %d ms of %d: rows are missing; they count in the " +
	"run's totals, and in no window; copy the log again"

// isShort reports whether all requests of a direction completed in less than an interval. The direction then has no
// row, and the rows of other directions reach the last full interval of the job.
func (t tail) isShort(d fiolog.Direction) bool {
	interval := t.interval()
	return interval > 0 && t.requests(d) == 0 && t.last() > 0 && t.Ran-t.last() <= 2*interval
}

// isCrowded reports whether a row of the rest has far more requests than the rows before it. Then other rows are
// missing, too.
func (t tail) isCrowded(row align.Row) bool {
	const far = 4
	last, around := t.last(), t.interval()
	if row.Start == row.End && row.End < t.Ran && t.isExact() {
		around /= 20 // the row after a stall was due: fio would have written it at the next request
	}
	usual := perSecond(t.requests(row.Direction), last) * float64(row.End-row.Start+around) / 1000
	return last > 0 && float64(row.Total) > far*usual
}

// withRows returns the number of jobs whose logs have rows.
func (t tail) withRows() (n int) {
	for _, j := range t.Jobs {
		if j.HasRows {
			n++
		}
	}
	return n
}

// isExact reports whether the interval of all jobs is known, not measured.
func (t tail) isExact() bool {
	return !slices.ContainsFunc(t.Jobs, func(j *plan.Job) bool { return !j.Exact })
}

// isCut reports whether logs without errors lack rows at their ends or begins, of which the rest has n requests. fio
// writes a row with the first completion after it was due. So either nothing completed then, or the row was lost. The
// number of requests shows which of the two is closer.
func (t tail) isCut(d fiolog.Direction, n float64) bool {
	usual, by, may := 0.0, 0.0, false
	for i, of := range t.tallies {
		interval, c := t.Jobs[i].Interval, &of.directions[d]
		if c.requests == 0 || interval == 0 || of.damaged {
			continue
		}
		end := t.endOf(i)
		from, due := of.split.Tail(d, end, true)
		intervals := 1.0                     // also after a late row, whose requests may be a burst
		if c.start >= interval-interval/50 { // a direction that began late, or its first row was lost
			intervals = 0.5 + float64(due-from)/float64(interval)
			may = true
		}
		intervals += float64(end-due) / float64(2*interval)
		may = may || end-due > interval/10
		usual += float64(c.most) * intervals
		by += float64(c.most - c.least)
	}
	return may && usual > 0 && n > usual+min(by, 2*math.Sqrt(usual)) // requests that come by chance are not as many in each row
}

// endOf returns when a job of the entry ended, in milliseconds since its start.
func (t tail) endOf(i int) int64 { return max(t.Ran, t.Jobs[i].Ran) }

// row is the row of the rest, between the last row and the end.
func (t tail) row(d fiolog.Direction, rest *hist.Histogram) align.Row {
	from, to := int64(-1), int64(0)
	some := slices.ContainsFunc(t.tallies, func(of *tally) bool { return of.directions[d].requests > 0 })
	for i, of := range t.tallies {
		if some && of.directions[d].requests == 0 {
			continue // a job of a group without this direction
		}
		f, end := of.split.Tail(d, t.endOf(i), !of.damaged)
		if from < 0 || f < from {
			from = f
		}
		to = max(to, end)
	}
	return align.NewRow(from, to, d, rest)
}
