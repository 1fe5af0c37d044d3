package pipeline

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// reader reads one run: its logs as streams of rows, aligned and merged.
type reader struct {
	opt      *Options
	run      *cbt.Run
	config   map[string]any
	absolute bool // the run must have a start
	known    Known
	growing  *growing // fio still writes the run's files; else nil
	readers  *logReaders
	problems Problems

	logged   bool                              // there is more than a report of fio
	keepSums bool                              // of each job's rows: to be compared with what fio reports
	windowed [fiolog.Directions]hist.Histogram // sum of all windows

	outputs   []*output
	averages  []cbt.Log // instead of rows
	bandwidth bandwidth
	feeds     []*feed
	entries   []*entry
	jobs      []*job
	named     bool             // names is filled
	names     mapping.HostsRef // of all hosts

	start time.Time // the run's; zero if unknown
	clock clock     // the weakest of its jobs'

	window    int64 // milliseconds
	shift     int64 // what the windows begin before the run, so that they follow its rows
	stats     align.Stats
	recovered counts
	missing   counts
	binless   atomic.Bool // a report has totals, but no bins
}

// counts are requests of each direction, from any goroutine.
type counts [fiolog.Directions]atomic.Int64

func (c *counts) add(d fiolog.Direction, n int64) { c[d].Add(n) }

func (c *counts) total() int64 {
	sum := int64(0)
	for d := range c {
		sum += c[d].Load()
	}
	return sum
}

// errNothing means that a run's logs hold no row at all.
var errNothing = errors.New("no rows in any of its logs")

// prepare opens the run's logs and finds out what belongs together.
func (r *reader) prepare(ctx context.Context) error {
	config, err := r.run.Configure()
	if err != nil && !(r.opt.Alone && errors.Is(err, fs.ErrNotExist)) {
		r.problems.lose(err)
	}
	r.config = config
	r.readers = readersOf(max(len(r.run.Logs), len(r.run.Others)))
	r.outputs = r.readOutputs()
	if err := ctx.Err(); err != nil {
		return err
	}
	r.choose()
	if len(r.entries) == 0 {
		r.entries = r.attribute(r.outputs)
	}
	r.keepSums = len(r.entries) > 0
	r.each(len(r.jobs), func(i int) {
		if r.jobs[i].source != nil {
			r.jobs[i].source.open()
		}
	})
	any := false
	for _, j := range r.jobs {
		j.setInterval()
		r.window = max(r.window, j.interval)
		any = any || j.hasRows || j.entry != nil
		r.logged = r.logged || j.source != nil
	}
	if !any && len(r.averages) == 0 {
		return errNothing
	}
	r.window = max(r.window, 1000)
	if r.opt.Window > 0 {
		r.window = max(r.opt.Window.Milliseconds(), 1)
	}
	if err := r.setClocks(); err != nil {
		return err
	}
	r.setShift()
	return nil
}

// setShift lets the windows follow the rows of a run all of whose jobs have their rows
// at the same moments, but not at multiples of the window's length: such as periodic
// reports, whose first comes some time after the start. A window cut across rows is a
// guess.
func (r *reader) setShift() {
	phase := int64(-1)
	for _, j := range r.jobs {
		if !j.hasRows || j.interval <= 0 || r.window%j.interval != 0 {
			return
		}
		at := ((j.first-j.origin+j.offset)%j.interval + j.interval) % j.interval
		apart := (at - phase + j.interval) % j.interval
		if phase >= 0 && min(apart, j.interval-apart) > j.interval/20 {
			return
		}
		if phase < 0 {
			phase = at
		}
	}
	if len(r.jobs) > 0 && phase > r.jobs[0].interval/20 {
		r.shift = r.window - phase
	}
}

// addLog makes the jobs of a log: one, or as many as a log of all jobs has.
func (r *reader) addLog(log cbt.Log) {
	if log.Job > 0 {
		r.addJob(log, -1)
		return
	}
	n := segments(log, r.hintFor(log))
	if n <= 1 {
		r.addJob(log, -1)
		return
	}
	for i := range n {
		r.addJob(log, i)
	}
}

func (r *reader) addJob(log cbt.Log, segment int) {
	j := &job{run: r, log: log, segment: segment}
	j.source = &histRows{job: j}
	r.jobs = append(r.jobs, j)
}

// segments counts the jobs in a log of several (per_job_logs=0). Errors are told when
// it is read in earnest.
func segments(log cbt.Log, hint hist.Hint) int {
	in, err := log.File.Open()
	if err != nil {
		return 1
	}
	defer in.Close()
	rows := fiolog.NewReader(in, log.File.Name())
	rows.SetHint(hint)
	n := 1
	for {
		rec, err := rows.Next()
		var bad *fiolog.SyntaxError
		switch {
		case err == nil && rec.NewJob:
			n++
		case err != nil && !errors.As(err, &bad):
			return n
		}
	}
}

// each calls do for 0 … n-1, side by side: a run has many files, and they may be
// compressed. It returns when all calls have.
func (r *reader) each(n int, do func(i int)) {
	var all sync.WaitGroup
	var next atomic.Int64
	for range min(r.workers(), n) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}

func (r *reader) workers() int {
	if r.opt.Workers > 0 {
		return r.opt.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// windows aligns and merges the run's rows.
func (r *reader) windows(ctx context.Context) iter.Seq2[*align.Window, error] {
	var streams []*align.Stream
	shortest := r.window
	for _, j := range r.jobs {
		j.splitter = align.NewSplitter(j.interval)
		streams = append(streams, &align.Stream{Host: j.log.Host, Job: j.name(), Next: j.next})
		if j.interval > 0 {
			shortest = min(shortest, j.interval)
		}
	}
	for _, e := range r.entries {
		if len(e.logs) > 1 {
			streams = append(streams, e.groupTail())
		}
	}
	windows := align.Merge(ctx, streams, align.Options{
		Window:    r.window,
		Tolerance: int64(r.opt.tolerance() * float64(shortest)),
		Weighting: r.opt.Weighting,
		SpreadAll: r.opt.SpreadAll,
		Levels:    r.opt.alignLevels(),
		Workers:   r.workers(),
		Eager:     r.growing != nil,
	}, &r.stats)
	if p := r.opt.Precision; p.Quantile > 0 {
		p.Longest = longest * r.window
		return align.Join(windows, p)
	}
	return windows
}

// longest is how many windows may be joined to one.
const longest = 60

// close ends reading, finished or not.
func (r *reader) close() {
	for _, j := range r.jobs {
		if j.source != nil {
			j.source.close()
		}
	}
	for _, f := range r.feeds {
		f.abort()
	}
}

// whole is the histogram of the whole run, of one direction: of fio's report where it
// has the bins of all requests, else of the logs' rows.
func (r *reader) whole(d fiolog.Direction) *hist.Histogram {
	if !r.keepSums {
		return &r.windowed[d]
	}
	all := &hist.Histogram{}
	for _, e := range r.entries {
		if len(e.Directions[d].Clat.Bins) > 0 && e.complete(d) == nil {
			all.Merge(e.reported(d))
			continue
		}
		logged, _ := e.logged(d)
		all.Merge(logged)
	}
	for _, j := range r.jobs {
		if j.entry == nil {
			all.Merge(&j.sums[d])
		}
	}
	return all
}
