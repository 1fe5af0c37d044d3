package pipeline

import (
	"fmt"
	"math"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// tail are the rows that fio did not log: the requests that an entry counts beyond the rows of
// its logs. All rows must have been read.
func (t *tallies) tail(e *entry) []align.Row {
	if e.mixed {
		return t.mixedTail(e)
	}
	var rows []align.Row
	for d := range fiolog.Direction(fiolog.Directions) {
		if rest := t.rest(e, d); rest != nil && !rest.IsEmpty() {
			if row, ok := t.place(e, d, rest); ok {
				rows = append(rows, row)
			}
		}
	}
	return rows
}

// rest is what an entry's report counts beyond its logs in a direction. It is nil if that is
// unknown, and then the requests count as missing.
func (t *tallies) rest(e *entry, d fiolog.Direction) *hist.Histogram {
	stats := &e.Directions[d]
	logged, damaged := t.logged(e, d)
	total := float64(e.measured(d))
	switch {
	case stats.TotalIOs == 0 && logged.IsEmpty():
		return nil
	case logged.Total() > total:
		t.problems.skip(fmt.Errorf("%s: its logs have %.0f requests, more than the %.0f of the report: some rows "+
			"are of another run, or are there twice; keep the files of each run in a folder of their own",
			describe(e, d), logged.Total(), total))
		return nil
	case len(stats.Clat.Bins) == 0:
		t.missing.add(d, int64(total-logged.Total()))
		return nil
	}
	if _, err := e.failed(stats); err != nil {
		t.problems.skip(err)
		t.missing.add(d, int64(total-logged.Total()))
		return nil
	}
	rest := e.histogram(stats)
	if !logged.IsEmpty() {
		rest = inLayoutOf(rest, logged)
	}
	switch {
	case !rest.Subtract(logged):
		t.problems.skip(fmt.Errorf("%s: the bins of its logs are not among those of the report: the logs are of "+
			"another run, or were changed; keep the files of each run in a folder of their own", describe(e, d)))
		t.missing.add(d, int64(total-logged.Total()))
		return nil
	case damaged && !t.cut(e):
		// Rows in the middle were skipped: which of the rest is the tail is unknown.
		t.missing.add(d, int64(rest.Total()))
		return nil
	}
	return rest
}

// inLayoutOf is h in the layout merged with other's, or h itself if it has that.
func inLayoutOf(h, other *hist.Histogram) *hist.Histogram {
	if l := other.Layout().Merged(h.Layout()); l != h.Layout() {
		return h.To(l)
	}
	return h
}

// mixedTail is tail for a report that has all directions in one (unified_rw_reporting). The
// rows of the logs have directions. The requests that fio did not log are divided in their
// proportion.
func (t *tallies) mixedTail(e *entry) []align.Row {
	all, shares, damaged := t.loggedAll(e)
	one := *e
	job := *e.Job
	job.Directions, job.Mixed = [fiolog.Directions]fiolog.DirectionStats{*e.Mixed}, nil
	one.Job = &job
	failed, err := one.failed(&job.Directions[0])
	total := float64(int64(e.Mixed.TotalIOs) - failed)
	rest := e.histogram(e.Mixed)
	if !all.IsEmpty() {
		rest = inLayoutOf(rest, all)
	}
	switch {
	case all.Total() > total:
		t.problems.skip(fmt.Errorf("%s: its logs have %.0f requests, more than the %.0f of the report; keep the "+
			"files of each run in a folder of their own", e.describe(), all.Total(), total))
		return nil
	case err != nil || all.IsEmpty() || rest.IsEmpty() || damaged && !t.cut(e) || !rest.Subtract(all):
		t.missing.add(fiolog.Read, int64(total-all.Total()))
		if err != nil {
			t.problems.skip(err)
		}
		return nil
	}
	var rows []align.Row
	for d, part := range shareOut(rest, shares) {
		if part.IsEmpty() {
			continue
		}
		if row, ok := t.place(e, fiolog.Direction(d), part); ok {
			rows = append(rows, row)
		}
	}
	if n := rest.Total(); n > 0 && shares[0] != all.Total() && shares[1] != all.Total() && shares[2] != all.Total() {
		t.problems.note("%s: fio reported all directions in one (unified_rw_reporting): the %.0f requests of its "+
			"end are divided in proportion to those before", e.describe(), n)
	}
	return rows
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

// place makes a row of the rest, between the last row and the job's end. It returns false if
// that is too long for the rest of an interval, or the requests are too many for it. Then logs
// end early or rows are missing, and when the requests completed is unknown.
func (t *tallies) place(e *entry, d fiolog.Direction, rest *hist.Histogram) (align.Row, bool) {
	row := t.tailRow(e, d, rest)
	interval := int64(0)
	for _, j := range e.jobs {
		interval = max(interval, j.interval)
	}
	logged := 0.0
	for _, j := range e.jobs {
		logged += float64(t.jobs[j].requests[d])
	}
	switch {
	case t.totals && !e.wantsRows() && (interval == 0 || row.End-row.Start > 2*interval+interval/10):
		return row, false // reported once for the run
	case interval == 0 || row.End-row.Start > 2*interval+interval/10:
		t.problems.note("%s: %d requests of the report are not in its log, which ends at %d ms of %d: they count "+
			"in the run's totals, and in no window; if the log was cut, copy it again",
			describe(e, d), row.Total, row.Start, e.ran)
	case crowded(logged, t.last(e), row, interval):
		t.problems.note("%s: %d requests of the report are not in its log, too many for its last %d ms: rows are "+
			"missing; they count in the run's totals, and in no window; copy the log again",
			describe(e, d), row.Total, row.End-row.Start)
	default:
		t.recovered.add(d, int64(row.Total))
		s := &t.jobs[e.jobs[0]].spans[d]
		s.end = max(s.end, row.End)
		return row, true
	}
	t.missing.add(d, int64(rest.Total()))
	return row, false
}

// crowded reports whether a tail has far more requests than the rows before it: then other
// rows are missing, too.
func crowded(logged float64, last int64, tail align.Row, interval int64) bool {
	const far = 4
	return last > 0 && float64(tail.Total) > far*perSecond(logged, last)*float64(tail.End-tail.Start+interval)/1000
}

// endsEarly reports whether logs without errors lack more than the last part of an interval,
// which fio never logs. Then they were cut between two rows.
func (t *tallies) endsEarly(e *entry, d fiolog.Direction, rest float64) bool {
	last, interval, logged := t.last(e), int64(0), 0.0
	for _, j := range e.jobs {
		interval = max(interval, j.interval)
		logged += float64(t.jobs[j].requests[d])
	}
	if interval <= 0 || e.ran-last <= 2*interval {
		return false
	}
	usual := logged / float64(max(last, 1)) * float64(interval)
	return rest > 3*usual
}

// tailRow is the row of the rest, between the last row and the end.
func (t *tallies) tailRow(e *entry, d fiolog.Direction, rest *hist.Histogram) align.Row {
	from, to := int64(-1), int64(0)
	some := slices.ContainsFunc(e.jobs, func(j *job) bool { return t.jobs[j].requests[d] > 0 })
	for _, j := range e.jobs {
		of := t.jobs[j]
		if some && of.requests[d] == 0 {
			continue // a job of a group without this direction
		}
		ran := max(e.ran, j.ran)
		if own := e.Directions[d].Runtime; e.several && own > 0 { // it began with its first row
			ran = of.spans[d].start + own
		}
		f, end := of.split.Tail(d, ran, !of.damaged && !t.endsEarly(e, d, rest.Total()))
		if from < 0 || f < from {
			from = f
		}
		to = max(to, end)
	}
	return align.NewRow(from, to, d, rest)
}
