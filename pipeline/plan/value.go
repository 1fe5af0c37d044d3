package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

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
	Config   map[string]any   // of CBT
	Outputs  []*assign.Output // what its fios printed
	Entries  []*assign.Entry  // of the jobs of the stage in these outputs
	Sections []Section
	Jobs     []*Job                   // of all sections, in the order of their logs and reports
	Averages []assign.Log             // in place of rows
	JobsOf   map[*assign.Entry][]*Job // of the execution

	moment        // start of the first job, by the weakest evidence of all jobs
	Placed string // how jobs that ran one after another, or may have, were placed; empty if none did
	Window int64  // milliseconds
	Cut    int64  // milliseconds between the rows that windows cut, because logs of several fios have them, which began apart; 0: none
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

// IsEstimate reports whether percentiles of windows are estimates, because these have few of the rows that they cut.
func (p *Plan) IsEstimate() bool { return p.Window < mapping.SureRows*p.Cut }

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

// JobOf returns the job that wrote a log, or nil if none did.
func (p *Plan) JobOf(log assign.Log) *Job {
	for _, j := range p.Jobs {
		if j.JobKey == assign.KeyOf(log) {
			return j
		}
	}
	return nil
}

// HasSections reports whether the jobs of the stage did not all do the same, and it is known which did what.
func (p *Plan) HasSections() bool {
	return len(p.Sections) > 1 && !slices.ContainsFunc(p.Jobs, func(j *Job) bool { return j.Entry == nil })
}

// Options are the settings of users that decide how a run is planned.
type Options struct {
	assign.Options
	Window  time.Duration            // 0: the usual length
	Start   time.Time                // of the run, if its files do not show it
	Absent  bool                     // the start may stay unknown
	Offsets map[string]time.Duration // corrections of the clocks of hosts: they are added to the starts of jobs
	ByJob   bool                     // each job counts from its own start
}

// planner is a plan in the making. Its methods are the steps.
type planner struct {
	*Plan
	ev       *assign.Evidence
	problems *assign.Remarks
	needs    map[assign.Need]bool
	doubted  map[*assign.Output]bool // that nothing says when its groups of jobs ran was said
}

// Job is one job of fio, and when it ran.
type Job struct {
	assign.Job
	moment       // its start
	Origin int64 // the time, as written, that counts as the start of the job
	Offset int64 // start of the job minus start of the run, milliseconds
	Ran    int64 // run time in milliseconds; 0 if no report has it
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
	return j.Entry != nil || j.Source != assign.FromHist || !j.HasRows || j.Interval > 0 || j.rowClock() == sinceStart
}

// FirstTimes returns the times of the first rows of each direction of a histogram log, since the start of the job.
func (j *Job) FirstTimes() (times [fiolog.Directions][]int64) {
	if j.Source == assign.FromHist {
		for _, rec := range j.Log.Rows {
			times[rec.Direction] = append(times[rec.Direction], rec.Time-j.Origin)
		}
	}
	return times
}

// CheckTime returns an error for an impossible time, as written.
func (j *Job) CheckTime(t int64) error {
	if at := t - j.Origin; at < 0 || at > MaxRun {
		return fmt.Errorf("time %d is not of a job that began at %d, want at most ten years later", t, j.Origin)
	}
	return nil
}

// MaxRun is longer than any run: ten years in milliseconds.
const MaxRun = 10 * 366 * 24 * 3600 * 1000

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

// rowClock is what the times of a job's rows count from.
type rowClock uint8

const (
	sinceStart rowClock = iota // of the job
	unixClock                  // 1970 (log_unix_epoch)
	otherClock                 // such as the start of the machine (log_alternate_epoch)
)

// rowClock returns what the times of a job's rows count from. Options say that it is another clock, or the first row comes
// long after the job's end.
func (j *Job) rowClock() rowClock {
	const late = 600_000 // ms; without a report, a first row this late is by another clock
	isOther := false
	switch {
	case !j.HasRows || j.Source == assign.FromReports:
		return sinceStart
	case j.First > evidence.EpochTimes:
		return unixClock
	case j.Entry == nil:
		isOther = j.First > late+100*j.Interval
	default:
		id := j.Entry.Option("log_alternate_epoch_clock_id")
		isOther = id != "" && id != "0" && j.Entry.HasOption("log_alternate_epoch") ||
			j.Ran > 0 && j.First > j.Ran+10*max(j.Interval, 1000)
	}
	if isOther {
		return otherClock
	}
	return sinceStart
}

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

// Errors of the evidence, as measured with fio 3.33 and 3.42 on an idle and on a busy machine. A few times a second fio
// looks for jobs that have ended. It writes its report when all have ended.
const (
	errorOfEpoch  = 100 * time.Millisecond // rows with absolute times, of many quick requests
	errorOfOneRow = 10 * time.Second       // rows with absolute times, of unknown length
	errorOfNoRow  = time.Minute            // times of files, if no log has a row
	errorOfStart  = 10 * time.Millisecond
	errorOfReport = 100 * time.Millisecond // periodic reports
	errorOfEnd    = 150 * time.Millisecond // from the end of the last job until fio writes its report
	errorOfForks  = 100 * time.Millisecond // between jobs that were started together
	errorOfMtime  = 100 * time.Millisecond
	betweenStages = 250 * time.Millisecond // from the end of a job to the start of the next behind a stonewall
	errorOfStage  = 300 * time.Millisecond // of each stage, if its place follows from the next stage
	errorOfLast   = 500 * time.Millisecond // the same, in the times of files
	ErrorOfCoarse = 2 * time.Second        // of times in whole or even seconds
	ErrorOfZone   = evidence.LongestZone   // if the time zone is unknown
)

// isPossible reports whether a time can be evidence. fio did not exist before 1970, and a [time.Duration] covers 292 years.
func isPossible(t time.Time) bool { return t.Unix() >= 0 && t.UTC().Year() < 2200 }

// step returns how finely the times of files are recorded. Many archives, programs that copy, and file systems keep
// whole or even seconds.
func step(files ...*evidence.File) (step time.Duration) {
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

// writtenAt returns when the last report of an output was written.
func writtenAt(out *assign.Output) (time.Time, Clock) {
	at, byFile := out.Written()
	if byFile {
		return at, clockMtime
	}
	return at, clockReport
}
