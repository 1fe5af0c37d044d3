package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"time"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// output is what one fio printed: its last report, which covers the whole run, and what its periodic reports show.
type output struct {
	cbt.Report
	fio     *fiolog.Report
	host    string    // of its jobs, by its own name or by the names of their logs
	client  bool      // written by fio --client: jobs of several hosts, no absolute time
	hasBins bool      // json+
	stale   bool      // of an earlier run than the logs
	groups  int       // the most groups of bins in any report
	entries entryList // entries of its jobs; none if it is not of the run
	periodic
}

// periodic is what the reports of one fio show together (--status-interval).
type periodic struct {
	skip  int     // reports of earlier executions in the same file
	times []int64 // of the reports of this execution, milliseconds since 1970
	begun []begun // of each job

	impossible string // what is wrong with the run time of a job in a report; empty if nothing is
}

// reports returns the number of reports of this execution.
func (p *periodic) reports() int { return len(p.times) }

// spacing returns the time between reports in milliseconds, as --status-interval sets it. That is whole seconds, except
// if reports come more often. It is near the median, because the last report comes when the run ends, and others may be
// late. It is 0 if there are too few reports.
func (p *periodic) spacing() int64 {
	if len(p.times) < 3 {
		return 0
	}
	var steps []int64
	for i, at := range p.times[1:] {
		steps = append(steps, at-p.times[i])
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
func (p *periodic) phase(interval int64, since time.Time) int64 {
	if interval <= 0 || len(p.times) == 0 {
		return 0
	}
	middle := p.times[len(p.times)/2]
	var off []int64
	for _, at := range p.times {
		off = append(off, modulo(at-middle+interval/2, interval)-interval/2)
	}
	slices.Sort(off)
	return modulo(middle+off[len(off)/2]-since.UnixMilli(), interval)
}

// modulo returns the remainder of a division, from 0 to n-1.
func modulo(x, n int64) int64 { return (x%n + n) % n }

// begun says when a job began, by periodic reports.
type begun struct {
	start  time.Time     // the earliest timestamp minus run time: the job began then or before
	slack  time.Duration // it may have begun this much before, because it had ended when the report was written
	last   time.Time     // timestamp minus run time in the last report
	ran    int64         // at the last report, milliseconds
	waited bool          // for other jobs to end (stonewall), for its startdelay or its ramp_time
}

// maxReports limits the memory for the reports of one run in bytes. It is enough for some thousand hosts and volumes
// with json+.
const maxReports = 96 << 20

// outputReader reads fio's outputs of a run.
type outputReader struct {
	run      *cbt.Run
	live     bool // fio still writes them
	problems *Problems
}

// all reads fio's output of all hosts and volumes. CBT stores each output twice: as printed, and its JSON alone. all
// uses the first of these files that has a report.
func (r outputReader) all(ctx context.Context) (outputs []*output) {
	type place struct{ host, volume string }
	have := map[place]bool{}
	memory := 0
	for i, f := range r.run.Reports {
		if memory > maxReports {
			r.problems.skip(fmt.Errorf("%s: from here on %d of %d reports are not read, because those before take %d MB: "+
				"run fio with group_reporting",
				f.File.Name(), len(r.run.Reports)-i, len(r.run.Reports), memory>>20))
			break
		}
		at := place{f.Host, f.Volume}
		if f.Named && have[at] {
			continue
		}
		if out := r.one(ctx, f); out != nil {
			have[at] = true
			outputs = append(outputs, out)
			memory += out.fio.Memory()
		}
	}
	return outputs
}

// one reads the output in a file. It returns nil if the file has no usable report.
func (r outputReader) one(ctx context.Context, f cbt.Report) *output {
	in, err := f.File.Open()
	if err != nil {
		r.problems.skip(err)
		return nil
	}
	defer in.Close()
	out, executions := &output{Report: f}, 1
	for one, err := range reportsOf(in, f.File) {
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, source.ErrTooMuch):
			return nil // that ends the reading of the run
		case err != nil:
			if !r.mayIgnore(err, out) {
				r.problems.skip(err)
			}
		default:
			if out.fio != nil && isAnotherExecution(out.fio, one) {
				if !wasPreparing(out.fio, one) {
					executions++
				}
				out.periodic = periodic{skip: out.skip + out.reports()}
			}
			out.take(one)
		}
	}
	if out.fio == nil {
		return nil
	}
	for i := range out.fio.Jobs {
		j := &out.fio.Jobs[i]
		out.client = out.client || j.Host != ""
		for _, s := range j.All() {
			out.hasBins = out.hasBins || len(s.Clat.Bins) > 0 || len(s.Lat.Bins) > 0
		}
	}
	if out.impossible != "" {
		r.problems.note("%s: %s", f.File.Name(), out.impossible)
	}
	if executions > 1 {
		r.problems.skip(fmt.Errorf("%s: it has reports of %d runs of fio, one after another (>>): only the last is used; "+
			"write each run's report to its own file", f.File.Name(), executions))
	}
	return out
}

// mayIgnore reports whether a damaged document in a file may be ignored. That is so if fio still writes it, or if
// nothing shows that fio wrote the file.
func (r outputReader) mayIgnore(err error, of *output) bool {
	var cut *fiolog.SyntaxError
	if r.live && errors.As(err, &cut) && cut.Partial {
		return true
	}
	alone := len(r.run.Logs)+len(r.run.Others) == 0 // without logs, the file was chosen because it begins like fio's output
	return !of.Named && !alone && of.fio == nil && !of.IsFio()
}

// take adds a report. While a job waits, its run time in the report is how long it has waited, or the time since the
// machine was started. When the job starts, and when its ramp_time is over, its run time starts at 0 again.
func (o *output) take(one *fiolog.Report) {
	before := one.Timestamp - elapsed(one)
	if o.reports() > 0 {
		before = o.times[o.reports()-1]
	}
	o.fio, o.groups, o.times = one, max(o.groups, one.Groups()), append(o.times, one.Timestamp)
	for len(o.begun) < len(one.Jobs) {
		o.begun = append(o.begun, begun{})
	}
	for i := range one.Jobs {
		j := &one.Jobs[i]
		b, ran := &o.begun[i], ranFor(j)
		if hasImpossibleTime(j) {
			o.impossible = fmt.Sprintf("job %d (%s) ran for %v in a report of fio after %d s, which cannot be: not used", i+1, j.Name,
				time.Duration(longestRuntime(j))*time.Millisecond, j.Elapsed)
		}
		at, ramp := time.UnixMilli(one.Timestamp-ran), o.options(i).ramp()
		if rampEnded := ramp > 0 && !b.last.IsZero() && (at.Sub(b.last)-ramp).Abs() < together; ran < b.ran || rampEnded {
			*b = begun{waited: true}
		}
		switch {
		case measuredFor(j) == 0 || one.Timestamp == 0:
			at = time.Time{}
		case b.start.IsZero():
			b.slack = time.Duration(one.Timestamp-before) * time.Millisecond
		case ran > b.ran: // it ran when the report before was written
			b.slack = 0
		}
		b.start, b.last, b.ran = earlier(b.start, at), at, ran
	}
}

// reportsOf iterates over the reports with jobs in a file. A report that is there once more, because files were joined,
// is left out: fio writes no two reports at the same moment.
func reportsOf(in io.Reader, f *source.File) iter.Seq2[*fiolog.Report, error] {
	return func(yield func(*fiolog.Report, error) bool) {
		var before *fiolog.Report
		for one, err := range cbt.ReadReports(in, f) {
			if err == nil {
				if len(one.Jobs) == 0 || before != nil && one.Timestamp > 0 && one.Timestamp == before.Timestamp &&
					slices.EqualFunc(one.Jobs, before.Jobs, haveSameTotals) {
					continue
				}
				before = one
			}
			if !yield(one, err) {
				return
			}
		}
	}
}

func haveSameTotals(a, b fiolog.Job) bool {
	return a.Name == b.Name && a.Host == b.Host && a.Runtime == b.Runtime && requestsOf(&a) == requestsOf(&b)
}

// isAnotherExecution reports whether the report after is from another fio, which started after the fio of before had
// ended. Then its elapsed time is shorter than the time between the two reports.
func isAnotherExecution(before, after *fiolog.Report) bool {
	if !haveSameJobs(before, after) {
		return true
	}
	const rounding = 1200 // rounding of elapsed, which is in whole seconds
	was, is := elapsed(before), elapsed(after)
	if was == 0 || is == 0 || before.Timestamp == 0 || after.Timestamp == 0 {
		return false
	}
	apart := after.Timestamp - before.Timestamp - (is - was)
	return apart > rounding || is < was
}

// wasPreparing reports whether the report before may be of the same fio as the report after. While fio lays out files
// it writes reports without requests. Later it counts its elapsed time from 0 again (3.33).
func wasPreparing(before, after *fiolog.Report) bool {
	hasRequests := func(j fiolog.Job) bool { return requestsOf(&j) > 0 }
	return haveSameJobs(before, after) && !slices.ContainsFunc(before.Jobs, hasRequests)
}

func haveSameJobs(a, b *fiolog.Report) bool {
	return slices.EqualFunc(a.Jobs, b.Jobs, func(a, b fiolog.Job) bool { return a.Name == b.Name && a.Host == b.Host })
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

// earlier returns the earlier of two times, and ignores a zero time.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

func (o *output) options(job int) jobOptions {
	j := &o.fio.Jobs[job]
	return jobOptions{job: j.Name, own: j.Options, global: o.fio.GlobalOptions}
}

func (o *output) any(is func(jobOptions) bool) bool {
	for i := range o.fio.Jobs {
		if is(o.options(i)) {
			return true
		}
	}
	return false
}

// names reports whether a job of this output may have logs of that prefix by its options.
func (o *output) names(prefix string) bool {
	return o.any(func(j jobOptions) bool { return j.mayWrite(prefix) })
}

// histMsec returns the shortest log_hist_msec of the jobs in milliseconds, or 0 if none is set.
func (o *output) histMsec() (shortest int64) {
	for _, e := range o.entries {
		if ms := e.histMsec(); ms > 0 && (shortest == 0 || ms < shortest) {
			shortest = ms
		}
	}
	return shortest
}

// trustsTimes reports whether fio itself set the times of the files. Then the time of the report's file agrees with the
// report's timestamp.
func (o *output) trustsTimes() bool {
	if o.fio.Timestamp == 0 || o.File.ModTime.IsZero() {
		return false
	}
	return o.File.ModTime.Sub(time.UnixMilli(o.fio.Timestamp)).Abs() <= apartTimes
}

// apartTimes is how much the times of files may differ that were written together. Some archives store times in steps
// of two seconds.
const apartTimes = 2500 * time.Millisecond

// step returns how finely the times of the files of a report and of its jobs are recorded.
func (o *output) step() time.Duration {
	files := []*source.File{o.File}
	for _, j := range o.jobs() {
		files = append(files, j.log.File)
	}
	return step(files...)
}

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
func (o *output) written() (time.Time, clock) {
	at := time.UnixMilli(o.fio.Timestamp)
	switch {
	case o.fio.Timestamp == 0:
		return o.File.ModTime, clockMtime
	case !o.client:
		return at, clockReport
	}
	longest := int64(0)
	for i := range o.fio.Jobs {
		longest = max(longest, ranFor(&o.fio.Jobs[i]))
	}
	end := at.Add(time.Duration(longest) * time.Millisecond)
	const setup = 30 * time.Second // for connecting and for jobs to prepare
	if late := o.File.ModTime.Sub(end); late > -time.Second && late < setup {
		return o.File.ModTime, clockMtime
	}
	return end, clockReport
}

// began returns the earliest possible start of the fio of an output.
func (o *output) began() time.Time {
	end, _ := o.written()
	if e := elapsed(o.fio); e > 0 {
		return end.Add(-time.Duration(e)*time.Millisecond - time.Second)
	}
	return time.Time{}
}
