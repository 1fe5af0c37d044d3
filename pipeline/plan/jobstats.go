package plan

import (
	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// jobStats has the statistics of one job in a report, and how to read them.
type jobStats struct {
	*fiolog.Job
	groups  int  // number of groups of bins of this fio: see [planner.choose]
	IsMixed bool // the report has all directions in one (unified_rw_reporting)
	total   bool // latencies count from submission, because there are no bins of completion latencies
}

// newJobStats moves the sum of all directions to the only direction of the job. If the job has several directions, only
// the rows of logs separate them.
func newJobStats(j *fiolog.Job, options jobOptions, groups int) jobStats {
	s := jobStats{Job: j, groups: groups}
	if j.Mixed == nil {
		return s
	}
	directions := options.directions()
	if len(directions) != 1 {
		s.IsMixed = true
		return s
	}
	job := *j
	job.Directions[directions[0]], job.Mixed = *j.Mixed, nil
	s.Job = &job
	return s
}

// useTotalLatency uses the bins of latencies from submission if the job has none of completion latencies (disable_clat,
// clat_percentiles=0, lat_percentiles of fio up to 3.17). It reports whether it did. The means stay.
func (s *jobStats) useTotalLatency() bool {
	used := false
	job := *s.Job
	if s.Mixed != nil {
		mixed := *s.Mixed
		job.Mixed = &mixed
	}
	for _, of := range job.All() {
		if len(of.Clat.Bins) == 0 && len(of.Lat.Bins) > 0 {
			used = true
			of.Clat.Bins, of.Clat.Layout, of.Clat.Percentiles, of.Clat.N = of.Lat.Bins, of.Lat.Layout, of.Lat.Percentiles, of.Lat.N
		}
	}
	if used {
		s.Job, s.total = &job, true
	}
	return used
}

// in returns the statistics of a direction. If the report has all directions in one, it returns these.
func (s jobStats) in(d fiolog.Direction) *fiolog.DirectionStats {
	if s.IsMixed {
		return s.Mixed
	}
	return &s.Directions[d]
}

// Histogram returns the bins of one direction in any report of this fio. It is empty without bins.
func (s jobStats) Histogram(of *fiolog.DirectionStats) *hist.Histogram {
	return of.Clat.Histogram(s.groups)
}

// Failed returns the number of requests of a direction that failed. fio counts them but measures no latency. The number
// is negative if fio measured requests that it does not count: they were in flight when ramp_time ended. failed returns
// false if the report is damaged, because the bins have another number of requests than was measured.
func (s jobStats) Failed(of *fiolog.DirectionStats) (int64, bool) {
	n := uint64(0)
	for _, b := range of.Clat.Bins {
		n += b.Count
	}
	if n == 0 || n == of.TotalIOs {
		return 0, true
	}
	if of.Clat.N == n || n < of.TotalIOs && s.Error != 0 {
		return int64(of.TotalIOs) - int64(n), true
	}
	return 0, false
}

// Measured returns the number of requests of a direction that have a latency: all that did not fail.
func (s jobStats) Measured(of *fiolog.DirectionStats) int64 {
	failed, _ := s.Failed(of)
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
