package plan

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Plan is what is known of one stage of an execution before its rows are read. An execution is one call of fio on each of
// its hosts. Its stages ran one after another, each between two stonewalls, and each is a run of its own. In a stage,
// sections ran side by side, and each has jobs, which did the same. For each job the plan has the host, the source of rows,
// the entry of fio's output, start and end, and how each is known.
//
// It does not change afterwards. Windows, documents and the run document are functions of the plan and of the rows.
type Plan struct {
	Title    string // in messages
	Stage    int    // number of the stage, from 1
	Stages   int    // of the execution
	Name     string // of the stage: its sections in fio's report
	Run      *assign.Run
	Config   map[string]any // of CBT
	Outputs  []*Output      // what its fios printed
	Entries  []*Entry       // of the jobs of the stage in these outputs
	Sections []Section
	Jobs     []*Job       // of all sections, in the order of their logs and reports
	Averages []assign.Log // in place of rows

	moment        // start of the first job, by the weakest evidence of all jobs
	Placed string // how jobs that ran one after another, or may have, were placed; empty if none did
	Window int64  // milliseconds
	Shift  int64  // the windows begin this long before the run, to follow its rows

	opt Options
}

// NameIn returns the name of the stage as a run, from that of the execution.
func (p *Plan) NameIn(execution string) string {
	if p.Stages <= 1 {
		return execution
	}
	return strings.TrimPrefix(execution+"/"+p.Name, "/") // not cleaned, because names of sections may have slashes
}

// At returns the time so many milliseconds after the start.
func (p *Plan) At(ms int64) time.Time { return p.Start.Add(time.Duration(ms) * time.Millisecond) }

// Section is the jobs of a stage that do the same: of one section of the job file, or of several that do not differ in
// what fio measures.
type Section struct {
	Name     string            // of its sections in the job file, see [JoinNames]; no two of a stage have the same
	Settings mapping.CBT       // those that fio's options name; zero is unknown
	Options  map[string]string // of fio, which all its jobs have
	Jobs     []*Job
}

// JobKey names a job of a run.
type JobKey struct {
	Host, Volume string
	Number       int // fio's, from 1
}

// KeyOf returns the job that wrote a log: of all jobs of a run, the first.
func KeyOf(log assign.Log) JobKey { return JobKey{log.Host, log.Volume, max(log.Job, 1)} }

// Job is one job of fio: where its rows come from, and when it ran.
type Job struct {
	JobKey
	Entry   *Entry // nil if no report covers it
	dropped bool   // its log is of another run: it is no job of the plan

	// Where its rows are read from.
	Source Source
	Log    *Log  // the log whose rows are read; without one, it has the report's file
	raw    *Log  // a log of completions; nil if there is none
	damage error // why the histogram log cannot be read at all
	Lag    int   // distance of the rows that fio --client adds to others in the log; 0: none
	evidence.Head
	Unit hist.Unit // of the latencies in a log of completions or averages

	// When it ran.
	moment         // its start
	Interval int64 // milliseconds between rows; 0 if unknown
	Exact    bool  // interval is fio's log_hist_msec, and the log is of this job alone
	Origin   int64 // the time, as written, that counts as the start of the job
	Offset   int64 // start of the job minus start of the run, milliseconds
	Ran      int64 // run time in milliseconds; 0 if no report has it

	writing time.Duration // fio took at most this long to write the job's logs, after the job's end
}

// NewJob returns a job that wrote a log. Its rows are read from nothing yet.
func NewJob(l *Log) *Job { return &Job{JobKey: KeyOf(l.Log), Log: l, Source: FromNothing} }

// Name returns the name of the job at level Job: volume and number.
func (j *Job) Name() string {
	if j.Volume == "" {
		return fmt.Sprint(j.Number)
	}
	return j.Volume + "." + fmt.Sprint(j.Number)
}

// before returns the time one interval before the first row was due, as written. fio writes a row with the first
// completion after it was due, so the next rows show how late the first one was.
func (j *Job) before() int64 {
	before := j.First - j.Interval
	for _, times := range j.FirstTimes() {
		if len(times) > 0 && j.Interval > 0 {
			_, latest := align.Began(j.Interval, times)
			before = min(before, latest+j.Origin)
		}
	}
	return before
}

// HasLength reports whether anything shows how long the job took. The only row of a log with absolute times, without a report
// or an interval, shows only when it ended.
func (j *Job) HasLength() bool {
	return j.Entry != nil || j.Source != FromHist || !j.HasRows || j.Interval > 0 || j.rowClock() == sinceStart
}

// FirstTimes returns the times of the first rows of each direction of a histogram log, since the start of the job.
func (j *Job) FirstTimes() (times [fiolog.Directions][]int64) {
	if j.Source == FromHist {
		for _, rec := range j.Log.Rows {
			times[rec.Direction] = append(times[rec.Direction], rec.Time-j.Origin)
		}
	}
	return times
}

// ReadsLog reports whether the rows of the job are read from a log.
func (j *Job) ReadsLog() bool { return j.Source == FromHist || j.Source == FromRaw }

// CheckTime returns an error for an impossible time, as written.
func (j *Job) CheckTime(t int64) error {
	if at := t - j.Origin; at < 0 || at > MaxRun {
		return fmt.Errorf("time %d is not of a job that began at %d, want at most ten years later", t, j.Origin)
	}
	return nil
}

// MaxRun is longer than any run: ten years in milliseconds.
const MaxRun = 10 * 366 * 24 * 3600 * 1000

// Serves reports whether a job may have requests of a direction. Its report has some, or it has no report.
func (j *Job) Serves(d fiolog.Direction) bool {
	if d == fiolog.Sync {
		return j.Entry != nil && served(&j.Entry.Sync)
	}
	return j.Entry == nil || j.Entry.Mixed != nil || served(&j.Entry.Directions[d])
}

// String returns what is known of a job, in one line.
func (j *Job) String() string {
	text := "job " + j.Name()
	if j.Host != "" {
		text += " of " + j.Host
	}
	text += fmt.Sprintf(": rows from %s %s", j.Source, j.File())
	if report := j.Report(); report != "" {
		text += fmt.Sprintf("; report %s, found %s", report, j.Entry.Out.Found)
	}
	if !j.Start.IsZero() {
		text += fmt.Sprintf("; began %s by %s, ±%v", unit.Time(j.Start, unit.Moment), j.Clock, j.Error)
	}
	if j.Ran > 0 {
		text += fmt.Sprintf(", ran %v", time.Duration(j.Ran)*time.Millisecond)
	}
	return text
}

// File returns the base name of the file with the job's rows. Without rows it is that of its report.
func (j *Job) File() string { return path.Base(j.Log.File.Path) }

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

// moment is the start of a job and the evidence for it.
type moment struct {
	Start time.Time // absolute; zero if unknown
	Clock Clock
	Error time.Duration // of start, plus or minus
}

// Clock is the evidence for the absolute start of a job, from the best to the weakest.
type Clock uint8

// The clocks.
const (
	clockNone   Clock = iota // unknown
	clockEpoch               // rows with absolute times (log_unix_epoch)
	clockStart               // job_start in fio's JSON, since fio 3.36
	clockReport              // time at which fio wrote its reports, minus run time
	clockUser                // the setting start
	clockMtime               // time at which a file was last written, minus run time
)

var clockNames = [...]string{"unknown", "log_unix_epoch", "job_start", "report", "user", "mtime"}

func (c Clock) String() string { return clockNames[c] }

// Earlier returns the earlier of two times, and ignores a zero time.
func Earlier(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}

// JobOf returns the job that wrote a log, or nil if none did.
func (p *Plan) JobOf(log assign.Log) *Job {
	for _, j := range p.Jobs {
		if j.JobKey == KeyOf(log) {
			return j
		}
	}
	return nil
}

// HostNames returns the hosts of some jobs, in order. A host without a name is "".
func HostNames(jobs []*Job) []string {
	hosts := map[string]bool{}
	for _, j := range jobs {
		hosts[j.Host] = true
	}
	return slices.Sorted(maps.Keys(hosts))
}

// Remarks are what a plan has to say.
type Remarks struct {
	Skipped []error // what is missing in the result, also in totals
	Lacking []error // what is missing in windows alone, because a report has the totals
	Notes   []error // what else the user should know
}

// Skip adds what is missing in the result.
func (r *Remarks) Skip(format string, args ...any) {
	r.Skipped = append(r.Skipped, fmt.Errorf(format, args...))
}

// Lack adds what is missing in windows alone.
func (r *Remarks) Lack(format string, args ...any) {
	r.Lacking = append(r.Lacking, fmt.Errorf(format, args...))
}

// Note adds what else the user should know.
func (r *Remarks) Note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Errorf(format, args...))
}

// Add adds other remarks.
func (r *Remarks) Add(o *Remarks) {
	r.Skipped, r.Lacking, r.Notes = append(r.Skipped, o.Skipped...), append(r.Lacking, o.Lacking...), append(r.Notes, o.Notes...)
}

// lack is Lack for a job that has an entry of a report, and else Skip.
func (r *Remarks) lack(j *Job, format string, args ...any) {
	if j.Entry == nil {
		r.Skip(format, args...)
		return
	}
	r.Lack(format, args...)
}
