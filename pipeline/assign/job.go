package assign

import (
	"cmp"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// JobKey names a job of a run.
type JobKey struct {
	Host, Volume string
	Number       int // fio's, from 1
}

// KeyOf returns the job that wrote a log: of all jobs of a run, the first.
func KeyOf(log Log) JobKey { return JobKey{log.Host, log.Volume, max(log.Job, 1)} }

// Key returns the job that wrote the log. In a log of several jobs they have numbers in the order of their segments.
func (l *JobLog) Key() JobKey {
	key := KeyOf(l.Log)
	if l.Segment > 0 {
		key.Number = l.Segment + 1
	}
	return key
}

// Job is one job of fio: where its rows come from, and what a report says of it.
type Job struct {
	JobKey
	Entry   *Entry // nil if no report covers it
	Stands  int    // the number of fio's jobs that it stands for: see [Entry.withoutLogs]
	dropped bool   // its log is of another run: it is no job of the run

	Source Source
	Log    *JobLog // the log whose rows are read; without one, it has the report's file
	Raw    *JobLog // a log of completions; nil if there is none
	Damage error   // why the histogram log cannot be read at all
	Lag    int     // distance of the rows that fio --client adds to others in the log; 0: none
	evidence.Head
	Unit     hist.Unit     // of the latencies in a log of completions or averages
	Interval int64         // milliseconds between rows; 0 if unknown
	Exact    bool          // interval is fio's log_hist_msec, and the log is of this job alone
	Writing  time.Duration // fio took at most this long to write the job's logs, after the job's end
}

// NewJob returns a job that wrote a log. Its rows are read from nothing yet.
func NewJob(l *JobLog) *Job {
	return &Job{JobKey: l.Key(), Log: l, Source: FromNothing, Stands: 1}
}

// Name returns the name of the job at level Job: volume and number.
func (j *Job) Name() string { return strings.TrimPrefix(fmt.Sprint(j.Volume, ".", j.Number), ".") }

// ReadsLog reports whether the rows of the job are read from a log.
func (j *Job) ReadsLog() bool { return j.Source == FromHist || j.Source == FromRaw }

// Serves reports whether a job may have requests of a direction. Its report has some, or it has no report.
func (j *Job) Serves(d fiolog.Direction) bool {
	if d == fiolog.Sync {
		return j.Entry != nil && j.Entry.Sync.Served()
	}
	return j.Entry == nil || j.Entry.Mixed != nil || j.Entry.Directions[d].Served()
}

// File returns the base name of the file with the job's rows. Without rows it is that of its report.
func (j *Job) File() string {
	if j.Source == FromReports {
		return j.Report()
	}
	return path.Base(j.Log.File.Path)
}

// Section returns the name of the job in fio's report, or "" if no report covers it.
func (j *Job) Section() string {
	if j.Entry == nil {
		return ""
	}
	return j.Entry.Name
}

// Report returns the base name of the report that covers the job, or "".
func (j *Job) Report() string {
	if j.Entry == nil {
		return ""
	}
	return path.Base(j.Entry.Out.File.Path)
}

// Source is the kind of file that has the rows of a job.
type Source string

// The sources of rows.
const (
	FromHist    Source = "histogram log"
	FromRaw     Source = "completions" // a log of them
	FromReports Source = "periodic reports"
	FromNothing Source = "nothing"
)

// JobLog is the log of one job, or its part of a log of several jobs, and what its first rows show.
type JobLog struct {
	Log
	Segment int            // of a log of several jobs, from 0; else -1
	Hint    hist.Hint      // of its bins
	Parts   *evidence.Sums // sums of all rows of its segment, if the log is of several jobs
	evidence.Opening
}

// Output is what one fio printed, as far as it is of the run.
type Output struct {
	Report
	evidence.Execution
	host    string   // of its jobs, by its own name or by the names of their logs
	Live    bool     // fio still writes it
	Entries []*Entry // entries of its jobs; none if it is not of the run
	First   *Output  // that of another call of fio, with which the file begins; nil if this is it
}

// Entry is one job in fio's output, or one group of jobs with group_reporting, and the jobs
// that it covers.
type Entry struct {
	JobOptions
	*fiolog.Job
	groups  int  // number of groups of bins of this fio: see [assigner.choose]
	total   bool // latencies count from submission: see [Entry.useTotalLatency]
	Out     *Output
	Index   int      // of its first job in the report
	first   int      // number of its first job, as fio counts them
	Size    int      // number of jobs that it stands for: numjobs with group_reporting, else one
	Jobs    []*Job   // the jobs that it covers
	Ran     int64    // milliseconds
	Several bool     // its jobs ran at different times, which only their rows show
	parts   []*Entry // the entries that were combined, because logs do not say to which of them they belong
}

// Spacing returns the time between reports in milliseconds, or 0 if there are too few to show it.
func (o *Output) Spacing() int64 { return cmp.Or(o.Grid, o.Execution.Spacing()) }

// Options returns the options of a job of the report.
func (o *Output) Options(job int) JobOptions {
	j := &o.Fio.Jobs[job]
	if j.IsSum {
		return JobOptions{JobName: j.Name, Global: j.Options, IsGroup: true}
	}
	return JobOptions{JobName: j.Name, Own: j.Options, Global: o.Fio.GlobalOptions}
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

// TrustsTimes reports whether fio itself set the times of the files. Then the time of the report's file agrees with the time
// at which fio wrote it.
func (o *Output) TrustsTimes() bool {
	at, _ := o.Written()
	return o.Fio.Timestamp > 0 && !o.File.ModTime.IsZero() && o.File.ModTime.Sub(at).Abs() <= evidence.Apart
}

// Written returns when the last report was written, after all jobs had ended. The timestamp of a report of fio --client
// is the start of the client. So Written returns the file's time, if it is possible. Otherwise it assumes that the jobs
// began with the client. byFile means that it is the time of the file.
func (o *Output) Written() (at time.Time, byFile bool) {
	at = time.UnixMilli(o.Fio.Timestamp)
	switch {
	case o.Fio.Timestamp == 0:
		return o.File.ModTime, true
	case !o.Client || o.Fio.IsLocal:
		return at, false
	}
	type groupKey struct {
		host string
		id   int
	}
	groups, all := map[groupKey]time.Duration{}, map[string]time.Duration{} // how long each ran, and those of each host one after another
	var least, most time.Duration
	for i := range o.Fio.Jobs {
		j, options := &o.Fio.Jobs[i], o.Options(i)
		ramp, delay, _ := options.Waits()
		g := groupKey{j.Host, j.GroupID}
		ran := ramp + delay + time.Duration(options.timesOf(j).Ran)*time.Millisecond
		all[g.host] += max(ran-groups[g], 0)
		groups[g] = max(groups[g], ran)
		least, most = max(least, ran), max(most, all[g.host])
	}
	end := at.Add(least)
	const setup = 30 * time.Second // for connecting and for jobs to prepare
	if at := o.File.ModTime; at.Sub(end) > -time.Second && at.Sub(end) < most-least+setup {
		return at, true
	}
	return end, false
}
