package pipeline

import (
	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// jobStats has the statistics of one job in a report, and how they have to be read.
type jobStats struct {
	*fiolog.Job
	groups int  // of bins of the fio: see [chooser.setGroups]
	mixed  bool // it has all directions in one (unified_rw_reporting)
	total  bool // its latencies count from submission: completion latencies are disabled
}

// newJobStats moves the sum of all directions to the only direction of the job. If the job has
// several, only the rows of logs have them apart.
func newJobStats(j *fiolog.Job, options jobOptions, groups int) jobStats {
	s := jobStats{Job: j, groups: groups}
	if j.Mixed == nil {
		return s
	}
	directions := options.directions()
	if len(directions) != 1 {
		s.mixed = true
		return s
	}
	job := *j
	job.Directions[directions[0]], job.Mixed = *j.Mixed, nil
	s.Job = &job
	return s
}

// useTotalLatency uses latencies from submission if the job has no completion latencies
// (disable_clat), and reports whether it did.
func (s *jobStats) useTotalLatency() bool {
	used := false
	job := *s.Job
	if s.Mixed != nil {
		mixed := *s.Mixed
		job.Mixed = &mixed
	}
	for _, of := range job.All() {
		if len(of.Clat.Bins) == 0 && of.Clat.N == 0 && of.Clat.Mean == 0 && (len(of.Lat.Bins) > 0 || of.Lat.Mean > 0) {
			used = used || len(of.Lat.Bins) > 0
			of.Clat = of.Lat
		}
	}
	if used {
		s.Job, s.total = &job, true
	}
	return used
}

// in returns the statistics of a direction, or of all directions if the report has them in one.
func (s jobStats) in(d fiolog.Direction) *fiolog.DirectionStats {
	if s.mixed {
		return s.Mixed
	}
	return &s.Directions[d]
}

// histogram returns the bins of one direction in any report of this fio. It is empty without bins.
func (s jobStats) histogram(of *fiolog.DirectionStats) *hist.Histogram {
	return of.Clat.Histogram(s.groups)
}

// failed is the number of requests of a direction that failed: fio counts them but measures no
// latency. It is negative if fio measured requests that it does not count, which were in
// flight when ramp_time ended. It returns false if the bins have another number of requests
// than was measured: the report is damaged.
func (s jobStats) failed(of *fiolog.DirectionStats) (int64, bool) {
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

// measured is the number of requests of a direction that have a latency: all that did not
// fail.
func (s jobStats) measured(of *fiolog.DirectionStats) int64 {
	failed, _ := s.failed(of)
	return int64(of.TotalIOs) - failed
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
	if ms := measuredFor(j); ms > 0 {
		return ms
	}
	return j.Runtime
}

// measuredFor is how long a job ran by its directions, in milliseconds: job_runtime alone may
// be a sum or the time that it has waited.
func measuredFor(j *fiolog.Job) (ms int64) {
	for _, s := range j.All() {
		ms = max(ms, s.Runtime)
	}
	return ms
}
