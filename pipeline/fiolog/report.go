package fiolog

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/hist"
)

// Report is what fio reports of an execution, or of a part: one JSON document, or its text. Fields that a version of fio, or
// a format, does not have are zero. Options that are secrets, such as http_pass, have the value "***".
type Report struct {
	Format        Format
	Version       string // "fio-3.33"
	Timestamp     int64  // ms since 1970, when the report was written: the END of the run or of a period
	IsLocal       bool   // Timestamp is the local time of the host as if it were UTC, in whole seconds
	Client        bool   // text of fio --client: jobs of all clients, which does not say on which host each ran; in JSON each job has its host
	Doubt         string // why the report may not be right; empty if it is
	GlobalOptions map[string]string
	Jobs          []Job
	Unit          hist.Unit // of its latencies as fio counted them: ns since fio 3
	Line          int       // where it begins, 1-based
	Bytes         int       // of its text
	Memory        int       // roughly how many bytes its jobs take
}

// Job is one job of a report, or one group of jobs with group_reporting=1.
type Job struct {
	Name       string
	Host       string // with fio --client only
	Port       string // of its server
	GroupID    int
	Error      int     // errno
	Members    int     // jobs that it stands for; 0: unknown
	IsSum      bool    // in normal output: the jobs are of several sections, and Options are those that all have
	Process    int     // in a text: its id, or the number of the execution in terse output; 0: unknown
	Elapsed    int64   // s, with setup and ramp time
	Start      int64   // ms since 1970; since fio 3.36
	Runtime    int64   // ms; before fio 3.8 that of the longest direction
	Planned    int64   // ms, the Runtime that fio expects at its end (eta), up to a second too short; 0: unknown
	UsrCPU     float64 // percent
	SysCPU     float64
	Switches   int64 // of contexts
	Options    map[string]string
	Directions [Directions]DirectionStats
	Sync       DirectionStats  // only TotalIOs and Clat, or Uncounted; it is not in Mixed
	Mixed      *DirectionStats // all directions in one, if they are not known (unified_rw_reporting=1); else nil
}

// DirectionStats is what a job did in one direction, from its start on.
type DirectionStats struct {
	IOBytes        uint64 // in terse output, and before fio 2.21, in steps of 1 KiB; about 3 digits in normal output if sizes differ
	TotalIOs       uint64 // requests
	Uncounted      bool   // there were requests, and the report does not say how many: fio before 2.1.14, and syncs in a text
	Runtime        int64  // ms
	BandwidthBytes uint64 // bytes/s; before fio 3.2 in steps of 1 KiB/s
	IOPS           float64

	Slat, Clat, Lat Latency
	FromSubmission  bool // bins and percentiles of Clat are those of Lat; set by who takes these
}

// Served reports whether the job had requests of the direction, counted or not.
func (s *DirectionStats) Served() bool { return s.TotalIOs > 0 || s.Uncounted }

// Latency is a distribution. All latencies are nanoseconds, also in reports of fio 2, which
// writes microseconds. A report does not say with how many groups of bins fio was built.
// Layout has the usual number or, if any bin of the report is beyond it, as many as that
// takes. [Latency.Histogram] corrects it if the number is known.
type Latency struct {
	Min, Max     int64
	Mean, StdDev float64
	N            uint64 // requests measured; since fio 3.18
	Percentiles  []Percentile

	// The steps to which fio rounded Min and Max, and the percentiles, in ns; 0: none.
	Step, PercentileStep int64

	Layout hist.Layout // of Bins: the finest of this version of fio; the same in all of a report
	Bins   []hist.Bin  // those that are not zero, ascending; with --output-format=json+ only
}

// Percentile is one of those that fio has computed.
type Percentile struct {
	Rank  float64 // 0 … 100
	Value int64   // ns
}

// Numbers are the names of the jobs and what all formats have of them: of each direction the run time and whole IOPS, the CPU
// time and switches of contexts. Reports of two executions differ, unless these were short.
func (r *Report) Numbers() string {
	var b strings.Builder
	for i := range r.Jobs {
		j := &r.Jobs[i]
		fmt.Fprintf(&b, "%q %.2f %.2f %d", j.Name, j.UsrCPU, j.SysCPU, j.Switches)
		for _, s := range j.All() { // in terse output of fio before 3.27 all directions in one are called reads
			if s.Runtime > 0 {
				fmt.Fprintf(&b, " %d %d", s.Runtime, int64(s.IOPS))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Says is what the report says, as text: its time, its options, and its numbers of requests and latencies, without bins, which may
// have been removed. Two executions may say the same by chance only if the report has no time.
func (r *Report) Says() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %q %s", r.Format, r.Timestamp, r.GlobalOptions, r.Numbers())
	for i := range r.Jobs {
		fmt.Fprintf(&b, "%d %q\n", r.Jobs[i].Start, r.Jobs[i].Options)
		for _, s := range r.Jobs[i].All() {
			fmt.Fprintln(&b, s.IOBytes, s.TotalIOs, s.Runtime, s.BandwidthBytes, s.IOPS)
		}
		for _, l := range r.Jobs[i].latencies() {
			fmt.Fprintln(&b, l.Min, l.Max, l.Mean, l.StdDev, l.N)
		}
	}
	return b.String()
}

// Groups is the number of groups of bins that the report's bins take.
func (r *Report) Groups() int {
	groups := 0
	for i := range r.Jobs {
		for _, l := range r.Jobs[i].latencies() {
			if len(l.Bins) > 0 {
				groups = max(groups, l.Layout.Groups())
			}
		}
	}
	return groups
}

// All are the directions of a job, and Mixed if there is one.
func (j *Job) All() []*DirectionStats {
	all := make([]*DirectionStats, 0, Directions+1)
	for d := range j.Directions {
		all = append(all, &j.Directions[d])
	}
	if j.Mixed != nil {
		all = append(all, j.Mixed)
	}
	return all
}

// Requests is the number of requests of all directions.
func (j *Job) Requests() (sum uint64) {
	for _, s := range j.All() {
		sum += s.TotalIOs
	}
	return sum
}

// Of returns what the job did in a direction, or its syncs.
func (j *Job) Of(d Direction) *DirectionStats {
	if d == Sync {
		return &j.Sync
	}
	return &j.Directions[d]
}

func (j *Job) latencies() (all []*Latency) {
	for _, s := range j.All() {
		all = append(all, &s.Slat, &s.Clat, &s.Lat)
	}
	return append(all, &j.Sync.Clat)
}

// Hint is what the report says of the layout of the histogram logs of a job, counted from 0:
// the unit, and log_hist_coarseness. If the job's options have other settings of such logs but
// not this one, it is fio's default.
func (r *Report) Hint(job int) hist.Hint {
	h := hist.Hint{Unit: r.Unit}
	if text, ok := r.Option(job, "log_hist_coarseness"); ok {
		if c, err := strconv.Atoi(strings.TrimSpace(text)); err == nil {
			h.Coarseness, h.Evidence = c, hist.Stated
		}
		return h
	}
	for _, name := range []string{"write_hist_log", "log_hist_msec"} {
		if _, ok := r.Option(job, name); ok {
			h.Evidence = hist.Implied
		}
	}
	return h
}

// unitOf returns the unit in which a version of fio counts latencies.
func unitOf(version string) hist.Unit {
	_, number, _ := strings.Cut(version, "-")
	major, _, _ := strings.Cut(number, ".")
	switch n, err := strconv.Atoi(major); {
	case err != nil || n < 1:
		return hist.UnknownUnit
	case n < 3:
		return hist.Microseconds
	default:
		return hist.Nanoseconds
	}
}

// Option is an option of a job, counted from 0: its own or that of all jobs.
func (r *Report) Option(job int, name string) (string, bool) {
	if job >= 0 && job < len(r.Jobs) {
		if v, ok := r.Jobs[job].Options[name]; ok {
			return v, true
		}
	}
	v, ok := r.GlobalOptions[name]
	return v, ok
}

// WritesHalf reports whether this fio has no counts in the second half of the columns of its histogram logs, but
// what was in its memory: fio 3.6 to 3.16.
func (r *Report) WritesHalf() bool { return r.isBetween(6, 16) }

// CallsAllReads reports whether terse output of this fio calls the requests of all directions reads if they are reported in one.
func (r *Report) CallsAllReads() bool {
	return strings.HasPrefix(r.Version, "fio-2") || r.isBetween(0, 26)
}

// isBetween reports whether the version of fio is from 3.first to 3.last.
func (r *Report) isBetween(first, last int) bool {
	var minor int
	_, err := fmt.Sscanf(r.Version, "fio-3.%d", &minor)
	return err == nil && minor >= first && minor <= last
}

// moveTotals moves total latencies to where they belong. Up to 3.17 fio has one table for both, and with lat_percentiles
// it has total latencies, in logs too. Their percentiles, and in 3.1 their bins, are under clat_ns.
func (r *Report) moveTotals() {
	if !r.isBetween(1, 17) {
		return
	}
	for i := range r.Jobs {
		if on, ok := r.Option(i, "lat_percentiles"); !ok || on == "0" {
			continue
		}
		for _, s := range r.Jobs[i].All() {
			if len(s.Lat.Bins) == 0 {
				s.Lat.Bins, s.Lat.Layout = s.Clat.Bins, s.Clat.Layout
			}
			if len(s.Lat.Percentiles) == 0 {
				s.Lat.Percentiles = s.Clat.Percentiles
			}
			s.Clat.Bins, s.Clat.Percentiles = nil, nil
		}
	}
}

// Histogram makes a histogram of Bins. groups is how many groups fio was built with, by other
// evidence such as the columns of a log of the same fio, or 0. Requests beyond these groups
// are in the open bin.
func (l *Latency) Histogram(groups int) *hist.Histogram {
	from, to := l.Layout, l.Layout
	if known, err := hist.NewLayout(l.Layout.Unit(), groups, 0); err == nil {
		to = known
	}
	if to.Groups() > from.Groups() {
		from = to // the first bins of both are the same
	}
	h := hist.New(to)
	h.AddBins(from, l.Bins)
	return h
}
