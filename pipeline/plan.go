package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// plan is all that is known of a run before its first row is read: which job ran on which
// host, what its rows are read from, which entry of fio's output covers it, when it
// began and ended, and how each is known. Nothing changes it afterwards: windows,
// documents and the run's summary are functions of it and of the rows.
type plan struct {
	opt      Options
	run      *cbt.Run
	title    string         // the run's in messages
	config   map[string]any // of CBT
	outputs  []*output
	entries  []*entry
	jobs     []*job
	averages []cbt.Log // in place of rows

	start     time.Time // of the first job; zero if unknown
	clock     clock     // the weakest of the jobs'
	error     time.Duration
	placed    string // how jobs that ran one after another were placed; empty if none did
	window    int64  // milliseconds
	shift     int64  // by how much the windows begin before the run, to follow its rows
	noWindows string // why there are no windows with percentiles, and what to do; else empty
	hosts     []string
}

// job is one job of fio: where its rows come from, and when it ran.
type job struct {
	host, volume string
	number       int    // fio's, from 1
	section      string // the job's name in fio's report, "" without one
	entry        *entry // nil if no report covers it
	source       sourceKind
	log          cbt.Log // that rows are read from, or the report
	segment      int     // of a log of several jobs, from 0; else -1
	lag          int     // of the rows that fio --client doubled; else 0

	hasRows  bool
	layout   hist.Layout // of its rows
	hint     hist.Hint   // of the bins of its log
	first    int64       // time of the first row, as written
	interval int64       // milliseconds between rows; 0 if nothing says it
	late     int64       // milliseconds by which the first row came later than the next ones, by the interval

	start  time.Time // absolute; zero if unknown
	clock  clock
	error  time.Duration // start is known to ± this
	origin int64         // what the times of its rows count from, as written
	offset int64         // its start, in milliseconds after the run's
	ran    int64         // how long it ran, milliseconds; 0 if no report says it
}

// before is the time an interval before the first row was due, as written.
func (j *job) before() int64 { return j.first - j.late - j.interval }

// sourceKind is what the rows of a job are read from.
type sourceKind uint8

const (
	fromNothing sourceKind = iota
	fromHist               // a histogram log
	fromRaw                // a log of all completions
	fromReports            // the periodic reports of fio
)

var sourceNames = [...]string{"nothing", "histogram log", "completions", "periodic reports"}

func (k sourceKind) String() string { return sourceNames[k] }

// cursors are what rows are read from, opened while the run was planned.
type cursors struct {
	hist  map[*job]*histLog
	raw   map[*job]*rawLog
	feeds map[*job]*feed
	live  *growing // fio still writes the reports; else nil
}

func (c *cursors) close() {
	for _, h := range c.hist {
		h.close()
	}
	for _, r := range c.raw {
		r.close()
	}
	for _, f := range c.feeds {
		f.abort()
	}
}

// planner makes a plan.
type planner struct {
	*plan
	*Problems
	growing bool // fio still writes the run's files
	absent  bool // the start may stay unknown
	readers *logReaders
	cursors *cursors
	feeds   map[*output]*feed
}

// errNothing is a run whose logs and reports have nothing that can be used.
var errNothing = errors.New("no rows in any of its logs, and no report that can be used")

// makePlan looks at the heads of a run's files and finds out what belongs together, and
// when it was. The run gets a start from any source if absolute is set. What is wrong
// with files goes to problems; an error is a run that cannot be read at all, or ctx's.
func makePlan(ctx context.Context, run *cbt.Run, opt Options, absolute bool, live *growing, problems *Problems) (*plan, *cursors, error) {
	title := run.Archive + ":" + run.Name()
	if opt.Alone {
		title = "these logs"
	}
	b := &planner{
		plan: &plan{opt: opt, run: run, title: title}, Problems: problems, growing: live != nil, absent: !absolute,
		feeds: map[*output]*feed{}, readers: readersOf(max(len(run.Logs), len(run.Others))),
		cursors: &cursors{hist: map[*job]*histLog{}, raw: map[*job]*rawLog{}, feeds: map[*job]*feed{}, live: live},
	}
	if err := b.make(ctx); err != nil {
		b.cursors.close()
		return nil, nil, err
	}
	return b.plan, b.cursors, nil
}

func (b *planner) make(ctx context.Context) error {
	config, err := b.run.Configure(ctx)
	if err != nil && !(b.opt.Alone && errors.Is(err, fs.ErrNotExist)) {
		b.lose(err)
	}
	b.config = config
	b.outputs = b.readOutputs(ctx)
	if err := ctx.Err(); err != nil {
		return err
	}
	slots := b.histSlots()
	b.each(len(slots), func(i int) { slots[i].open(b.readers) })
	var averaged []cbt.Log
	if b.needsRaw(slots) {
		var raw []cbt.Log
		raw, averaged = b.rawLogs()
		slots = addRaw(slots, raw)
	}
	b.entries = b.attribute(b.outputs, slots)
	b.setGroups(slots)
	for _, e := range b.entries {
		if e.useTotalLatency() {
			b.note("%s: completion latencies are disabled: its latencies are counted from submission (lat)", e.describe())
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	b.choose(slots)
	b.fallBack()
	b.averages = b.useAverages(averaged)
	if len(b.jobs) == 0 {
		return errNothing
	}
	if err := b.setTimes(); err != nil {
		return err
	}
	b.nameHosts()
	b.noWindows = b.whyNoWindows()
	return ctx.Err()
}

// each calls do for 0 … n-1, side by side: a run has many files, and they may be
// compressed. It returns when all calls have.
func (p *plan) each(n int, do func(i int)) {
	var all sync.WaitGroup
	var next atomic.Int64
	for range min(p.workers(), n) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}

func (p *plan) workers() int {
	if p.opt.Workers > 0 {
		return p.opt.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// name is the job's at level Job: volume and number.
func (j *job) name() string {
	if j.volume == "" {
		return fmt.Sprint(j.number)
	}
	return j.volume + "." + fmt.Sprint(j.number)
}

// maxRun is longer than any run: ten years of milliseconds.
const maxRun = 10 * 366 * 24 * 3600 * 1000

// checkTime is what is wrong with a time, as written.
func (j *job) checkTime(t int64) error {
	if at := t - j.origin; at < 0 || at > maxRun {
		return fmt.Errorf("time %d is not of a job that began at %d, want at most ten years later", t, j.origin)
	}
	return nil
}

// serves reports whether a job may have requests of a direction: its report says so, or
// there is none.
func (j *job) serves(d fiolog.Direction) bool {
	return j.entry == nil || j.entry.mixed || j.entry.Directions[d].TotalIOs > 0
}
