package pipeline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// output is what one fio printed: the last of its reports, which covers the whole run, and
// the times of the periodic reports before it (--status-interval).
type output struct {
	cbt.Report
	fio     *fiolog.Report
	client  bool    // written by fio --client: jobs of several hosts, no absolute time
	hasBins bool    // json+
	begun   []begun // of each job
	reports int     // of this execution
	skip    int     // reports of earlier executions in the same file
	earlier int     // how many executions these are of
	first   int64   // run time at the first report, milliseconds
	spacing int64   // milliseconds between reports; 0: there are too few
	groups  int     // of bins, the most of any report
}

// begun is when a job began, by periodic reports.
type begun struct {
	start  time.Time // the earliest timestamp less run time
	ran    int64     // at the last report, milliseconds
	waited bool      // for other jobs to end (stonewall), for its startdelay or its ramp_time
	served bool      // it had requests
}

// allClients is the name of the sum of all other jobs in a report of fio --client.
const allClients = "All clients"

// maxReports bounds the memory of the reports of one run in bytes: some thousand hosts and
// volumes with json+.
const maxReports = 96 << 20

// readOutputs reads fio's output of all hosts and volumes. CBT has each twice, as printed and
// the JSON alone. The first with a report is used.
func (b *planner) readOutputs(ctx context.Context) []*output {
	type place struct{ host, volume string }
	have := map[place]bool{}
	var outputs []*output
	memory := 0
	for i, f := range b.run.Reports {
		if memory > maxReports {
			b.skip(fmt.Errorf("%s: from here on %d of %d reports are not read, because those before take %d MB: "+
				"run fio with group_reporting",
				f.File.Name(), len(b.run.Reports)-i, len(b.run.Reports), memory>>20))
			break
		}
		at := place{f.Host, f.Volume}
		if f.Named && have[at] {
			continue
		}
		if out := b.readOutput(ctx, f); out != nil {
			have[at] = true
			outputs = append(outputs, out)
			memory += out.fio.Memory()
		}
	}
	return outputs
}

func (b *planner) readOutput(ctx context.Context, f cbt.Report) *output {
	in, err := f.File.Open()
	if err != nil {
		b.skip(err)
		return nil
	}
	defer in.Close()
	out := &output{Report: f}
	var times []int64
	n := 0
	for one, err := range b.run.Budget.Reports(in, f.File) {
		if ctx.Err() != nil {
			return nil
		}
		if errors.Is(err, cbt.ErrBudget) {
			b.skip(err)
			return nil
		}
		if err != nil {
			alone := len(b.run.Logs)+len(b.run.Others) == 0 // and it begins as fio's do
			if !b.isUnfinished(err) && (f.Named || alone || out.fio != nil || f.IsFio()) {
				b.skip(err)
			}
			continue
		}
		one.Jobs = slices.DeleteFunc(one.Jobs, func(j fiolog.Job) bool { return j.Name == allClients })
		if len(one.Jobs) == 0 {
			continue
		}
		if out.fio != nil && isAnotherExecution(out.fio, one) {
			out.earlier++
			out.skip, out.reports, out.begun, times = n, 0, nil, nil
		}
		n++
		out.take(one)
		times = append(times, one.Timestamp)
	}
	if out.fio == nil {
		return nil
	}
	out.spacing = spacing(times)
	for i := range out.fio.Jobs {
		j := &out.fio.Jobs[i]
		out.client = out.client || j.Host != ""
		for _, s := range j.All() {
			out.hasBins = out.hasBins || len(s.Clat.Bins) > 0 || len(s.Lat.Bins) > 0
		}
	}
	if out.earlier > 0 {
		b.skip(fmt.Errorf("%s: it has reports of %d runs of fio, one after another (>>): only the last is used; "+
			"write each run's report to its own file", f.File.Name(), out.earlier+1))
	}
	return out
}

// isUnfinished reports whether an error means no more than that fio still writes the report.
func (b *planner) isUnfinished(err error) bool {
	var cut *fiolog.SyntaxError
	return b.tailing != nil && errors.As(err, &cut) && cut.Partial
}

// take adds a report. While a job waits, its run time in the report is how long it has waited;
// it starts at 0 again when the job does.
func (o *output) take(one *fiolog.Report) {
	o.fio, o.groups = one, max(o.groups, one.Groups())
	if o.reports++; o.reports == 1 {
		o.first = ranFor(&one.Jobs[0])
	}
	for len(o.begun) < len(one.Jobs) {
		o.begun = append(o.begun, begun{})
	}
	for i := range one.Jobs {
		j := &one.Jobs[i]
		b, ran := &o.begun[i], ranFor(j)
		if ran < b.ran && !b.served {
			*b = begun{waited: true}
		}
		b.ran, b.served = ran, b.served || requestsOf(j) > 0
		if ran > 0 && one.Timestamp > 0 && hasRun(j) {
			b.start = earlier(b.start, time.UnixMilli(one.Timestamp-ran))
		}
	}
}

// isAnotherExecution reports whether the report after is of another fio, which started when
// the first had ended: then its elapsed time grew by less than the clock.
func isAnotherExecution(before, after *fiolog.Report) bool {
	same := func(a, b fiolog.Job) bool { return a.Name == b.Name && a.Host == b.Host }
	if !slices.EqualFunc(before.Jobs, after.Jobs, same) {
		return true
	}
	const rounding = 1200 // of elapsed, which is in whole seconds
	was, is := elapsed(before), elapsed(after)
	if was == 0 || is == 0 || before.Timestamp == 0 || after.Timestamp == 0 {
		return false
	}
	apart := after.Timestamp - before.Timestamp - (is - was)
	return apart > rounding || is < was
}

// elapsed is how long fio ran until it wrote a report, or up to a second more, in
// milliseconds; 0 if the report lacks it.
func elapsed(rep *fiolog.Report) int64 {
	longest := int64(0)
	for i := range rep.Jobs {
		longest = max(longest, rep.Jobs[i].Elapsed)
	}
	return longest * 1000
}

// spacing is the median time between reports in milliseconds, rounded to tens: the last
// comes when the run ends, and others may be late.
func spacing(times []int64) int64 {
	if len(times) < 3 {
		return 0
	}
	var steps []int64
	for i := range times[1:] {
		steps = append(steps, times[i+1]-times[i])
	}
	slices.Sort(steps)
	return tens(steps[len(steps)/2])
}

func requestsOf(j *fiolog.Job) (sum uint64) {
	for _, s := range j.All() {
		sum += s.TotalIOs
	}
	return sum
}

// ranFor is how long a job ran, in milliseconds. With group_reporting job_runtime is the sum
// over the jobs of the group; the directions have the real time (fio 3.33).
func ranFor(j *fiolog.Job) int64 {
	ms := int64(0)
	for _, s := range j.All() {
		ms = max(ms, s.Runtime)
	}
	if ms == 0 {
		return j.Runtime
	}
	return ms
}

// hasRun reports whether a report has the run time of a job: job_runtime alone may be a sum or
// the time that it has waited.
func hasRun(j *fiolog.Job) bool {
	return slices.ContainsFunc(j.All(), func(s *fiolog.DirectionStats) bool { return s.Runtime > 0 })
}

// earlier is the earlier of two times. Zero times do not count.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// option is an option of a job, its own or that of all jobs; "" if it is not set.
func (o *output) option(job int, name string) string {
	value, _ := o.fio.Option(job, name)
	return value
}

// option is an option of the entry's job; "" if it is not set.
func (e *entry) option(name string) string { return e.out.option(e.index, name) }

// hasOption reports whether an option is set, with a value or without.
func (e *entry) hasOption(name string) bool {
	_, ok := e.out.fio.Option(e.index, name)
	return ok
}

// histMsec is log_hist_msec, the shortest of the jobs; 0 if not set.
func (o *output) histMsec() int64 {
	shortest := int64(0)
	for i := range o.fio.Jobs {
		if ms := milliseconds(o.option(i, "log_hist_msec")); ms > 0 && (shortest == 0 || ms < shortest) {
			shortest = ms
		}
	}
	return shortest
}
