package plan

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Entry is one job in fio's output, or one group of jobs with group_reporting, and the jobs
// that it covers.
type Entry struct {
	jobOptions
	*fiolog.Job
	groups  int  // number of groups of bins of this fio: see [planner.choose]
	IsMixed bool // the report has all directions in one (unified_rw_reporting)
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

// Entries are the entries of a run, or of one output.
type Entries []*Entry

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
		if n := groupSize(j, options.longest(j)); n > size {
			size, options.isGroup = n, true
		}
		e := &Entry{jobOptions: options, groups: o.groups, Out: o, Index: i, first: first, Size: size}
		e.use(j)
		e.Ran = e.RanIn(j)
		entries = append(entries, e)
		first += size
	}
	return entries
}

// hasSections reports whether an entry has several sections. The report lists the options of only one of them, so logs
// of the others may have any prefix.
func (o *Output) hasSections() bool {
	for i := range o.Fio.Jobs {
		options := o.Options(i)
		if j := &o.Fio.Jobs[i]; groupSize(j, options.longest(j)) > max(int(number(options.OptionOfOne("numjobs"))), 1) {
			return true
		}
	}
	return false
}

// RanIn returns how long the jobs of the entry had run when a report was written, in milliseconds.
func (e *Entry) RanIn(j *fiolog.Job) int64 {
	return max(ranFor(j), min(j.Runtime/int64(e.Size), e.longest(j)))
}

// groupSize returns the smallest possible number of jobs of an entry. With group_reporting, job_runtime is the sum over
// these jobs. No job ran longer than ran, in milliseconds.
func groupSize(j *fiolog.Job, ran int64) int {
	const slack = 50 // milliseconds; run times in a group may also differ by a twentieth
	if more := j.Runtime - ran/20 - slack; ran > 0 && more > ran {
		return int((more-1)/ran) + 1
	}
	return 1
}

// View returns the statistics of the entry's job in another report, read in the same way as those of the last report.
func (e *Entry) View(j *fiolog.Job) *fiolog.Job {
	one := &Entry{jobOptions: e.jobOptions}
	if one.use(j); e.total {
		one.useTotalLatency()
	}
	return one.Job
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

// cover makes the entry the only one of some jobs.
func (e *Entry) cover(jobs []*Job) []*Entry {
	for _, j := range jobs {
		j.Entry = e
	}
	return []*Entry{e}
}

// ReadsLogs reports whether rows are read from a log of the entry. Rows may lack requests that the report has.
func (e *Entry) ReadsLogs() bool { return slices.ContainsFunc(e.Jobs, (*Job).ReadsLog) }

// combine makes one entry of several entries, because nothing says which log belongs to which of them.
func combine(entries []*Entry) *Entry {
	first := entries[0]
	if len(entries) == 1 {
		return first
	}
	sum := *first.Job
	one := &Entry{
		jobOptions: joined(entries), Job: &sum, groups: first.groups,
		Out: first.Out, Index: first.Index, first: first.first, parts: entries,
	}
	for _, e := range entries {
		one.Size += e.Size
		one.Ran = max(one.Ran, e.Ran)
		one.IsMixed = one.IsMixed || e.IsMixed
	}
	for d := range sum.Directions {
		sum.Directions[d] = addStats(entries, func(e *Entry) *fiolog.DirectionStats { return &e.Directions[d] })
	}
	if one.IsMixed {
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

// joined returns the options of several jobs that are read as one job.
func joined(jobs []*Entry) jobOptions {
	var all []map[string]string
	for _, j := range jobs {
		all = append(all, j.all())
	}
	one := jobOptions{job: jobs[0].job, own: map[string]string{}, global: common(all), isGroup: true}
	for _, j := range jobs {
		for _, options := range []map[string]string{j.global, j.own} {
			for name, value := range options {
				if _, isSame := one.global[name]; !isSame {
					one.own[name] = value
				}
			}
		}
	}
	return one
}

// Settings returns the settings that all jobs of the entry have. One section of a group may have another value than the
// report lists for all. So a setting that the requests contradict is unknown.
func (e *Entry) settings() mapping.CBT {
	set := e.jobOptions.settings()
	if !e.isGroup {
		return set
	}
	_, directions := fiolog.ParseMode(set.Mode)
	for d := range fiolog.Direction(fiolog.Directions) {
		s := &e.Directions[d]
		isVerify := d == fiolog.Read && e.HasOption("verify")
		if s.TotalIOs > 0 && !slices.Contains(directions, d) && !isVerify {
			set.Mode, set.RWMixRead = "", 0
		}
	}
	for _, s := range e.All() {
		const few = 0.01 // requests that failed, or were in flight at the end of ramp_time
		size := float64(set.OpSize)
		if s.TotalIOs > 0 && math.Abs(float64(s.IOBytes)/float64(s.TotalIOs)-size) > few*size {
			set.OpSize = 0
		}
	}
	return set
}

// HasPeriodic reports whether periodic reports show when the requests of an entry completed. e may be nil.
func (e *Entry) HasPeriodic() bool {
	return e != nil && e.Out.Reports() >= 3 && e.Out.HasBins && !e.IsMixed
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

// Reported returns the entries of the run as fio reported them: parts in place of combined entries.
func (list Entries) Reported() (all []*Entry) {
	for _, e := range list {
		if all = append(all, e.parts...); len(e.parts) == 0 {
			all = append(all, e)
		}
	}
	return all
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

// use sets the statistics of the entry. It moves the sum of all directions to the only direction of the job. If the job
// has several directions, only the rows of logs separate them.
func (e *Entry) use(j *fiolog.Job) {
	e.Job = j
	if j.Mixed == nil {
		return
	}
	directions := e.directions()
	if e.IsMixed = len(directions) != 1; !e.IsMixed {
		job := *j
		job.Directions[directions[0]], job.Mixed = *j.Mixed, nil
		e.Job = &job
	}
}

// useTotalLatency uses the bins of latencies from submission if the job has none of completion latencies (disable_clat,
// clat_percentiles=0, lat_percentiles of fio up to 3.17). It reports whether it did. The means stay.
func (e *Entry) useTotalLatency() bool {
	used := false
	job := *e.Job
	if e.Mixed != nil {
		mixed := *e.Mixed
		job.Mixed = &mixed
	}
	for _, of := range job.All() {
		if len(of.Clat.Bins) == 0 && len(of.Lat.Bins) > 0 {
			used = true
			of.Clat.Bins, of.Clat.Layout, of.Clat.Percentiles, of.Clat.N = of.Lat.Bins, of.Lat.Layout, of.Lat.Percentiles, of.Lat.N
		}
	}
	if used {
		e.Job, e.total = &job, true
	}
	return used
}

// in returns the statistics of a direction. If the report has all directions in one, it returns these.
func (e *Entry) in(d fiolog.Direction) *fiolog.DirectionStats {
	if e.IsMixed {
		return e.Mixed
	}
	return &e.Directions[d]
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

// ranFor returns how long a job ran, in milliseconds. With group_reporting, job_runtime is the sum over the jobs of the
// group. The directions have the real time (fio 3.33). In the report of the moment in which a job begins, job_runtime is
// the time since fio or the machine was started. The job then has requests, but its directions have no time.
func ranFor(j *fiolog.Job) int64 {
	if ms, _ := measuredFor(j); ms > 0 || RequestsOf(j) > 0 {
		return ms
	}
	return j.Runtime
}

// measuredFor returns how long a job ran by its directions, in milliseconds. job_runtime may be a sum, or the time that
// the job has waited. If that is longer than its fio ran, it is impossible.
func measuredFor(j *fiolog.Job) (ms, impossible int64) {
	for _, s := range j.All() {
		ms = max(ms, s.Runtime)
	}
	if j.Elapsed > 0 && ms > (j.Elapsed+1)*1000 {
		return 0, ms
	}
	return ms, 0
}

// longest returns an upper bound for the run time of a job in milliseconds, from the run times of its directions. With
// verify a job reads after it has written, so they add up.
func (o jobOptions) longest(j *fiolog.Job) (sum int64) {
	if !o.HasOption("verify") {
		sum, _ = measuredFor(j)
		return sum
	}
	for _, s := range j.All() {
		sum += s.Runtime
	}
	return sum
}
