package plan

import (
	"errors"
	"fmt"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Plan is what is known of a run before its rows are read. For each job it has the host, the source of rows, the entry
// of fio's output, start and end, and how each is known. It does not change afterwards. Windows, documents and the run
// document are functions of the plan and of the rows.
type Plan struct {
	opt      Options
	Run      *cbt.Run
	Config   map[string]any // of CBT
	Outputs  []*Output
	Entries  Entries
	Jobs     []*Job    // of all stages, in the order of their logs and reports
	Stages   []Stage   // in the order of time
	Averages []cbt.Log // in place of rows
	Levels   []mapping.Level
	Timing
}

func (p *Plan) Title() string { return p.opt.Title }

// JobKey names a job of a run.
type JobKey struct {
	Host, Volume string
	Number       int // fio's, from 1
}

// Job is one job of fio: where its rows come from, and when it ran.
type Job struct {
	JobKey
	Entry *Entry // nil if no report covers it

	jobRows
	jobTimes
}

// jobRows says where the rows of a job are read from.
type jobRows struct {
	Source Source
	Log    *Log  // the log whose rows are read; without one, it has the report's file
	raw    *Log  // a log of completions; nil if there is none
	Lag    int   // distance of the rows that fio --client adds; 0: none
	damage error // why the histogram log cannot be read at all
	Head
	Unit hist.Unit // of the latencies in a log of completions or averages
}

// jobTimes is when a job ran.
type jobTimes struct {
	moment         // its start
	Interval int64 // milliseconds between rows; 0 if unknown
	Exact    bool  // interval is fio's log_hist_msec, and the log is of this job alone
	late     int64 // milliseconds by which the first row is later than the next ones
	Origin   int64 // the time, as written, that counts as the start of the job
	Offset   int64 // start of the job minus start of the run, milliseconds
	Ran      int64 // run time in milliseconds; 0 if no report has it

	writing time.Duration // fio took at most this long to write the job's logs, after the job's end
}

// before returns the time one interval before the first row was due, as written.
func (j *Job) before() int64 { return j.First - j.late - j.Interval }

// FirstTimes returns the times of the first rows of each direction of a histogram log, since the start of the job.
func (j *Job) FirstTimes() (times [fiolog.Directions][]int64) {
	if j.Source != FromHist {
		return times
	}
	times = j.Log.Rows.times()
	for _, of := range times {
		for i := range of {
			of[i] -= j.Origin
		}
	}
	return times
}

// Source is the kind of file that has the rows of a job.
type Source uint8

const (
	FromNothing Source = iota
	FromHist           // a histogram log
	FromRaw            // a log of all completions
	FromReports        // the periodic reports of fio
)

var sourceNames = [...]string{"nothing", "histogram log", "completions", "periodic reports"}

func (k Source) String() string { return sourceNames[k] }

func (j *Job) ReadsLog() bool { return j.Source == FromHist || j.Source == FromRaw }

// errNothing means that a run has no usable log or report.
var errNothing = errors.New("no rows in any of its logs, and no report that can be used")

// Options are the settings of users that decide how a run is planned.
type Options struct {
	Title       string                   // of the run, in messages
	Completions bool                     // logs of completions come before histogram logs
	Window      time.Duration            // 0: the usual length
	Levels      []mapping.Level          // of documents
	Bins        hist.Hint                // what the user says about the bins and the unit of logs
	Start       time.Time                // of the run, if its files do not show it
	Absent      bool                     // the start may stay unknown
	Offsets     map[string]time.Duration // corrections of the clocks of hosts: they are added to the starts of jobs
	ByJob       bool                     // each job counts from its own start
}

// New plans a run: which files belong together, what the rows of each job are read from, and when the jobs ran.
// Problems of single files are added to problems. It fails if nothing can be used, or if the start is needed and unknown.
func New(ev *Evidence, opt Options, problems *Remarks) (*Plan, error) {
	p := &Plan{opt: opt, Run: ev.Run, Config: ev.Config, Outputs: ev.Outputs}
	jobs, averaged := jobLogs{ev, opt, problems}.find()
	p.Entries = attribution{ev.Outputs, ev.Reader, problems}.attribute(jobs)
	(&chooser{p, ev, problems}).choose(jobs, averaged)
	if err := (placing{p, ev, problems}).times(); err != nil {
		return nil, err
	}
	var err error
	if p.Levels, err = limitLevels(p.Jobs, opt, problems); err != nil {
		return nil, err
	}
	p.Stages = p.stages()
	return p, nil
}

// Name returns the name of the job at level Job: volume and number.
func (j *Job) Name() string {
	if j.Volume == "" {
		return fmt.Sprint(j.Number)
	}
	return j.Volume + "." + fmt.Sprint(j.Number)
}

// MaxRun is longer than any run: ten years in milliseconds.
const MaxRun = 10 * 366 * 24 * 3600 * 1000

// CheckTime returns an error for an impossible time, as written.
func (j *Job) CheckTime(t int64) error {
	if at := t - j.Origin; at < 0 || at > MaxRun {
		return fmt.Errorf("time %d is not of a job that began at %d, want at most ten years later", t, j.Origin)
	}
	return nil
}

// Serves reports whether a job may have requests of a direction. Its report has some, or it has no report.
func (j *Job) Serves(d fiolog.Direction) bool {
	return j.Entry == nil || j.Entry.IsMixed || served(&j.Entry.Directions[d])
}

// JobOf returns the job that wrote a log, or nil if none did.
func (p *Plan) JobOf(log cbt.Log) *Job {
	for _, j := range p.Jobs {
		if j.JobKey == KeyOf(log) {
			return j
		}
	}
	return nil
}

// Remarks are what a plan has to say.
type Remarks struct {
	Skipped []error // what is missing in the result
	Notes   []error // what else the user should know
}

func (r *Remarks) skip(err error) { r.Skipped = append(r.Skipped, err) }

func (r *Remarks) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Errorf(format, args...))
}
