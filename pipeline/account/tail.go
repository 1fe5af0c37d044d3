package account

import (
	"fmt"
	"math"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// cutLog is the message for requests that are not in a log, and are too many for what fio does not log. The log may be cut, or
// fio was too busy to write its rows in time. The last verb is for where they count.
const (
	cutLog   = "%s: %d requests of the report are not in its log, which ends at %d ms of %d: %s; if the log is a copy, compare it with the original"
	inTotals = "they count in the run's totals, and in no window"
	atItsEnd = "in windows they are spread evenly over the rest, in which as many are usual"
)

// far is how many times as many requests as usual a tail may have. With more, other rows are missing, too.
const far = 4

// tail is what fio did not log of a direction: the requests that the report counts beyond the rows, and when they completed.
type tail struct {
	a         *Entry
	of        *direction // of the entry
	direction fiolog.Direction
	title     string // of the entry and the direction, in messages
	rest      *hist.Histogram
	total     int64

	interval int64 // the longest of its jobs
	isExact  bool  // it is fio's
	withRows int   // jobs

	ends      []jobsEnd
	from, to  int64 // of all ends
	longest   int64 // of them
	isStalled bool  // there was a stall before one of them
	isCut     bool  // rows may be missing at the ends
}

// jobsEnd is the time for which fio did not log jobs of an entry, in milliseconds since the start of its first job.
type jobsEnd struct {
	from, to  int64
	requests  float64 // in their rows
	lasted    int64   // milliseconds of these rows
	isStalled bool    // there was a stall before; a fixed rate (rate_iops) is made up for after it
}

// addTail finds the requests of each direction that fio did not log, and places them between the last row and the end of the
// job. If that time is too long for the last part of an interval, or if there are too many requests for it, logs end
// early or rows are missing. Then the times of these requests are unknown, and they count as missing.
func (a *Entry) addTail(r *Read) {
	e := a.of
	if e.Mixed != nil {
		a.checkMixed()
	}
	for d := range a.directions {
		t := &tail{a: a, of: &a.directions[d], direction: fiolog.Direction(d), title: fmt.Sprintf("%s: %s", e.Describe(), fiolog.Direction(d)), isExact: true}
		for _, j := range e.Jobs {
			t.interval, t.isExact = max(t.interval, j.Interval), t.isExact && j.Exact
			if j.HasRows {
				t.withRows++
			}
		}
		if t.rest = t.of.rest; e.Mixed == nil {
			t.rest = t.unlogged(r)
		}
		if t.rest == nil || t.rest.IsEmpty() {
			continue
		}
		t.total = int64(t.rest.Total())
		t.findEnds(r)
		switch {
		case !e.WantsRows() && t.isTooLong() && !r.hasRows(): // reported once for the run
		case t.hasTime():
			a.Tail = append(a.Tail, t.rows()...)
		default:
			a.Missing[d] += t.total
		}
	}
}

// checkMixed checks what a report has of all directions beyond the rows. If nothing shows whose bins these are, no direction
// has a rest.
func (a *Entry) checkMixed() {
	e, mixed := a.of, a.of.Mixed
	left, isKnown := float64(e.Measured(mixed))-a.all.Total(), false
	switch _, isSound := e.Failed(mixed); {
	case left < 0 && -left <= float64(e.InFlight()):
	case left < 0:
		a.Remarks.Skip("%s: its logs have %.0f requests, more than the %d of the report; keep the "+
			"files of each run in a folder of their own", e.Describe(), a.all.Total(), e.Measured(mixed))
	case !isSound || a.isTorn || a.directions[0].rest == nil:
		a.Missing[fiolog.Read] += int64(left)
		if !isSound {
			a.Remarks.Skip("%w", e.Miscounted(mixed, false))
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
		a.Remarks.Note("%s: fio reported all directions in one (unified_rw_reporting): the %.0f requests of its "+
			"end are divided in proportion to those before", e.Describe(), divided)
	}
}

// unlogged returns the requests that are in the report and not in the logs. It is nil if there are none, or if they are unknown
// and were counted as missing.
func (t *tail) unlogged(r *Read) *hist.Histogram {
	a, e, of := t.a, t.a.of, t.of
	logged := of.logged.Total()
	left := float64(of.measured) - logged
	switch {
	case of.logged.IsEmpty() && (of.stats.Uncounted || of.stats.TotalIOs == 0):
		return nil
	case of.stats.Uncounted: // at least this many; its rate has no decimals
		left = max(math.Floor(of.stats.IOPS)*float64(of.stats.Runtime)/1000-logged, 0)
	case of.isOutrun:
		a.Remarks.Skip("%s: its report ends after %d ms and %d requests, its logs have %.0f requests of %d ms: fio was "+
			"killed or had no room for its last report; the logs count, without the last part of an interval of the job", t.title,
			e.Ran, of.measured, logged, a.last)
		return nil
	case left < 0 && -left <= float64(e.InFlight()):
		return nil
	case left < 0:
		a.Remarks.Skip("%s: its logs have %.0f requests, more than the %d of the report: some rows "+
			"are of another run, or are there twice; keep the files of each run in a folder of their own", t.title, logged, of.measured)
		return nil
	case len(of.stats.Clat.Bins) == 0:
		isEmpty := of.stats.Clat.Mean > 0 && t.withRows == 0 && e.WantsRows() && e.Ran > 2*t.interval
		switch {
		case !r.hasRows() || e.Several || isZero(e):
		case isEmpty:
			a.Remarks.Lack(cutLog, t.title, int64(left), a.last, e.Ran, inTotals)
		case r.isCut(e, t.direction, left): // or its last rows had more requests than others: nothing shows which
			a.Remarks.Note(cutLog, t.title, int64(left), a.last, e.Ran, inTotals)
		}
	case !of.isSound:
		a.Remarks.Skip("%w", e.Miscounted(of.stats, false))
	default:
		rest := inLayoutOf(e.Histogram(of.stats), of.logged)
		if rest.Subtract(of.logged) {
			if !a.isTorn {
				return rest
			}
			left = rest.Total() // which of the rest is the tail is unknown
		} else {
			a.Remarks.Skip("%s: the bins of its logs are not among those of the report: the logs are of "+
				"another run, or were changed; keep the files of each run in a folder of their own", t.title)
		}
	}
	a.Missing[t.direction] += int64(left)
	return nil
}

// isZero reports whether fio counted no latency in the rows of all jobs of an entry (clat_percentiles=0).
func isZero(e *assign.Entry) bool {
	return !slices.ContainsFunc(e.Jobs, func(j *assign.Job) bool { return !j.Log.IsZero })
}

// isCut reports whether logs without errors lack rows at their ends or begins. The rest has n requests. fio
// writes a row with the first completion after it was due. So either nothing completed then, or the row was lost. The
// number of requests shows which of the two is closer.
func (r *Read) isCut(e *assign.Entry, d fiolog.Direction, n float64) bool {
	usual, by, may := 0.0, 0.0, false
	for _, j := range r.Plan.JobsOf[e] {
		interval, rows := j.Interval, &r.Counts[j].Directions[d]
		if rows.Requests == 0 || interval == 0 || r.Counts[j].Damaged {
			continue
		}
		end := max(e.Ran, j.Ran)
		due := rows.Tail.Until(end, true)
		intervals := 1.0                        // also after a late row, whose requests may be a burst
		if rows.Start >= interval-interval/50 { // a direction that began late, or its first row was lost
			intervals = 0.5 + float64(due-rows.Tail.From)/float64(interval)
			may = true
		}
		intervals += float64(end-due)/float64(2*interval) + float64(rows.Stall)/float64(interval)
		may = may || end-due > interval/10
		usual += float64(rows.Most) * intervals
		by += float64(rows.Most - rows.Least)
	}
	return may && usual > 0 && n > usual+min(by, 2*math.Sqrt(usual)) // requests that come by chance are not as many in each row
}

// findEnds finds the times after the last rows of the direction, one for all jobs whose logs ended together.
func (t *tail) findEnds(r *Read) {
	const together = 250 // milliseconds
	e, jobs := t.a.of, r.Plan.JobsOf[t.a.of]
	t.isCut = !e.Several && r.isCut(e, t.direction, t.rest.Total())
	for _, j := range jobs {
		rows := &r.Counts[j].Directions[t.direction]
		if t.of.requests > 0 && rows.Requests == 0 {
			continue // a job of a group without this direction
		}
		until := rows.Tail.Until(r.ServedFor(j, t.direction), !r.Counts[j].Damaged && !t.isCut)
		later := j.Offset - jobs[0].Offset
		one := jobsEnd{rows.Tail.From + later, until + later, float64(rows.Requests), rows.End - rows.Start, rows.Stall > 0}
		i := slices.IndexFunc(t.ends, func(p jobsEnd) bool {
			return max(p.from-one.from, one.from-p.from, p.to-one.to, one.to-p.to) <= together
		})
		if i < 0 {
			t.ends = append(t.ends, one)
			continue
		}
		p := &t.ends[i]
		p.from, p.to = min(p.from, one.from), max(p.to, one.to)
		p.requests, p.lasted, p.isStalled = p.requests+one.requests, max(p.lasted, one.lasted), p.isStalled || one.isStalled
	}
	t.from, t.to = t.ends[0].from, t.ends[0].to
	for _, p := range t.ends {
		t.from, t.to, t.longest, t.isStalled = min(t.from, p.from), max(t.to, p.to), max(t.longest, p.to-p.from), t.isStalled || p.isStalled
	}
}

// usual returns how many requests are in so many milliseconds by the rows.
func (t *tail) usual(ms int64) float64 {
	return PerSecond(t.of.requests, t.a.last) * float64(ms) / 1000
}

// isTooLong reports whether the time after the last row is too long for the last part of an interval.
func (t *tail) isTooLong() bool {
	return t.interval == 0 || t.longest > 2*t.interval+t.interval/10 || len(t.ends) > 1 && t.a.of.Ran-t.a.last > 2*t.interval
}

// isCrowded reports whether there are far more requests than in the rows before, so that other rows are missing, too. If the
// last row is missing, there must be about as many as usual.
func (t *tail) isCrowded() bool {
	if t.isCut {
		const near = 1.5 // else it is not the last row that is missing, or it alone
		return float64(t.total) > near*t.usual(t.longest)
	}
	around, ran := t.interval, t.a.of.Ran
	if t.from == t.to && t.to < ran && t.isExact {
		around /= 20 // the row after a stall was due: fio would have written it at the next request
	}
	isBurst := t.isStalled && ran <= t.to+t.interval/10 // no row was due after the stall
	return t.a.last > 0 && float64(t.total) > far*t.usual(t.longest+around) && !isBurst
}

// hasTime reports whether it is known when the requests completed, and says it if not.
func (t *tail) hasTime() bool {
	a, e := t.a, t.a.of
	switch {
	case isZero(e): // what is wrong with its rows was said when the plan was made
	case t.withRows > 0 && t.withRows < e.Size: // the rest has all requests of jobs without a log, which are reported as that
	case t.interval > 0 && t.of.requests == 0 && a.last > 0 && e.Ran-a.last <= 2*t.interval: // rows of others reach the end
		a.Remarks.Note("%s: %d requests of the report are in no row of its log: fio writes the first row of a direction %d ms after "+
			"its first request, and these came in less, as in a short verify phase; they count in the run's totals, and in no window; "+
			"run fio with a shorter --log_hist_msec", t.title, t.total, t.interval)
	case e.Several: // one stage may lack few requests, and another many
		a.Remarks.Note("%s: %d requests of the report are not in its log: those at the ends of its stages, which fio does not log; "+
			"they count in the run's totals, and in no window; run fio with --per_job_logs=1", t.title, t.total)
	case t.isTooLong() || t.isCrowded():
		a.Remarks.Lack(cutLog, t.title, t.total, t.from, e.Ran, inTotals)
	default:
		return true
	}
	return false
}

// rows places the requests between the last rows and the ends of the jobs. Where logs did not end together, they are divided in
// proportion to the rates before.
func (t *tail) rows() (rows []align.Row) {
	a := t.a
	switch {
	case t.isCut:
		a.Remarks.Lack(cutLog, t.title, t.total, t.from, a.of.Ran, atItsEnd)
	case t.longest <= t.interval/10 && float64(t.total) > far*t.usual(t.longest+t.interval/10) && !t.isStalled:
		a.Remarks.Note("%s: %d requests of the report are not in its log, which ends at %d ms, and the job ran for %d ms: they are in "+
			"its last window, whose rate is too high", t.title, t.total, t.from, t.to)
	}
	if len(t.ends) == 1 {
		return []align.Row{align.NewRow(t.from, t.to, t.direction, t.rest)}
	}
	var shares []float64
	for _, p := range t.ends {
		shares = append(shares, max(PerSecond(p.requests, p.lasted)*float64(p.to-p.from), 1e-9)) // never all zero
	}
	for i, part := range shareOut(t.rest, shares) {
		if !part.IsEmpty() {
			rows = append(rows, align.NewRow(t.ends[i].from, t.ends[i].to, t.direction, part))
		}
	}
	a.Remarks.Note("%s: the logs of its jobs did not end together: the %d requests at their ends are divided in proportion to those before", t.title, t.total)
	return rows
}
