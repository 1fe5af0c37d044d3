package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
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
	opt      Options
	run      *cbt.Run
	config   map[string]any // of CBT
	outputs  []*output
	entries  entryList
	jobs     []*job
	averages []cbt.Log // in place of rows
	timing
}

func (p *plan) title() string { return p.opt.title(p.run) }

// jobKey names a job of a run.
type jobKey struct {
	host, volume string
	number       int // fio's, from 1
}

// job is one job of fio: where its rows come from, and when it ran.
type job struct {
	jobKey
	segment int    // of a log of several jobs, from 0; else -1
	entry   *entry // nil if no report covers it

	jobRows
	jobTimes
}

// jobRows says where the rows of a job are read from.
type jobRows struct {
	source sourceKind
	log    cbt.Log   // the log whose rows are read; without one, the report's file
	raw    cbt.Log   // a log of completions; File is nil if there is none
	hint   hist.Hint // of the bins of its log
	sums   *rowSums  // sums of its rows, if the log is of several jobs
	lag    int       // distance of the rows that fio --client adds; 0: none
	damage error     // why the histogram log cannot be read at all
	head
	unit hist.Unit // of the latencies in a log of completions or averages

	content mapping.SourceFile // file of the log; no hash if it was not hashed

	file    *logFile   // the log, open at its first row
	reports *reportJob // the periodic reports, in place of a log
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
	if j.source != fromHist || j.file == nil {
		return times
	}
	times = j.file.firstTimes()
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

func (j *job) close() {
	if j.file != nil {
		j.file.close()
	}
	if j.reports != nil {
		j.reports.close()
	}
}

func (p *plan) close() { closeAll(p.jobs) }

func closeAll(jobs []*job) {
	for _, j := range jobs {
		j.close()
	}
}

// errNothing means that a run has no usable log or report.
var errNothing = errors.New("no rows in any of its logs, and no report that can be used")

// makePlan reads the reports and the first rows of the logs of a run. It finds which files belong together and when the
// jobs ran. If absolute is true, the run needs a start, from any evidence. live is not nil while fio still writes the
// files. Problems of single files are added to problems. makePlan fails if the run cannot be read at all or ctx ends.
func makePlan(
	ctx context.Context, run *cbt.Run, opt Options, absolute bool, live *tailing, problems *Problems,
) (*plan, error) {
	if err := checkLogs(run); err != nil {
		return nil, err
	}
	config, err := run.Configure(ctx)
	if err != nil && !(opt.Alone && errors.Is(err, fs.ErrNotExist)) {
		problems.skip(err)
	}
	p := &plan{opt: opt, run: run, config: config, outputs: outputReader{run, live != nil, problems}.all(ctx)}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	jobs, averaged := jobLogs{run, opt, p.outputs, problems}.find()
	p.entries = attribution{p.outputs, problems}.attribute(jobs)
	if err = ctx.Err(); err == nil {
		(&chooser{p, problems, live, map[*output]*reportFile{}}).choose(jobs, averaged)
		err = placing{p, problems, !absolute, live != nil}.times()
	}
	if err == nil {
		p.opt.Levels, err = limitLevels(p, problems)
	}
	if err = cmp.Or(err, ctx.Err()); err != nil {
		closeAll(jobs)
		p.close()
		return nil, err
	}
	return p, nil
}

// each calls do for 0 … n-1 from several goroutines, because a run has many files, which may be compressed. It returns
// after all calls.
func (o *Options) each(n int, do func(i int)) {
	var all sync.WaitGroup
	var next atomic.Int64
	for range min(o.workers(), n) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
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
