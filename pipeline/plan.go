package pipeline

import (
	"errors"
	"fmt"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// plan is what is known of a run before its rows are read. For each job it has the host, the source of rows, the entry
// of fio's output, start and end, and how each is known. It does not change afterwards. Windows, documents and the run
// document are functions of the plan and of the rows.
type plan struct {
	opt      planOptions
	run      *cbt.Run
	config   map[string]any // of CBT
	outputs  []*output
	entries  entryList
	jobs     []*job
	averages []cbt.Log // in place of rows
	levels   []mapping.Level
	timing
}

func (p *plan) title() string { return p.opt.title }

// jobKey names a job of a run.
type jobKey struct {
	host, volume string
	number       int // fio's, from 1
}

// job is one job of fio: where its rows come from, and when it ran.
type job struct {
	jobKey
	entry *entry // nil if no report covers it

	jobRows
	jobTimes
}

// jobRows says where the rows of a job are read from.
type jobRows struct {
	source sourceKind
	log    *logHead // the log whose rows are read; without one, it has the report's file
	raw    *logHead // a log of completions; nil if there is none
	lag    int      // distance of the rows that fio --client adds; 0: none
	damage error    // why the histogram log cannot be read at all
	head
	unit hist.Unit // of the latencies in a log of completions or averages
}

// jobTimes is when a job ran.
type jobTimes struct {
	moment         // its start
	interval int64 // milliseconds between rows; 0 if unknown
	exact    bool  // interval is fio's log_hist_msec, and the log is of this job alone
	late     int64 // milliseconds by which the first row is later than the next ones
	origin   int64 // the time, as written, that counts as the start of the job
	offset   int64 // start of the job minus start of the run, milliseconds
	ran      int64 // run time in milliseconds; 0 if no report has it

	writing time.Duration // fio took at most this long to write the job's logs, after the job's end
}

// before returns the time one interval before the first row was due, as written.
func (j *job) before() int64 { return j.first - j.late - j.interval }

// firstTimes returns the times of the first rows of each direction of a histogram log, since the start of the job.
func (j *job) firstTimes() (times [fiolog.Directions][]int64) {
	if j.source != fromHist {
		return times
	}
	times = j.log.rows.times()
	for _, of := range times {
		for i := range of {
			of[i] -= j.origin
		}
	}
	return times
}

// sourceKind is the kind of file that has the rows of a job.
type sourceKind uint8

const (
	fromNothing sourceKind = iota
	fromHist               // a histogram log
	fromRaw                // a log of all completions
	fromReports            // the periodic reports of fio
)

var sourceNames = [...]string{"nothing", "histogram log", "completions", "periodic reports"}

func (k sourceKind) String() string { return sourceNames[k] }

func (j *job) readsLog() bool { return j.source == fromHist || j.source == fromRaw }

// errNothing means that a run has no usable log or report.
var errNothing = errors.New("no rows in any of its logs, and no report that can be used")

// planOptions are the settings of users that decide how a run is planned.
type planOptions struct {
	title       string                   // of the run, in messages
	completions bool                     // logs of completions come before histogram logs
	window      time.Duration            // 0: the usual length
	levels      []mapping.Level          // of documents
	bins        hist.Hint                // what the user says about the bins and the unit of logs
	start       time.Time                // of the run, if its files do not show it
	absent      bool                     // the start may stay unknown
	offsets     map[string]time.Duration // corrections of the clocks of hosts: they are added to the starts of jobs
	byJob       bool                     // each job counts from its own start
}

// newPlan plans a run: which files belong together, what the rows of each job are read from, and when the jobs ran.
// Problems of single files are added to problems. It fails if nothing can be used, or if the start is needed and unknown.
func newPlan(ev *evidence, opt planOptions, problems *Problems) (*plan, error) {
	p := &plan{opt: opt, run: ev.run, config: ev.config, outputs: ev.outputs}
	jobs, averaged := jobLogs{ev, opt, problems}.find()
	p.entries = attribution{ev.outputs, ev.reader, problems}.attribute(jobs)
	(&chooser{p, ev, problems}).choose(jobs, averaged)
	if err := (placing{p, ev, problems}).times(); err != nil {
		return nil, err
	}
	var err error
	if p.levels, err = limitLevels(p.jobs, opt, problems); err != nil {
		return nil, err
	}
	return p, nil
}

// name returns the name of the job at level Job: volume and number.
func (j *job) name() string {
	if j.volume == "" {
		return fmt.Sprint(j.number)
	}
	return j.volume + "." + fmt.Sprint(j.number)
}

// maxRun is longer than any run: ten years in milliseconds.
const maxRun = 10 * 366 * 24 * 3600 * 1000

// checkTime returns an error for an impossible time, as written.
func (j *job) checkTime(t int64) error {
	if at := t - j.origin; at < 0 || at > maxRun {
		return fmt.Errorf("time %d is not of a job that began at %d, want at most ten years later", t, j.origin)
	}
	return nil
}

// serves reports whether a job may have requests of a direction. Its report has some, or it has no report.
func (j *job) serves(d fiolog.Direction) bool {
	return j.entry == nil || j.entry.mixed || served(&j.entry.Directions[d])
}

// jobOf returns the job that wrote a log, or nil if none did.
func (p *plan) jobOf(log cbt.Log) *job {
	for _, j := range p.jobs {
		if j.jobKey == keyOf(log) {
			return j
		}
	}
	return nil
}
