package pipeline

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// entry is one job in fio's output, or one group of jobs with group_reporting, and the jobs
// that it covers.
type entry struct {
	*fiolog.Job
	out     *output
	index   int
	first   int    // number of its first job, as fio counts them
	size    int    // how many jobs it stands for: numjobs with group_reporting, else one
	jobs    []*job // whose logs are of it
	ran     int64  // milliseconds
	groups  int    // of bins of the fio: see [planner.setGroups]
	several bool   // its jobs ran at different times, which only their rows show
	mixed   bool   // it has all directions in one (unified_rw_reporting)
	total   bool   // its latencies count from submission: completion latencies are disabled
}

// newEntries are the entries of a report, in its order.
func newEntries(o *output) []*entry {
	entries := make([]*entry, len(o.fio.Jobs))
	same := map[string]int{}
	for i := range entries {
		j := &o.fio.Jobs[i]
		entries[i] = &entry{Job: j, out: o, index: i, size: 1, ran: ranFor(j), groups: o.groups}
		entries[i].separate()
		same[j.Host+"\x00"+j.Name]++
	}
	for i, e := range entries {
		// Without group_reporting each of the numjobs jobs has an entry, of the same name.
		if n, err := strconv.Atoi(o.option(i, "numjobs")); err == nil && n > 1 && same[e.Host+"\x00"+e.Name] == 1 {
			e.size = n
		}
	}
	number := 1
	for _, e := range entries {
		e.first = number
		number += e.size
	}
	return entries
}

// view is another report's part of the entry's job, with the same choices as the last report.
func (e *entry) view(j *fiolog.Job) *fiolog.Job {
	if j.Mixed == nil && !e.total {
		return j
	}
	one := &entry{Job: j, out: e.out, index: e.index}
	one.separate()
	if e.total {
		one.useTotalLatency()
	}
	return one.Job
}

// separate moves the sum of all directions to the only direction of the job. If the job has
// several, only the rows of logs have them apart.
func (e *entry) separate() {
	if e.Mixed == nil {
		return
	}
	directions := directionsOf(e.option("rw"), e.option("readwrite"))
	if len(directions) != 1 {
		e.mixed = true
		return
	}
	job := *e.Job
	job.Directions[directions[0]], job.Mixed = *job.Mixed, nil
	e.Job = &job
}

// directionsOf are the directions of fio's option rw, or of its other name.
func directionsOf(rw, readwrite string) []fiolog.Direction {
	if rw == "" {
		rw = readwrite
	}
	if i := slices.Index([]string{"", "read", "randread"}, rw); i >= 0 { // fio's default is read
		return []fiolog.Direction{fiolog.Read}
	}
	switch rw {
	case "write", "randwrite":
		return []fiolog.Direction{fiolog.Write}
	case "trim", "randtrim":
		return []fiolog.Direction{fiolog.Trim}
	case "trimwrite", "randtrimwrite":
		return []fiolog.Direction{fiolog.Write, fiolog.Trim}
	}
	return []fiolog.Direction{fiolog.Read, fiolog.Write}
}

// useTotalLatency uses latencies from submission if the job has no completion latencies
// (disable_clat), and reports whether it did.
func (e *entry) useTotalLatency() bool {
	used := false
	job := *e.Job
	if e.Mixed != nil {
		mixed := *e.Mixed
		job.Mixed = &mixed
	}
	for _, s := range job.All() {
		if len(s.Clat.Bins) == 0 && s.Clat.N == 0 && s.Clat.Mean == 0 && (len(s.Lat.Bins) > 0 || s.Lat.Mean > 0) {
			used = used || len(s.Lat.Bins) > 0
			s.Clat = s.Lat
		}
	}
	if used {
		e.Job, e.total = &job, true
	}
	return used
}

// reported is the histogram of the bins in the report; empty without any.
func (e *entry) reported(d fiolog.Direction) *hist.Histogram { return e.histogram(&e.Directions[d]) }

// histogram is that of the bins in any report of the entry's fio.
func (e *entry) histogram(s *fiolog.DirectionStats) *hist.Histogram {
	return s.Clat.Histogram(e.groups)
}

// binned is the number of requests in the bins of a report.
func binned(s *fiolog.DirectionStats) (sum uint64) {
	for _, b := range s.Clat.Bins {
		sum += b.Count
	}
	return sum
}

// failed is the number of requests of a report that failed: fio counts them but measures no
// latency. It is negative if fio measured requests that it does not count, which were in
// flight when ramp_time ended. It is an error if the bins have another number of requests
// than was measured.
func (e *entry) failed(s *fiolog.DirectionStats) (int64, error) {
	n := binned(s)
	if n == 0 || n == s.TotalIOs {
		return 0, nil
	}
	if s.Clat.N == n || n < s.TotalIOs && e.Error != 0 {
		return int64(s.TotalIOs) - int64(n), nil
	}
	return 0, fmt.Errorf("%s: job %s: its bins have %d requests, but total_ios is %d: the report is damaged, its "+
		"bins are not used; copy it again",
		e.out.File.Name(), e.Name, n, s.TotalIOs)
}

// wantsRows reports whether the job's options name a histogram log. If the run has only
// totals, the log of such a job is missing.
func (e *entry) wantsRows() bool {
	return e.hasOption("write_hist_log") && milliseconds(e.option("log_hist_msec")) > 0
}

// measured is the number of requests of a direction that have a latency: all that did not
// fail.
func (e *entry) measured(d fiolog.Direction) int64 {
	s := &e.Directions[d]
	failed, _ := e.failed(s)
	return int64(s.TotalIOs) - failed
}

// describe names the entry in messages.
func (e *entry) describe() string {
	if e.Host != "" {
		return fmt.Sprintf("%s: job %d (%s) of %s", e.out.File.Name(), e.index+1, e.Name, e.Host)
	}
	return fmt.Sprintf("%s: job %d (%s)", e.out.File.Name(), e.index+1, e.Name)
}

// combine makes one entry of several whose logs cannot be distinguished.
func combine(entries []*entry) *entry {
	first := entries[0]
	if len(entries) == 1 {
		return first
	}
	sum := *first.Job
	one := &entry{Job: &sum, out: first.out, index: first.index, first: first.first, groups: first.groups}
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

// addStats adds up one direction of several entries; of may return nil.
func addStats(entries []*entry, of func(*entry) *fiolog.DirectionStats) (sum fiolog.DirectionStats) {
	bins := &hist.Histogram{}
	for _, e := range entries {
		from := of(e)
		if from == nil {
			continue
		}
		sum.IOBytes += from.IOBytes
		sum.TotalIOs += from.TotalIOs
		sum.IOPS += from.IOPS
		sum.BandwidthBytes += from.BandwidthBytes
		sum.Runtime = max(sum.Runtime, from.Runtime)
		sum.Clat.N += from.Clat.N
		bins.AddBins(from.Clat.Layout, from.Clat.Bins)
	}
	sum.Clat.Layout, sum.Clat.Bins = bins.Layout(), bins.Bins()
	return sum
}
