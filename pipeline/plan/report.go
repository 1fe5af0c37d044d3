package plan

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Output is what one fio printed: its last report, which covers the whole run, and what its periodic reports show.
type Output struct {
	cbt.Report
	Fio     *fiolog.Report
	host    string   // of its jobs, by its own name or by the names of their logs
	Client  bool     // written by fio --client: jobs of several hosts, no absolute time
	HasBins bool     // json+
	groups  int      // the most groups of bins in any report
	Others  int      // executions of fio before this one, in the same file (>>)
	Entries []*Entry // entries of its jobs; none if it is not of the run
	Periodic
}

// Periodic is what the reports of one fio show together (--status-interval).
type Periodic struct {
	Skip  int     // reports of earlier executions in the same file
	Times []int64 // of the reports of this execution, milliseconds since 1970
	begun []begun // of each job

	Impossible string // what is wrong with the run time of a job in a report; empty if nothing is
}

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

// begun says when a job began, by periodic reports.
type begun struct {
	start time.Time     // the earliest timestamp minus run time: the job began then or before
	slack time.Duration // it may have begun this much before, because it had ended when the report was written
	last  time.Time     // timestamp minus run time in the last report
	ran   int64         // at the last report, milliseconds
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
			o.Periodic = Periodic{Skip: o.Skip + len(o.Times)}
		}
	}
	before := one.Timestamp - elapsed(one)
	if len(o.Times) > 0 {
		before = o.Times[len(o.Times)-1]
	}
	o.Fio, o.groups, o.Times = one, max(o.groups, one.Groups()), append(o.Times, one.Timestamp)
	for len(o.begun) < len(one.Jobs) {
		o.begun = append(o.begun, begun{})
	}
	o.Client, o.HasBins = false, false
	for i := range one.Jobs {
		j := &one.Jobs[i]
		b, options := &o.begun[i], o.Options(i)
		times := options.timesOf(j)
		if times.impossible > 0 {
			o.Impossible = fmt.Sprintf("job %d (%s) ran for %v in a report of fio after %d s, which cannot be: not used", i+1, j.Name,
				time.Duration(times.impossible)*time.Millisecond, j.Elapsed)
		}
		ran, at := times.ran, time.UnixMilli(one.Timestamp-times.ran)
		ramp, _, _ := options.waits()
		if rampEnded := ramp > 0 && !b.last.IsZero() && (at.Sub(b.last)-ramp).Abs() < together; ran < b.ran || rampEnded {
			*b = begun{} // it waited for other jobs to end (stonewall), for its startdelay or its ramp_time
		}
		switch {
		case times.measured == 0 || one.Timestamp == 0:
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

// names reports whether a job of this output may have logs of that prefix by its options.
func (o *Output) names(prefix string) bool {
	for i := range o.Fio.Jobs {
		if o.Options(i).mayWrite(prefix) {
			return true
		}
	}
	return false
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
		longest = max(longest, o.Options(i).timesOf(&o.Fio.Jobs[i]).ran)
	}
	end := at.Add(time.Duration(longest) * time.Millisecond)
	const setup = 30 * time.Second // for connecting and for jobs to prepare
	if late := o.File.ModTime.Sub(end); late > -time.Second && late < setup {
		return o.File.ModTime, clockMtime
	}
	return end, clockReport
}

// Entry is one job in fio's output, or one group of jobs with group_reporting, and the jobs
// that it covers.
type Entry struct {
	jobOptions
	*fiolog.Job
	groups  int  // number of groups of bins of this fio: see [planner.choose]
	total   bool // latencies count from submission, because there are no bins of completion latencies
	Out     *Output
	Index   int      // of its first job in the report
	first   int      // number of its first job, as fio counts them
	Size    int      // number of jobs that it stands for: numjobs with group_reporting, else one
	Jobs    []*Job   // the jobs that it covers
	Ran     int64    // milliseconds
	Several bool     // its jobs ran at different times, which only their rows show
	parts   []*Entry // the entries that were combined, because logs do not say to which of them they belong
}

// NewEntries returns an entry for each job of an output.
func NewEntries(o *Output) (entries []*Entry) {
	same := map[string]int{}
	for _, j := range o.Fio.Jobs {
		same[j.Host+"\x00"+j.Name]++
	}
	first := 1
	for i := range o.Fio.Jobs {
		j, options, size := &o.Fio.Jobs[i], o.Options(i), 1
		// Without group_reporting each of the numjobs jobs has an entry, of the same name.
		if same[j.Host+"\x00"+j.Name] == 1 {
			size = max(int(number(options.OptionOfOne("numjobs"))), 1)
		}
		if n := options.timesOf(j).jobs; n > size {
			size, options.isGroup = n, true
		}
		e := &Entry{jobOptions: options, groups: o.groups, Out: o, Index: i, first: first, Size: size}
		e.Job, e.Ran = e.View(j), e.RanIn(j)
		entries = append(entries, e)
		first += size
	}
	return entries
}

// RanIn returns how long the jobs of the entry had run when a report was written, in milliseconds.
func (e *Entry) RanIn(j *fiolog.Job) int64 {
	times := e.timesOf(j)
	return max(times.ran, min(j.Runtime/int64(e.Size), times.most))
}

// View returns the statistics of the entry's job in any report of its fio. It moves the sum of all directions to the only
// direction of the job. If the job has several directions, only the rows of logs separate them. With total it takes the
// bins of latencies from submission where there are none of completion latencies; the means stay.
func (e *Entry) View(j *fiolog.Job) *fiolog.Job {
	job := *j
	if j.Mixed != nil {
		mixed := *j.Mixed
		job.Mixed = &mixed
		if directions := e.directions(); len(directions) == 1 {
			job.Directions[directions[0]], job.Mixed = mixed, nil
		}
	}
	for _, of := range job.All() {
		if e.total && len(of.Clat.Bins) == 0 && len(of.Lat.Bins) > 0 {
			of.Clat.Bins, of.Clat.Layout, of.Clat.Percentiles, of.Clat.N = of.Lat.Bins, of.Lat.Layout, of.Lat.Percentiles, of.Lat.N
		}
	}
	return &job
}

// useTotalLatency uses the bins of latencies from submission if the job has none of completion latencies (disable_clat,
// clat_percentiles=0, lat_percentiles of fio up to 3.17). It reports whether it did.
func (e *Entry) useTotalLatency() bool {
	e.total = slices.ContainsFunc(e.All(), func(of *fiolog.DirectionStats) bool { return len(of.Clat.Bins) == 0 && len(of.Lat.Bins) > 0 })
	e.Job = e.View(e.Job)
	return e.total
}

// Miscounted returns an error for a direction whose bins have more or fewer requests than the report counts. isUsed
// says whether the bins are used.
func (e *Entry) Miscounted(s *fiolog.DirectionStats, isUsed bool) error {
	why := "the report is damaged, its bins are not used; copy it again"
	if isUsed {
		why = "fio was killed, or the report is damaged; its bins are used"
	}
	return fmt.Errorf("%s: job %s: its bins have %.0f requests, but total_ios is %d: %s", e.Out.File.Name(), e.Name,
		s.Clat.Histogram(e.groups).Total(), s.TotalIOs, why)
}

func (e *Entry) Describe() string {
	text := fmt.Sprintf("%s: job %d (%s)", e.Out.File.Name(), e.Index+1, e.Name)
	if e.Host != "" {
		text += " of " + e.Host
	}
	return text
}

func (e *Entry) ranFor() time.Duration { return time.Duration(e.Ran) * time.Millisecond }

// ReadsLogs reports whether rows are read from a log of the entry. Rows may lack requests that the report has.
func (e *Entry) ReadsLogs() bool { return slices.ContainsFunc(e.Jobs, (*Job).ReadsLog) }

// combine makes one entry of several entries, because nothing says which log belongs to which of them.
func combine(entries []*Entry) *Entry {
	first := entries[0]
	if len(entries) == 1 {
		return first
	}
	sum := *first.Job
	var options []map[string]string
	for _, e := range entries {
		all := map[string]string{} // of all jobs of the entry
		for name, value := range e.global {
			if _, isOwn := e.own[name]; !isOwn {
				all[name] = value
			}
		}
		if !e.isGroup {
			maps.Copy(all, e.own)
		}
		options = append(options, all)
	}
	isMixed := false
	one := &Entry{
		jobOptions: jobOptions{job: first.job, own: map[string]string{}, global: common(options), isGroup: true}, Job: &sum,
		groups: first.groups, Out: first.Out, Index: first.Index, first: first.first, parts: entries,
	}
	for _, e := range entries {
		for _, options := range []map[string]string{e.global, e.own} {
			for name, value := range options {
				if _, isSame := one.global[name]; !isSame {
					one.own[name] = value
				}
			}
		}
		one.Size += e.Size
		one.Ran = max(one.Ran, e.Ran)
		isMixed = isMixed || e.Mixed != nil
	}
	for d := range sum.Directions {
		sum.Directions[d] = addStats(entries, func(e *Entry) *fiolog.DirectionStats { return &e.Directions[d] })
	}
	if isMixed {
		all := addStats(entries, func(e *Entry) *fiolog.DirectionStats { return e.Mixed })
		sum.Mixed = &all
	}
	return one
}

// addStats adds up the statistics of one direction over entries. of may return nil.
func addStats(entries []*Entry, of func(*Entry) *fiolog.DirectionStats) (sum fiolog.DirectionStats) {
	bins := &hist.Histogram{}
	for _, e := range entries {
		from := of(e)
		if from == nil {
			continue
		}
		sum.IOBytes += from.IOBytes
		sum.TotalIOs += from.TotalIOs
		sum.Uncounted = sum.Uncounted || from.Uncounted
		sum.IOPS += from.IOPS
		sum.BandwidthBytes += from.BandwidthBytes
		sum.Runtime = max(sum.Runtime, from.Runtime)
		sum.Clat.N += from.Clat.N
		bins.AddBins(from.Clat.Layout, from.Clat.Bins)
	}
	sum.Clat.Layout, sum.Clat.Bins = bins.Layout(), bins.Bins()
	return sum
}

// HasPeriodic reports whether periodic reports show when the requests of an entry completed. e may be nil.
func (e *Entry) HasPeriodic() bool {
	return e != nil && len(e.Out.Times) >= 3 && e.Out.HasBins && e.Mixed == nil
}

// exceeds reports whether a completion latency may be at or above a limit in nanoseconds.
func (e *Entry) exceeds(limit int64) bool {
	if len(e.parts) > 0 {
		return slices.ContainsFunc(e.parts, func(part *Entry) bool { return part.exceeds(limit) })
	}
	return slices.ContainsFunc(e.All(), func(s *fiolog.DirectionStats) bool {
		l := &s.Clat
		if len(l.Bins) == 0 {
			most := max(l.Max, s.Lat.Max) // logs may have total latencies
			return s.TotalIOs > 0 && (most >= limit || most == 0)
		}
		_, high := l.Layout.Bounds(int(l.Bins[len(l.Bins)-1].Index))
		return high > limit
	})
}

// common returns the options that are the same in all of a list.
func common(list []map[string]string) map[string]string {
	var same map[string]string
	for i, one := range list {
		if i == 0 {
			same = maps.Clone(one)
		}
		maps.DeleteFunc(same, func(name, value string) bool { is, ok := one[name]; return !ok || is != value })
	}
	return same
}

// Histogram returns the bins of one direction in any report of this fio. It is empty without bins.
func (e *Entry) Histogram(of *fiolog.DirectionStats) *hist.Histogram {
	return of.Clat.Histogram(e.groups)
}

// Failed returns the number of requests of a direction that failed. fio counts them but measures no latency. The number
// is negative if fio measured requests that it does not count: they were in flight when ramp_time ended. failed returns
// false if the report is damaged, because the bins have another number of requests than was measured.
func (e *Entry) Failed(of *fiolog.DirectionStats) (int64, bool) {
	n := uint64(0)
	for _, b := range of.Clat.Bins {
		n += b.Count
	}
	if n == 0 || n == of.TotalIOs {
		return 0, true
	}
	if of.Clat.N == n || n < of.TotalIOs && e.Error != 0 {
		return int64(of.TotalIOs) - int64(n), true
	}
	return 0, false
}

// Measured returns the number of requests of a direction that have a latency: all that did not fail.
func (e *Entry) Measured(of *fiolog.DirectionStats) int64 {
	failed, _ := e.Failed(of)
	return int64(of.TotalIOs) - failed
}

// served reports whether a direction had requests.
func served(s *fiolog.DirectionStats) bool { return s.TotalIOs > 0 || s.Uncounted }

func RequestsOf(j *fiolog.Job) (sum uint64) {
	for _, s := range j.All() {
		sum += s.TotalIOs
	}
	return sum
}

// runTimes are how long a job of a report ran, in milliseconds.
type runTimes struct {
	measured   int64 // the longest of its directions; 0 if fio measured none, or for longer than it ran, which cannot be
	impossible int64 // that time; else 0
	ran        int64 // the time until the report was written
	most       int64 // no job ran longer
	jobs       int   // the entry has at least as many jobs
}

// timesOf returns the run times of a job in a report. job_runtime may be a sum over jobs (group_reporting), or the time
// that the job has waited. In the report of the moment in which a job begins, it is the time since fio or the machine was
// started: the job then has requests, but its directions have no time.
func (o jobOptions) timesOf(j *fiolog.Job) runTimes {
	t := runTimes{jobs: 1}
	sum := int64(0)
	for _, s := range j.All() {
		t.measured = max(t.measured, s.Runtime)
		sum += s.Runtime
	}
	if j.Elapsed > 0 && t.measured > (j.Elapsed+1)*1000 {
		t.measured, t.impossible = 0, t.measured
	}
	if t.ran = t.measured; t.ran == 0 && RequestsOf(j) == 0 {
		t.ran = j.Runtime
	}
	if t.most = t.measured; o.HasOption("verify") {
		t.most = sum // it reads after it has written
	}
	const slack = 50 // milliseconds; run times in a group may also differ by a twentieth
	if more := j.Runtime - t.most/20 - slack; t.most > 0 && more > t.most {
		t.jobs = int((more-1)/t.most) + 1
	}
	return t
}
