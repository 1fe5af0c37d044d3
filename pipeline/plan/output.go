package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Output is what one fio printed: its last report, which covers the whole run, and what its periodic reports show.
type Output struct {
	cbt.Report
	Fio     *fiolog.Report
	host    string  // of its jobs, by its own name or by the names of their logs
	Client  bool    // written by fio --client: jobs of several hosts, no absolute time
	HasBins bool    // json+
	stale   bool    // of an earlier run than the logs
	groups  int     // the most groups of bins in any report
	Others  int     // executions of fio before this one, in the same file (>>)
	Entries Entries // entries of its jobs; none if it is not of the run
	Periodic
}

// Periodic is what the reports of one fio show together (--status-interval).
type Periodic struct {
	Skip  int     // reports of earlier executions in the same file
	Times []int64 // of the reports of this execution, milliseconds since 1970
	begun []begun // of each job

	Impossible string // what is wrong with the run time of a job in a report; empty if nothing is
}

// Reports returns the number of reports of this execution.
func (p *Periodic) Reports() int { return len(p.Times) }

// Spacing returns the time between reports in milliseconds, as --status-interval sets it. That is whole seconds, except
// if reports come more often. It is near the median, because the last report comes when the run ends, and others may be
// late. It is 0 if there are too few reports.
func (p *Periodic) Spacing() int64 {
	if len(p.Times) < 3 {
		return 0
	}
	var steps []int64
	for i, at := range p.Times[1:] {
		steps = append(steps, at-p.Times[i])
	}
	slices.Sort(steps)
	if step := steps[len(steps)/2]; step < 700 {
		return nominal(step)
	} else {
		return max(step+500, 1000) / 1000 * 1000
	}
}

// phase returns how long after a time most reports come, in milliseconds and less than their interval. Those of a hang
// come late.
func (p *Periodic) phase(interval int64, since time.Time) int64 {
	if interval <= 0 || len(p.Times) == 0 {
		return 0
	}
	middle := p.Times[len(p.Times)/2]
	var off []int64
	for _, at := range p.Times {
		off = append(off, Modulo(at-middle+interval/2, interval)-interval/2)
	}
	slices.Sort(off)
	return Modulo(middle+off[len(off)/2]-since.UnixMilli(), interval)
}

// begun says when a job began, by periodic reports.
type begun struct {
	start  time.Time     // the earliest timestamp minus run time: the job began then or before
	slack  time.Duration // it may have begun this much before, because it had ended when the report was written
	last   time.Time     // timestamp minus run time in the last report
	ran    int64         // at the last report, milliseconds
	waited bool          // for other jobs to end (stonewall), for its startdelay or its ramp_time
}

// Take adds a report. While a job waits, its run time in the report is how long it has waited, or the time since the
// machine was started. When the job starts, and when its ramp_time is over, its run time starts at 0 again. A report of
// another fio, which started after the one before had ended, replaces those before.
func (o *Output) Take(one *fiolog.Report) {
	if was := o.Fio; was != nil {
		haveSameJobs := slices.EqualFunc(was.Jobs, one.Jobs, func(a, b fiolog.Job) bool { return a.Name == b.Name && a.Host == b.Host })
		before, after := elapsed(was), elapsed(one)
		isAnother := !haveSameJobs
		if haveSameJobs && before > 0 && after > 0 && was.Timestamp > 0 && one.Timestamp > 0 {
			// Another fio started after the one before had ended if it ran for less than the time between the two reports.
			const rounding = 1200 // of elapsed, which is in whole seconds
			isAnother = one.Timestamp-was.Timestamp-(after-before) > rounding || after < before
		}
		if isAnother {
			// While fio lays out files it writes reports without requests. Later it counts its elapsed time from 0 again (3.33).
			if !haveSameJobs || slices.ContainsFunc(was.Jobs, func(j fiolog.Job) bool { return RequestsOf(&j) > 0 }) {
				o.Others++
			}
			o.Periodic = Periodic{Skip: o.Skip + o.Reports()}
		}
	}
	before := one.Timestamp - elapsed(one)
	if o.Reports() > 0 {
		before = o.Times[o.Reports()-1]
	}
	o.Fio, o.groups, o.Times = one, max(o.groups, one.Groups()), append(o.Times, one.Timestamp)
	for len(o.begun) < len(one.Jobs) {
		o.begun = append(o.begun, begun{})
	}
	o.Client, o.HasBins = false, false
	for i := range one.Jobs {
		j := &one.Jobs[i]
		b, ran := &o.begun[i], ranFor(j)
		measured, impossible := measuredFor(j)
		if impossible > 0 {
			o.Impossible = fmt.Sprintf("job %d (%s) ran for %v in a report of fio after %d s, which cannot be: not used", i+1, j.Name,
				time.Duration(impossible)*time.Millisecond, j.Elapsed)
		}
		at, ramp := time.UnixMilli(one.Timestamp-ran), o.Options(i).ramp()
		if rampEnded := ramp > 0 && !b.last.IsZero() && (at.Sub(b.last)-ramp).Abs() < together; ran < b.ran || rampEnded {
			*b = begun{waited: true}
		}
		switch {
		case measured == 0 || one.Timestamp == 0:
			at = time.Time{}
		case b.start.IsZero():
			b.slack = time.Duration(one.Timestamp-before) * time.Millisecond
		case ran > b.ran: // it ran when the report before was written
			b.slack = 0
		}
		b.start, b.last, b.ran = Earlier(b.start, at), at, ran
		o.Client = o.Client || j.Host != ""
		for _, s := range j.All() {
			o.HasBins = o.HasBins || len(s.Clat.Bins) > 0 || len(s.Lat.Bins) > 0
		}
	}
}

func HaveSameTotals(a, b fiolog.Job) bool {
	return a.Name == b.Name && a.Host == b.Host && a.Runtime == b.Runtime && RequestsOf(&a) == RequestsOf(&b)
}

// elapsed returns how long fio ran until it wrote a report, in milliseconds. It may be up to a second too long. It is 0
// if the report lacks it.
func elapsed(rep *fiolog.Report) int64 {
	longest := int64(0)
	for i := range rep.Jobs {
		longest = max(longest, rep.Jobs[i].Elapsed)
	}
	return longest * 1000
}

func (o *Output) Options(job int) jobOptions {
	j := &o.Fio.Jobs[job]
	return jobOptions{job: j.Name, own: j.Options, global: o.Fio.GlobalOptions}
}

func (o *Output) any(is func(jobOptions) bool) bool {
	for i := range o.Fio.Jobs {
		if is(o.Options(i)) {
			return true
		}
	}
	return false
}

// names reports whether a job of this output may have logs of that prefix by its options.
func (o *Output) names(prefix string) bool {
	return o.any(func(j jobOptions) bool { return j.mayWrite(prefix) })
}

// trustsTimes reports whether fio itself set the times of the files. Then the time of the report's file agrees with the
// report's timestamp.
func (o *Output) trustsTimes() bool {
	if o.Fio.Timestamp == 0 || o.File.ModTime.IsZero() {
		return false
	}
	return o.File.ModTime.Sub(time.UnixMilli(o.Fio.Timestamp)).Abs() <= apartTimes
}

// apartTimes is how much the times of files may differ that were written together. Some archives store times in steps
// of two seconds.
const apartTimes = 2500 * time.Millisecond

// step returns how finely the times of files are recorded. Many archives, programs that copy, and file systems keep
// whole or even seconds.
func step(files ...*source.File) (step time.Duration) {
	even := true
	for _, f := range files {
		if f.ModTime.Nanosecond() == 0 {
			step, even = max(step, f.ModStep, time.Second), even && f.ModTime.Unix()%2 == 0
		}
	}
	if step > 0 && even {
		step = 2 * time.Second
	}
	return step
}

// written returns when the last report was written, after all jobs had ended. The timestamp of a report of fio --client
// is the start of the client. So written returns the file's time, if it is possible. Otherwise it assumes that the jobs
// began with the client.
func (o *Output) written() (time.Time, Clock) {
	at := time.UnixMilli(o.Fio.Timestamp)
	switch {
	case o.Fio.Timestamp == 0:
		return o.File.ModTime, clockMtime
	case !o.Client:
		return at, clockReport
	}
	longest := int64(0)
	for i := range o.Fio.Jobs {
		longest = max(longest, ranFor(&o.Fio.Jobs[i]))
	}
	end := at.Add(time.Duration(longest) * time.Millisecond)
	const setup = 30 * time.Second // for connecting and for jobs to prepare
	if late := o.File.ModTime.Sub(end); late > -time.Second && late < setup {
		return o.File.ModTime, clockMtime
	}
	return end, clockReport
}
