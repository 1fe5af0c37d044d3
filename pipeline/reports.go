package pipeline

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// output is what fio printed on one host for one volume: of several reports (with
// --status-interval) the last, which is that of the whole run.
type output struct {
	cbt.Report
	fio     *fiolog.Report
	start   time.Time // of the job that began first
	begun   []began   // of each job
	reports int
	first   int64 // run time at the first of them, milliseconds
	spacing int64 // milliseconds between them
	hasBins bool  // json+
	groups  int   // of bins, as far as any of the reports shows
}

// readOutputs reads fio's output of all hosts and volumes. CBT keeps each twice, as it
// was printed and the JSON alone: the first that has a report is enough.
func (r *reader) readOutputs() []*output {
	type place struct{ host, volume string }
	have := map[place]bool{}
	var outputs []*output
	for _, f := range r.run.Reports {
		at := place{f.Host, f.Volume}
		if f.Named && have[at] {
			continue
		}
		if out := r.readOutput(f); out != nil {
			have[at] = true
			outputs = append(outputs, out)
		}
	}
	return outputs
}

func (r *reader) readOutput(f cbt.Report) *output {
	in, err := f.File.Open()
	if err != nil {
		r.problems.lose(err)
		return nil
	}
	defer in.Close()
	out, times := &output{Report: f}, []int64(nil)
	for one, err := range fiolog.ReadReports(in, f.File.Name()) {
		if err != nil {
			alone := len(r.run.Logs)+len(r.run.Others) == 0 // and it begins as fio's do
			if (f.Named || alone || out.fio != nil) && !r.isGrowing(err) {
				r.problems.lose(err)
			}
			continue
		}
		one.Jobs = slices.DeleteFunc(one.Jobs, func(j fiolog.Job) bool { return j.Name == allClients })
		if len(one.Jobs) > 0 {
			out.fio = one
			out.see(one)
			out.reports++
			out.groups = max(out.groups, one.Groups())
			if out.reports == 1 {
				out.first = ranFor(&one.Jobs[0])
			}
			times = append(times, one.Timestamp)
		}
	}
	if out.fio == nil {
		return nil
	}
	out.setStart()
	if out.reports > 2 {
		out.spacing = spacing(times)
	}
	for i := range out.fio.Jobs {
		for d := range out.fio.Jobs[i].Directions {
			out.hasBins = out.hasBins || len(out.fio.Jobs[i].Directions[d].Clat.Bins) > 0
		}
	}
	return out
}

// allClients is what fio --client calls the sum of all other jobs in its report.
const allClients = "All clients"

// spacing is the middle one of the times between reports, in tens of milliseconds: the
// last comes when the run ends, others may be late.
func spacing(times []int64) int64 {
	var steps []int64
	for i := range times[1:] {
		steps = append(steps, times[i+1]-times[i])
	}
	slices.Sort(steps)
	return (steps[len(steps)/2] + 5) / 10 * 10
}

// began is what reports tell of when a job began.
type began struct {
	start  time.Time // the earliest timestamp - runtime: the first report was the least late
	ran    int64     // at the last report
	waited bool      // for other jobs to end (stonewall)
}

// see takes in when a report was written. Of a job that waits fio counts for how long it
// has, and begins again when the job does.
func (o *output) see(one *fiolog.Report) {
	for len(o.begun) < len(one.Jobs) {
		o.begun = append(o.begun, began{})
	}
	for i := range one.Jobs {
		b, ran := &o.begun[i], ranFor(&one.Jobs[i])
		if ran < b.ran {
			*b = began{waited: true}
		}
		if b.ran = ran; ran > 0 && one.Timestamp > 0 {
			b.start = earlier(b.start, time.UnixMilli(one.Timestamp-ran))
		}
	}
}

// setStart finds the job that began first: one that did something, if any has.
func (o *output) setStart() {
	var idle time.Time
	for i := range o.fio.Jobs {
		if j := &o.fio.Jobs[i]; requestsOf(j) > 0 {
			o.start = earlier(o.start, o.begun[i].start)
		} else {
			idle = earlier(idle, o.begun[i].start)
		}
	}
	if o.start.IsZero() {
		o.start = idle
	}
}

func requestsOf(j *fiolog.Job) (sum uint64) {
	for d := range j.Directions {
		sum += j.Directions[d].TotalIOs
	}
	return sum
}

// earlier is the earlier of two times, of which zero ones do not count.
func earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// ranFor is for how long a job ran, in milliseconds: fio counts it for the job and
// for each direction, and may round them differently.
func ranFor(j *fiolog.Job) int64 {
	ms := j.Runtime
	for d := range j.Directions {
		ms = max(ms, j.Directions[d].Runtime)
	}
	return ms
}

// fioJobs is how many jobs a report has; without one, none.
func (o *output) fioJobs() int {
	if o == nil {
		return 0
	}
	return len(o.fio.Jobs)
}

// option is a job's option, its own or that of all jobs.
func (o *output) option(entry int, name string) string {
	if v, ok := o.fio.Jobs[entry].Options[name]; ok {
		return v
	}
	return o.fio.GlobalOptions[name]
}

// entry is one job in fio's output, which with group_reporting stands for several.
type entry struct {
	*fiolog.Job
	out  *output
	logs []*job // that it covers

	// began is when it did, of a job that waited for others; else zero.
	began time.Time
}

// entry is that of a job, by its number from 0.
func (o *output) entry(i int) *entry {
	e := &entry{Job: &o.fio.Jobs[i], out: o}
	if b := &o.begun[i]; b.waited {
		e.began = b.start
	}
	return e
}

// attribute gives each log the entry of fio's output that covers it. Logs are numbered
// as fio numbers jobs, over all groups.
func (r *reader) attribute(outputs []*output) []*entry {
	var entries []*entry
	for _, out := range outputs {
		logs := r.logsOf(out)
		if len(logs) == 0 {
			if out.Named && !slices.ContainsFunc(r.jobs, out.mayCover) {
				entries = append(entries, r.unlogged(out, make([]*entry, len(out.fio.Jobs)))...)
			}
			continue
		}
		if logs[0].segment >= 0 {
			// fio writes a log of all jobs in the order in which they end: nothing tells
			// which of its parts is which job's.
			e := &entry{Job: combined(out.fio.Jobs), out: out, logs: logs}
			for _, j := range logs {
				j.entry = e
			}
			entries = append(entries, e)
			continue
		}
		covers := out.covers(highest(logs))
		if covers == nil {
			r.problems.note("%s: %d jobs for %d logs: not attributed", out.File.Name(), len(out.fio.Jobs), len(logs))
			continue
		}
		byEntry := make([]*entry, len(out.fio.Jobs))
		for _, j := range logs {
			i := covers[j.number()-1]
			if byEntry[i] == nil {
				byEntry[i] = out.entry(i)
				entries = append(entries, byEntry[i])
			}
			byEntry[i].logs = append(byEntry[i].logs, j)
			j.entry = byEntry[i]
		}
		entries = append(entries, r.unlogged(out, byEntry)...)
	}
	return entries
}

// combined is what several jobs did together.
func combined(jobs []fiolog.Job) *fiolog.Job {
	sum := jobs[0]
	for d := range sum.Directions {
		to, bins := &sum.Directions[d], &hist.Histogram{}
		bins.AddBins(to.Clat.Layout, to.Clat.Bins)
		for i := range jobs[1:] {
			from := &jobs[1+i].Directions[d]
			to.IOBytes += from.IOBytes
			to.TotalIOs += from.TotalIOs
			to.IOPS += from.IOPS
			to.BandwidthBytes += from.BandwidthBytes
			to.Runtime = max(to.Runtime, from.Runtime)
			sum.Runtime = max(sum.Runtime, jobs[1+i].Runtime)
			bins.AddBins(from.Clat.Layout, from.Clat.Bins)
		}
		to.Clat.Layout, to.Clat.Bins = bins.Layout(), nil
		for i, n := range bins.All() {
			to.Clat.Bins = append(to.Clat.Bins, hist.Bin{Index: uint32(i), Count: uint64(n)})
		}
	}
	return &sum
}

// unlogged notes the jobs of an output whose logs should be there and are not: those
// that have no entry yet.
func (r *reader) unlogged(out *output, have []*entry) []*entry {
	var entries []*entry
	for i := range out.fio.Jobs {
		if have[i] != nil || out.option(i, "write_hist_log") == "" && !(r.fromRaw() && out.option(i, "write_lat_log") != "") {
			continue
		}
		e, sum := out.entry(i), uint64(0)
		entries = append(entries, e)
		for d := range e.Directions {
			sum += e.Directions[d].TotalIOs
			r.missing.add(fiolog.Direction(d), int64(e.Directions[d].TotalIOs))
		}
		if sum > 0 {
			r.problems.lose(fmt.Errorf("%s: job %d (%s) served %d requests, but its log is not there",
				out.File.Name(), i+1, e.Name, sum))
		}
	}
	return entries
}

// logsOf are the logs that were written by the fio whose output this is.
func (r *reader) logsOf(out *output) []*job {
	var logs []*job
	for _, j := range r.jobs {
		if j.entry == nil && out.mayCover(j) {
			logs = append(logs, j)
		}
	}
	return logs
}

// mayCover tells whether a log was written by the fio whose output this is: CBT's names
// tell, else the prefix that the options name, else there is only one in the folder.
func (o *output) mayCover(j *job) bool {
	switch {
	case j.log.Host != o.Host:
		return false
	case o.Named:
		return j.log.Volume == o.Volume
	}
	return path.Dir(j.log.File.Path) == path.Dir(o.File.Path) && o.wrote(j.log.Prefix)
}

// wrote tells whether a job of this output wrote histogram logs of that prefix; also
// when the options do not say.
func (o *output) wrote(prefix string) bool {
	named := false
	for i := range o.fio.Jobs {
		if p := o.option(i, "write_hist_log"); p != "" {
			named = true
			if path.Base(p) == prefix {
				return true
			}
		}
	}
	return !named
}

func highest(logs []*job) int {
	n := 0
	for _, j := range logs {
		n = max(n, j.number())
	}
	return n
}

// covers tells for each of n logs the entry that covers it: its own, or with
// group_reporting that of its group, whose size is numjobs; nil if neither fits.
func (o *output) covers(n int) []int {
	if len(o.fio.Jobs) >= n {
		one := make([]int, n)
		for i := range one {
			one[i] = i
		}
		return one
	}
	var covers []int
	for i := range o.fio.Jobs {
		size, err := strconv.Atoi(o.option(i, "numjobs"))
		if err != nil {
			size = 1
		}
		if len(o.fio.Jobs) == 1 {
			size = n
		}
		for range min(size, n) {
			covers = append(covers, i)
		}
	}
	if len(covers) < n {
		return nil
	}
	return covers
}

// complete tells whether the entry has the bins of all its requests (json+), of
// direction d, and that they add up to its total.
func (e *entry) complete(d fiolog.Direction) error {
	stats := &e.Directions[d]
	sum := uint64(0)
	for _, b := range stats.Clat.Bins {
		sum += b.Count
	}
	if len(stats.Clat.Bins) > 0 && sum != stats.TotalIOs {
		return fmt.Errorf("%s: job %s: %s: bins hold %d requests, total_ios is %d", e.out.File.Name(), e.Name, d, sum, stats.TotalIOs)
	}
	return nil
}
