package pipeline

import (
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// entry is one job in fio's output, or one group of jobs with group_reporting, and the jobs
// that it covers.
type entry struct {
	jobOptions
	jobStats
	out     *output
	index   int      // of its first job in the report
	first   int      // number of its first job, as fio counts them
	size    int      // number of jobs that it stands for: numjobs with group_reporting, else one
	jobs    []*job   // the jobs that it covers
	ran     int64    // milliseconds
	several bool     // its jobs ran at different times, which only their rows show
	parts   []*entry // the entries that were combined, because logs do not say to which of them they belong
}

// entryList are the entries of a run, or of one output.
type entryList []*entry

func newEntries(o *output) (entries []*entry) {
	same := map[string]int{}
	for _, j := range o.fio.Jobs {
		same[j.Host+"\x00"+j.Name]++
	}
	number := 1
	for i := range o.fio.Jobs {
		j, options, size := &o.fio.Jobs[i], o.options(i), 1
		// Without group_reporting each of the numjobs jobs has an entry, of the same name.
		if same[j.Host+"\x00"+j.Name] == 1 {
			size = options.numJobs()
		}
		if n := groupSize(j, options.longest(j)); n > size {
			size, options.isGroup = n, true
		}
		e := &entry{jobOptions: options, jobStats: newJobStats(j, options, o.groups), out: o, index: i, first: number, size: size}
		e.ran = e.ranIn(j)
		entries = append(entries, e)
		number += size
	}
	return entries
}

// hasSections reports whether an entry has several sections. The report lists the options of only one of them, so logs
// of the others may have any prefix.
func (o *output) hasSections() bool {
	for i := range o.fio.Jobs {
		options := o.options(i)
		if j := &o.fio.Jobs[i]; groupSize(j, options.longest(j)) > options.numJobs() {
			return true
		}
	}
	return false
}

// ranIn returns how long the jobs of the entry had run when a report was written, in milliseconds.
func (e *entry) ranIn(j *fiolog.Job) int64 {
	return max(ranFor(j), min(j.Runtime/int64(e.size), e.longest(j)))
}

// longest returns an upper bound for the run time of a job in milliseconds, from the run times of its directions. With
// verify a job reads after it has written, so they add up.
func (o jobOptions) longest(j *fiolog.Job) (sum int64) {
	if !o.hasOption("verify") {
		return measuredFor(j)
	}
	for _, s := range j.All() {
		sum += s.Runtime
	}
	return sum
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

// view returns the statistics of the entry's job in another report, read in the same way as those of the last report.
func (e *entry) view(j *fiolog.Job) *fiolog.Job {
	one := newJobStats(j, e.jobOptions, e.groups)
	if e.total {
		one.useTotalLatency()
	}
	return one.Job
}

// damaged returns the error for a direction whose bins do not add up to the requests that were measured.
func (e *entry) damaged(s *fiolog.DirectionStats) error { return e.miscounted(s, false) }

// miscounted returns an error for a direction whose bins have more or fewer requests than the report counts. isUsed
// says whether the bins are used.
func (e *entry) miscounted(s *fiolog.DirectionStats, isUsed bool) error {
	why := "the report is damaged, its bins are not used; copy it again"
	if isUsed {
		why = "fio was killed, or the report is damaged; its bins are used"
	}
	return fmt.Errorf("%s: job %s: its bins have %.0f requests, but total_ios is %d: %s", e.out.File.Name(), e.Name,
		s.Clat.Histogram(e.groups).Total(), s.TotalIOs, why)
}

func (e *entry) describe() string {
	text := fmt.Sprintf("%s: job %d (%s)", e.out.File.Name(), e.index+1, e.Name)
	if e.Host != "" {
		text += " of " + e.Host
	}
	return text
}

func (e *entry) ranFor() time.Duration { return time.Duration(e.ran) * time.Millisecond }

// cover makes the entry the only one of some jobs.
func (e *entry) cover(jobs []*job) []*entry {
	for _, j := range jobs {
		j.entry = e
	}
	return []*entry{e}
}

// readsLogs reports whether rows are read from a log of the entry. Rows may lack requests that the report has.
func (e *entry) readsLogs() bool { return slices.ContainsFunc(e.jobs, (*job).readsLog) }

// hasLog reports whether a job of the entry has a log, and all of its logs have modification times.
func (e *entry) hasLog() bool {
	return len(e.jobs) > 0 && !slices.ContainsFunc(e.jobs, func(j *job) bool {
		return j.source == fromNothing || j.log.File == e.out.File || j.log.File.ModTime.IsZero()
	})
}

// ended returns when the jobs of the entry ended, by when their logs were last written: the latest time, and how far
// apart the times are. The entry must have logs. fio writes its report at its timestamp.
func (e *entry) ended() (last time.Time, spread time.Duration) {
	first := e.jobs[0].log.File.ModTime
	for _, j := range e.jobs {
		at := j.log.File.ModTime
		if first = earlier(first, at); at.After(last) {
			last = at
		}
	}
	return time.UnixMilli(e.out.fio.Timestamp).Add(last.Sub(e.out.File.ModTime)), last.Sub(first)
}

// writing returns the longest time that fio may have taken to write the logs of a job of the entries, at most atMost, or 0
// if that is within other errors.
func writing(entries []*entry, atMost time.Duration) (longest time.Duration) {
	for _, e := range entries {
		for _, j := range e.jobs {
			longest = max(longest, j.writing)
		}
	}
	if longest = min(longest, atMost); longest < errorOfReport {
		return 0
	}
	return longest
}

// combine makes one entry of several entries, because nothing says which log belongs to which of them.
func combine(entries []*entry) *entry {
	first := entries[0]
	if len(entries) == 1 {
		return first
	}
	sum := *first.Job
	one := &entry{
		jobOptions: joined(entries), jobStats: jobStats{Job: &sum, groups: first.groups},
		out: first.out, index: first.index, first: first.first, parts: entries,
	}
	for _, e := range entries {
		one.size += e.size
		one.ran = max(one.ran, e.ran)
		one.mixed = one.mixed || e.mixed
	}
	for d := range sum.Directions {
		sum.Directions[d] = addStats(entries, func(e *entry) *fiolog.DirectionStats { return &e.Directions[d] })
	}
	if one.mixed {
		all := addStats(entries, func(e *entry) *fiolog.DirectionStats { return e.Mixed })
		sum.Mixed = &all
	}
	return one
}

// addStats adds up the statistics of one direction over entries. of may return nil.
func addStats(entries []*entry, of func(*entry) *fiolog.DirectionStats) (sum fiolog.DirectionStats) {
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
