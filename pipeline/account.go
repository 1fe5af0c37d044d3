package pipeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// unlogged returns how many of the requests that fio did not log are in windows, and how many of each direction are in
// none.
func (r *runReader) unlogged() (recovered int64, missing [fiolog.Directions]int64) {
	for _, in := range r.rows {
		for d := range missing {
			recovered += in.directions[d].recovered
			missing[d] += in.directions[d].missing
		}
	}
	return recovered, missing
}

// account compares what the logs of an entry have with what its report says. It is complete when all rows of the entry
// were read; while fio runs it is of the rows and reports so far.
type account struct {
	report     *fiolog.Job
	last       int64           // end of the last row, in milliseconds since the start of the entry
	isTorn     bool            // rows are missing in the middle of a log
	all        *hist.Histogram // rows of all directions, if the report has all directions in one (unified_rw_reporting)
	directions [fiolog.Directions]directionAccount
}

type directionAccount struct {
	stats    *fiolog.DirectionStats // of the report
	logged   *hist.Histogram        // sum of the rows; read only
	requests float64                // in the rows
	measured int64                  // requests of the report that have a latency
	isSound  bool                   // the bins of the report have as many requests as were measured

	// isOutrun means that the logs are longer than the report. This has two causes: fio was killed and its jobs still wrote
	// complete logs, or the disk of the report was full.
	isOutrun bool
	// isKilled means that there are no rows, and that the bins of the report have some more or fewer requests than it counts.
	// fio reads both while requests complete. So the last report of a fio that was killed may have this.
	isKilled bool

	whole    *hist.Histogram // bins of all requests: of the report if it has them, otherwise of the rows; read only
	unbinned int64           // requests that the report counts and that are in no bin, neither of the report nor of the rows
	bytes    int64           // by the report
	rates    mapping.Sums    // by the report

	// rest is the share in what the report has beyond the rows, if it has all directions in one; nil if that is unknown.
	rest *hist.Histogram
}

// latest returns the latest report of an entry. While fio runs, newer reports follow.
func (r *runReader) latest(e *plan.Entry) *fiolog.Job {
	for _, j := range e.Jobs {
		if of := r.rows[j].reports; of != nil && of.last != nil {
			return of.last
		}
	}
	return e.Job
}

// account makes the account of an entry from the counts of its jobs.
func (r *runReader) account(e *plan.Entry) *account {
	a := &account{report: r.latest(e), all: &hist.Histogram{}}
	for _, j := range e.Jobs {
		t := r.rows[j]
		a.last, a.isTorn = max(a.last, t.until), a.isTorn || t.damaged && !t.cut
	}
	var shares [fiolog.Directions]float64
	for d := range a.directions {
		of, stats := &a.directions[d], &a.report.Directions[d]
		of.stats, of.logged = stats, &r.rows[e.Jobs[0]].directions[d].sum
		if len(e.Jobs) > 1 {
			of.logged = &hist.Histogram{}
		}
		for _, j := range e.Jobs {
			c := &r.rows[j].directions[d]
			of.requests += float64(c.requests)
			if len(e.Jobs) > 1 {
				of.logged.Merge(&c.sum)
			}
		}
		of.whole, of.measured = of.logged, e.Measured(stats)
		of.bytes, of.rates = int64(stats.IOBytes), mapping.Sums{IOPS: stats.IOPS, Bandwidth: float64(stats.BandwidthBytes)}
		if _, of.isSound = e.Failed(stats); e.Mixed != nil {
			a.all.Merge(of.logged)
			shares[d] = of.logged.Total()
			continue
		}
		const same = 10 // milliseconds by which the clocks of logs and reports may differ
		of.isOutrun = !stats.Uncounted && !e.Several && e.Ran > 0 && a.last > e.Ran+same && int64(of.requests) > of.measured+e.InFlight()
		bins := e.Histogram(stats)
		apart := math.Abs(float64(stats.TotalIOs) - bins.Total())
		of.isKilled = !of.isSound && of.logged.IsEmpty() && apart <= 2+float64(stats.TotalIOs)/100
		if (of.isSound || of.isKilled) && len(stats.Clat.Bins) > 0 && !of.isOutrun {
			of.whole = bins
		}
		if !of.isOutrun && (of.isSound || of.logged.IsEmpty()) { // if bins and total of a damaged report differ, the rows count
			of.unbinned = max(of.measured-int64(of.whole.Total()), 0)
		}
		if n := stats.TotalIOs; n > 0 && of.isOutrun { // requests after the report have the same size as those before
			of.bytes = int64(float64(of.bytes) * of.requests / float64(n))
		}
	}
	if e.Mixed == nil {
		return a
	}
	// Only the rows have directions. The requests that are in no row are divided in proportion to them.
	if !a.all.IsEmpty() && len(e.Mixed.Clat.Bins) > 0 {
		if rest := inLayoutOf(e.Histogram(e.Mixed), a.all); rest.Subtract(a.all) {
			for d, part := range shareOut(rest, shares[:]) {
				a.directions[d].rest, a.directions[d].whole = part, part.Clone()
				a.directions[d].whole.Merge(a.directions[d].logged)
			}
		}
	}
	for d := range a.directions {
		if of, n := &a.directions[d], e.Mixed.TotalIOs; n > 0 {
			share := of.whole.Total() / float64(n)
			of.bytes += int64(float64(e.Mixed.IOBytes) * share)
			of.rates.IOPS += share * e.Mixed.IOPS
			of.rates.Bandwidth += share * float64(e.Mixed.BandwidthBytes)
		}
	}
	return a
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
func shareOut(rest *hist.Histogram, shares []float64) (parts []*hist.Histogram) {
	sum := 0.0
	for _, share := range shares {
		parts = append(parts, hist.New(rest.Layout()))
		sum += share
	}
	due, given := make([]float64, len(shares)), make([]float64, len(shares))
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

// cutLog is the message for requests that are not in a log, and are too many for what fio does not log. The log may be cut, or
// fio was too busy to write its rows in time. The last verb is for where they count.
const (
	cutLog   = "%s: %d requests of the report are not in its log, which ends at %d ms of %d: %s; if the log is a copy, compare it with the original"
	inTotals = "they count in the run's totals, and in no window"
	atItsEnd = "in windows they are spread evenly over the rest, in which as many are usual"
)

// tail returns the rows of an entry that fio did not log: what its report counts beyond the rows of its logs, between the
// last row and the end of the job. If that time is too long for the last part of an interval, or if there are too many
// requests for it, logs end early or rows are missing. Then the times of these requests are unknown, and they count as
// missing. All rows of the logs must have been read.
func (r *runReader) tail(e *plan.Entry) (rows []align.Row) {
	a, counts := r.account(e), &r.rows[e.Jobs[0]].directions
	interval, withRows, isExact := int64(0), 0, true
	for _, j := range e.Jobs {
		interval, isExact = max(interval, j.Interval), isExact && j.Exact
		if j.HasRows {
			withRows++
		}
	}
	if e.Mixed != nil {
		left, isKnown := float64(e.Measured(e.Mixed))-a.all.Total(), false
		switch _, isSound := e.Failed(e.Mixed); {
		case left < 0 && -left <= float64(e.InFlight()):
		case left < 0:
			r.problems.skip("%s: its logs have %.0f requests, more than the %d of the report; keep the "+
				"files of each run in a folder of their own", e.Describe(), a.all.Total(), e.Measured(e.Mixed))
		case !isSound || a.isTorn || a.directions[0].rest == nil:
			counts[fiolog.Read].missing += int64(left)
			if !isSound {
				r.problems.skip("%w", e.Miscounted(e.Mixed, false))
			}
		default:
			isKnown = true
		}
		divided, isOne := 0.0, false // isOne: the rows have one direction
		for d := range a.directions {
			if of := &a.directions[d]; isKnown {
				divided += of.rest.Total()
				isOne = isOne || of.logged.Total() == a.all.Total()
			} else {
				of.rest = nil
			}
		}
		if divided > 0 && !isOne {
			r.problems.note("%s: fio reported all directions in one (unified_rw_reporting): the %.0f requests of its "+
				"end are divided in proportion to those before", e.Describe(), divided)
		}
	}
	for d := range fiolog.Direction(fiolog.Directions) {
		of := &a.directions[d]
		rest, title := of.rest, fmt.Sprintf("%s: %s", e.Describe(), d)
		if e.Mixed == nil {
			rest = r.rest(e, a, d, title, interval, withRows)
		}
		if rest == nil || rest.IsEmpty() {
			continue
		}
		isCut := !e.Several && r.isCut(e, d, rest.Total())
		parts := r.ends(e, d, of.requests > 0, isCut)
		from, to, longest, isStalled := parts[0].from, parts[0].to, int64(0), false
		for _, p := range parts {
			from, to, longest, isStalled = min(from, p.from), max(to, p.to), max(longest, p.to-p.from), isStalled || p.isStalled
		}
		row := align.NewRow(from, to, d, rest)
		isTooLong := interval == 0 || longest > 2*interval+interval/10 || len(parts) > 1 && e.Ran-a.last > 2*interval
		// If the row has far more requests than the rows before it, other rows are missing, too.
		const far = 4
		around := interval
		if from == to && to < e.Ran && isExact {
			around /= 20 // the row after a stall was due: fio would have written it at the next request
		}
		usual := func(ms int64) float64 { return perSecond(of.requests, a.last) * float64(ms) / 1000 }
		isBurst := isStalled && e.Ran <= to+interval/10 // no row was due after the stall
		isCrowded := a.last > 0 && float64(row.Total) > far*usual(longest+around) && !isBurst
		if isCut {
			const near = 1.5 // else it is not the last row that is missing, or it alone
			isCrowded = float64(row.Total) > near*usual(longest)
		}
		switch {
		case r.totals && !e.WantsRows() && isTooLong:
			continue // reported once for the run
		case isZero(e): // what is wrong with its rows was said when the plan was made
		case withRows > 0 && withRows < e.Size: // the rest has all requests of jobs without a log, which are reported as that
		case interval > 0 && of.requests == 0 && a.last > 0 && e.Ran-a.last <= 2*interval: // rows of others reach the end
			r.problems.note("%s: %d requests of the report are in no row of its log: fio writes the first row of a direction %d ms after "+
				"its first request, and these came in less, as in a short verify phase; they count in the run's totals, and in no window; "+
				"run fio with a shorter --log_hist_msec", title, row.Total, interval)
		case e.Several: // one stage may lack few requests, and another many
			r.problems.note("%s: %d requests of the report are not in its log: those at the ends of its stages, which fio does not log; "+
				"they count in the run's totals, and in no window; run fio with --per_job_logs=1", title, row.Total)
		case isTooLong || isCrowded:
			r.problems.lack(cutLog, title, row.Total, from, e.Ran, inTotals)
		default:
			switch {
			case isCut:
				r.problems.lack(cutLog, title, row.Total, from, e.Ran, atItsEnd)
			case longest <= interval/10 && float64(row.Total) > far*usual(longest+interval/10) && !isStalled:
				r.problems.note("%s: %d requests of the report are not in its log, which ends at %d ms, and the job ran for %d ms: they are in "+
					"its last window, whose rate is too high", title, row.Total, from, to)
			}
			counts[d].recovered += int64(row.Total)
			counts[d].end = max(counts[d].end, to)
			if len(parts) == 1 {
				rows = append(rows, row)
				continue
			}
			var shares []float64
			for _, p := range parts {
				shares = append(shares, max(perSecond(p.requests, p.lasted)*float64(p.to-p.from), 1e-9)) // never all zero
			}
			for i, part := range shareOut(rest, shares) {
				if !part.IsEmpty() {
					rows = append(rows, align.NewRow(parts[i].from, parts[i].to, d, part))
				}
			}
			r.problems.note("%s: the logs of its jobs did not end together: the %d requests at their ends are divided in proportion to those before", title, row.Total)
			continue
		}
		counts[d].missing += int64(rest.Total())
	}
	return rows
}

// jobsEnd is the time for which fio did not log jobs of an entry, in milliseconds since the start of its first job.
type jobsEnd struct {
	from, to  int64
	requests  float64 // in their rows
	lasted    int64   // milliseconds of these rows
	isStalled bool    // there was a stall before; a fixed rate (rate_iops) is made up for after it
}

// servedFor returns how long a job of an entry may have served a direction, in milliseconds. In a group, jobs of one direction
// may end before others.
func (r *runReader) servedFor(j *plan.Job, d fiolog.Direction) int64 {
	ran := max(j.Entry.Ran, j.Ran)
	if of := r.latest(j.Entry).Of(d).Runtime; of > 0 && max(j.Entry.Size, len(j.Entry.Jobs)) > 1 && !j.Entry.HasOption("verify") {
		return min(ran, of)
	}
	return ran
}

// ends returns the times after the last rows of a direction, one for all jobs of an entry whose logs ended together. hasRows
// means that jobs without rows of the direction do not count, isCut that rows may be missing at the ends.
func (r *runReader) ends(e *plan.Entry, d fiolog.Direction, hasRows, isCut bool) (parts []jobsEnd) {
	const together = 250 // milliseconds
	for _, j := range e.Jobs {
		t := r.rows[j]
		c := &t.directions[d]
		if hasRows && c.requests == 0 {
			continue // a job of a group without this direction
		}
		begin, end := t.split.Tail(d, r.servedFor(j, d), !t.damaged && !isCut)
		later := j.Offset - e.Jobs[0].Offset
		one := jobsEnd{begin + later, end + later, float64(c.requests), c.end - c.start, c.stall > 0}
		i := slices.IndexFunc(parts, func(p jobsEnd) bool {
			return max(p.from-one.from, one.from-p.from, p.to-one.to, one.to-p.to) <= together
		})
		if i < 0 {
			parts = append(parts, one)
			continue
		}
		p := &parts[i]
		p.from, p.to = min(p.from, one.from), max(p.to, one.to)
		p.requests, p.lasted, p.isStalled = p.requests+one.requests, max(p.lasted, one.lasted), p.isStalled || one.isStalled
	}
	return parts
}

// rest returns the requests of a direction that are in the report of an entry and not in its logs. It is nil if there are
// none, or if they are unknown and were counted as missing. title names the entry and the direction.
func (r *runReader) rest(e *plan.Entry, a *account, d fiolog.Direction, title string, interval int64, withRows int) *hist.Histogram {
	of := &a.directions[d]
	logged := of.logged.Total()
	left := float64(of.measured) - logged
	switch {
	case of.logged.IsEmpty() && (of.stats.Uncounted || of.stats.TotalIOs == 0):
		return nil
	case of.stats.Uncounted: // at least this many; its rate has no decimals
		left = max(math.Floor(of.stats.IOPS)*float64(of.stats.Runtime)/1000-logged, 0)
	case of.isOutrun:
		r.problems.skip("%s: its report ends after %d ms and %d requests, its logs have %.0f requests of %d ms: fio was "+
			"killed or had no room for its last report; the logs count, without the last part of an interval of the job", title,
			e.Ran, of.measured, logged, a.last)
		return nil
	case left < 0 && -left <= float64(e.InFlight()):
		return nil
	case left < 0:
		r.problems.skip("%s: its logs have %.0f requests, more than the %d of the report: some rows "+
			"are of another run, or are there twice; keep the files of each run in a folder of their own", title, logged, of.measured)
		return nil
	case len(of.stats.Clat.Bins) == 0:
		isEmpty := of.stats.Clat.Mean > 0 && withRows == 0 && e.WantsRows() && e.Ran > 2*interval
		switch {
		case r.totals || e.Several || isZero(e):
		case isEmpty:
			r.problems.lack(cutLog, title, int64(left), a.last, e.Ran, inTotals)
		case r.isCut(e, d, left): // or its last rows had more requests than others: nothing shows which
			r.problems.note(cutLog, title, int64(left), a.last, e.Ran, inTotals)
		}
	case !of.isSound:
		r.problems.skip("%w", e.Miscounted(of.stats, false))
	default:
		rest := inLayoutOf(e.Histogram(of.stats), of.logged)
		if rest.Subtract(of.logged) {
			if !a.isTorn {
				return rest
			}
			left = rest.Total() // which of the rest is the tail is unknown
		} else {
			r.problems.skip("%s: the bins of its logs are not among those of the report: the logs are of "+
				"another run, or were changed; keep the files of each run in a folder of their own", title)
		}
	}
	r.rows[e.Jobs[0]].directions[d].missing += int64(left)
	return nil
}

// isZero reports whether fio counted no latency in the rows of all jobs of an entry (clat_percentiles=0).
func isZero(e *plan.Entry) bool {
	return !slices.ContainsFunc(e.Jobs, func(j *plan.Job) bool { return !j.Log.IsZero })
}

// isCut reports whether logs without errors lack rows at their ends or begins, of which the rest has n requests. fio
// writes a row with the first completion after it was due. So either nothing completed then, or the row was lost. The
// number of requests shows which of the two is closer.
func (r *runReader) isCut(e *plan.Entry, d fiolog.Direction, n float64) bool {
	usual, by, may := 0.0, 0.0, false
	for _, j := range e.Jobs {
		of, interval := r.rows[j], j.Interval
		c := &of.directions[d]
		if c.requests == 0 || interval == 0 || of.damaged {
			continue
		}
		end := max(e.Ran, j.Ran)
		from, due := of.split.Tail(d, end, true)
		intervals := 1.0                     // also after a late row, whose requests may be a burst
		if c.start >= interval-interval/50 { // a direction that began late, or its first row was lost
			intervals = 0.5 + float64(due-from)/float64(interval)
			may = true
		}
		intervals += float64(end-due)/float64(2*interval) + float64(c.stall)/float64(interval)
		may = may || end-due > interval/10
		usual += float64(c.most) * intervals
		by += float64(c.most - c.least)
	}
	return may && usual > 0 && n > usual+min(by, 2*math.Sqrt(usual)) // requests that come by chance are not as many in each row
}

// countMissing counts the requests of an entry none of whose jobs has rows: they are in no window. A report alone is
// complete.
func (r *runReader) countMissing(e *plan.Entry) {
	a, counts := r.account(e), &r.rows[e.Jobs[0]].directions
	isMissing := !r.totals || e.WantsRows() && len(r.Run.Logs) > 0
	for d := range a.directions {
		of := &a.directions[d]
		if isMissing {
			counts[d].missing += of.measured
		}
		if !of.isSound && of.unbinned > 0 || of.isKilled {
			r.problems.skip("%w", e.Miscounted(of.stats, of.isKilled))
		}
	}
	if e.Mixed != nil && isMissing {
		counts[fiolog.Read].missing += int64(e.Mixed.TotalIOs)
	}
}
