package evidence

import (
	"fmt"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Apart is how much the times of files may differ that were written together. Some archives store times in steps of two seconds.
const Apart = 2500 * time.Millisecond

// Together is the largest difference in reports between the starts of jobs that began together.
const Together = 250 * time.Millisecond

// EpochTimes is the smallest time that can be one of log_unix_epoch, in milliseconds since 1970 (1973). No job runs so
// long that a time since its start is as large.
const EpochTimes = 1e11

// LongestZone is how much a time may be off whose time zone is unknown.
const LongestZone = 14 * time.Hour

// Execution is what one call of fio printed into a file: its last report, which covers the whole run, and what its periodic reports
// (--status-interval) show together.
type Execution struct {
	Fio     *fiolog.Report
	Client  bool  // written by fio --client: jobs of several hosts, no absolute time
	HasBins bool  // json+
	HasZone bool  // the zone of its timestamp is known
	Groups  int   // the most groups of bins in any report
	Grid    int64 // the time between the edges of the grid on which fio was asked for its reports, or 0: see [Grid]

	Before     int      // executions before this one in the file (>>)
	Skip       int      // reports of these
	Times      []int64  // of its reports, milliseconds since 1970
	Says       []uint64 // hashes of what these say
	Begun      []Begun  // of each job
	Impossible string   // what is wrong with the run time of a job in a report; empty if nothing is
}

// mostJoined is how many executions of a file are kept apart. Of later ones there is only the last.
const mostJoined = 1000

// Join adds a report to the executions before: to the last one, or as the first of another one. An execution that has served no
// requests is not kept. written is when the file was written, and grid the time between its reports by its name, or 0.
func Join(all []*Execution, r *fiolog.Report, written source.Modified, grid int64) []*Execution {
	if len(all) == 0 {
		all = []*Execution{{Grid: grid}}
	}
	n := len(all)
	last := all[n-1]
	if isAnother, hasRun := last.isAnother(r); isAnother {
		next := &Execution{Grid: grid, Skip: last.Skip + len(last.Times), Before: last.Before}
		if hasRun {
			next.Before++
		}
		if hasRun && n < mostJoined {
			all = append(all, next)
		} else {
			all[n-1] = next
		}
		last = next
	}
	last.take(r, written)
	return all
}

// Spacing returns the time between reports in milliseconds, as --status-interval sets it. That is whole seconds, except
// if reports come more often. It is near the median, because the last report comes when the run ends, and others may be
// late. It is 0 if there are too few reports.
func (x *Execution) Spacing() int64 {
	if len(x.Times) < 3 {
		return 0
	}
	var steps []int64
	for i, at := range x.Times[1:] {
		steps = append(steps, at-x.Times[i])
	}
	slices.Sort(steps)
	if step := steps[len(steps)/2]; step < 700 {
		return Nominal(step)
	} else {
		return max(step+500, 1000) / 1000 * 1000
	}
}

// Nominal returns the interval that people set, in milliseconds, for a measured one: rows and reports come a little late.
func Nominal(ms int64) int64 {
	if hundreds := (ms + 50) / 100 * 100; max(ms-hundreds, hundreds-ms)*20 <= ms {
		return hundreds
	}
	return (ms + 5) / 10 * 10
}

// Begun says when a job began, by periodic reports.
type Begun struct {
	Start time.Time     // the earliest timestamp minus run time: the job began then or before. On a grid it is the time when fio was asked
	Slack time.Duration // it may have begun this much before, because it had ended when the report was written
	last  time.Time     // timestamp minus run time in the last report
	// The latest edge of the grid minus run time, and the earliest timestamp minus run time: it began in between.
	asked, written time.Time
	ran            int64  // at the last report, milliseconds
	ios            uint64 // at the last report
	Waits          bool   // a report shows that it had not begun, or not ended its ramp_time
}

// take adds a report. While a job waits, its run time in the report is how long it has waited, or the time since the
// machine was started. When the job starts, and when its ramp_time is over, its run time starts at 0 again. written is when the file was
// written.
func (x *Execution) take(one *fiolog.Report, written source.Modified) {
	says := xxhash.Sum64String(one.Says()) // before the zone, which is not known of copies
	x.setZone(one, written)
	before := one.Timestamp - Elapsed(one)
	if len(x.Times) > 0 {
		before = x.Times[len(x.Times)-1]
	}
	x.Fio, x.Groups, x.Times = one, max(x.Groups, one.Groups()), append(x.Times, one.Timestamp)
	x.Says = append(x.Says, says)
	for len(x.Begun) < len(one.Jobs) {
		x.Begun = append(x.Begun, Begun{})
	}
	x.Client, x.HasBins = one.Client, false
	// Of a report on a grid, fio took the run times when it was asked for it, at the edge or later, and then waited for jobs that sleep.
	edge := one.Timestamp - one.Timestamp%max(x.Grid, 1)
	isAsked := x.Grid > 0 && before < edge && (len(x.Times) == 0 || edge <= before-before%max(x.Grid, 1)+x.Grid)
	for i := range one.Jobs {
		j := &one.Jobs[i]
		b := &x.Begun[i]
		_, verifies := one.Option(i, "verify")
		times := TimesOf(j, verifies)
		if times.Impossible > 0 {
			x.Impossible = fmt.Sprintf("job %d (%s) ran for %v in a report of fio after %d s, which cannot be: not used", i+1, j.Name,
				time.Duration(times.Impossible)*time.Millisecond, j.Elapsed)
		}
		ran, at := times.Ran, time.UnixMilli(one.Timestamp-times.Ran)
		text, _ := one.Option(i, "ramp_time")
		ramp, _ := fioargs.ParseTime(text)
		// Then it has run for less than the time since the report before. A job that has ended does not run on.
		mayBegin := ran <= one.Timestamp-before && ran != b.ran
		rampEnded := mayBegin && ramp > 0 && !b.last.IsZero() && (at.Sub(b.last)-ramp).Abs() < Together
		// In periodic reports of fio 3.1 to 3.16 the run time of a job that has ended grows. In the last one it is right.
		hasEnded := ramp == 0 && b.ios > 0 && j.Requests() >= b.ios
		if rampEnded || ran < b.ran && !hasEnded {
			*b = Begun{Waits: true} // it waited for other jobs to end (stonewall), for its startdelay or its ramp_time
		}
		switch {
		case times.Measured == 0 || one.Timestamp == 0:
			at, b.Waits = time.Time{}, true
		case b.Start.IsZero():
			b.Slack = time.Duration(one.Timestamp-before) * time.Millisecond
		case ran > b.ran: // it ran when the report before was written
			b.Slack = 0
		}
		if asked := at.Add(-time.Duration(one.Timestamp-edge) * time.Millisecond); isAsked && !at.IsZero() && asked.After(b.asked) {
			b.asked = asked
		}
		b.written = Earlier(b.written, at)
		b.Start, b.last, b.ran, b.ios = Earlier(b.written, b.asked), at, ran, j.Requests()
		x.Client = x.Client || j.Host != ""
		for _, s := range j.All() {
			x.HasBins = x.HasBins || len(s.Clat.Bins) > 0 || len(s.Lat.Bins) > 0
		}
	}
}

// isAnother reports whether a report is of another fio than those before, and whether that one has served requests for some time.
// While fio lays out files it writes reports without requests. Later it counts its elapsed time from 0 again (3.33). In a report of
// the moment in which a job begins, times count from the start of the machine, and directions have none.
func (x *Execution) isAnother(one *fiolog.Report) (isAnother, hasRun bool) {
	was := x.Fio
	switch {
	case was == nil:
		return false, false
	case one.Format != fiolog.JSON: // of periodic reports in text there is only the last one
		return true, true
	}
	requests := func(r *fiolog.Report) (n uint64) {
		for i := range r.Jobs {
			n += r.Jobs[i].Requests()
		}
		return n
	}
	if !slices.EqualFunc(was.Jobs, one.Jobs, func(a, b fiolog.Job) bool {
		return a.Name == b.Name && a.Host == b.Host
	}) {
		return true, true
	}
	switch before, after := Elapsed(was), Elapsed(one); {
	case was.Timestamp > 0 && one.Timestamp > 0 && one.Timestamp < was.Timestamp, was.Timestamp == 0 && requests(one) < requests(was):
		isAnother = true // files were joined in another order than that of time
	case before > 0 && after > 0 && was.Timestamp > 0 && one.Timestamp > 0:
		// Another fio started after the one before had ended if it ran for less than the time between the two reports.
		const rounding = 1200 // of elapsed, which is in whole seconds
		isAnother = one.Timestamp-was.Timestamp-(after-before) > rounding || after < before
	}
	hasTime := func(j fiolog.Job) bool {
		return slices.ContainsFunc(j.All(), func(s *fiolog.DirectionStats) bool { return s.Runtime > 0 })
	}
	return isAnother, requests(was) > 0 && slices.ContainsFunc(was.Jobs, hasTime)
}

// setZone finds the time zone of a report that has local time. fio wrote the report into the file then, so the file's time
// differs by whole quarters of an hour. If it does not, the file is a copy, and the zone stays unknown.
func (x *Execution) setZone(one *fiolog.Report, written source.Modified) {
	const step = 15 * time.Minute // of zones
	if x.HasZone = !one.IsLocal; x.HasZone || written.ModTime.IsZero() || written.ModLocal {
		return
	}
	apart := written.ModTime.Sub(time.UnixMilli(one.Timestamp))
	zone := apart.Round(step)
	if x.HasZone = zone.Abs() <= LongestZone && (apart-zone).Abs() <= Apart; x.HasZone {
		one.Timestamp += zone.Milliseconds()
	}
}

// Elapsed returns how long fio ran until it wrote a report, in milliseconds. It may be up to a second too long. It is 0
// if the report lacks it.
func Elapsed(rep *fiolog.Report) int64 {
	longest := int64(0)
	for i := range rep.Jobs {
		longest = max(longest, rep.Jobs[i].Elapsed)
	}
	return longest * 1000
}

// RunTimes are how long a job of a report ran, in milliseconds.
type RunTimes struct {
	Measured   int64 // the longest of its directions; 0 if fio measured none, or for longer than it ran, which cannot be
	Impossible int64 // that time; else 0
	Ran        int64 // the time until the report was written
	Most       int64 // no job ran longer
	Jobs       int   // the entry has at least as many jobs
}

// TimesOf returns the run times of a job in a report. job_runtime may be a sum over jobs (group_reporting), or the time
// that the job has waited. In the report of the moment in which a job begins, it is the time since fio or the machine was
// started: the job then has requests, but its directions have no time. verifies means that it reads after it has written.
func TimesOf(j *fiolog.Job, verifies bool) RunTimes {
	t := RunTimes{Jobs: 1}
	sum := int64(0)
	for _, s := range j.All() {
		t.Measured = max(t.Measured, s.Runtime)
		sum += s.Runtime
	}
	if j.Elapsed > 0 && t.Measured > (j.Elapsed+1)*1000 {
		t.Measured, t.Impossible = 0, t.Measured
	}
	if t.Ran = t.Measured; t.Ran == 0 && j.Requests() == 0 {
		t.Ran = j.Runtime
	}
	if t.Most = t.Measured; verifies {
		if t.Most = sum; j.Elapsed > 0 { // in a group others may have other directions
			t.Most = max(min(sum, j.Elapsed*1000), t.Measured)
		}
	}
	const slack = 50 // milliseconds; run times in a group may also differ by a twentieth
	if more := j.Runtime - t.Most/20 - slack; t.Most > 0 && more > t.Most {
		t.Jobs = int((more-1)/t.Most) + 1
	}
	return t
}

// Earlier returns the earlier of two times, and ignores a zero time.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
