package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// input is a run that is ready to be read: its plan, and its logs, open at their first rows.
type input struct {
	*plan.Plan
	opt     Options // Levels are those of the plan
	files   *files
	tailing *tailing // not nil while fio still writes
}

func (in *input) close() { in.files.close(nil) }

// files are the logs of a run that were opened for the plan, and what reading them has shown.
type files struct {
	workers int
	logs    map[*plan.Log]*logFile
}

// close closes the logs except those that keep has.
func (f *files) close(keep map[*plan.Log]bool) {
	for head, l := range f.logs {
		if !keep[head] {
			l.close()
			delete(f.logs, head)
		}
	}
}

// of returns the log of a job, at its first row.
func (f *files) of(j *plan.Job) *logFile {
	if l := f.logs[j.Log]; l != nil {
		return l
	}
	l := openHead(j.Log)
	f.logs[j.Log] = l
	return l
}

func openHead(log *plan.Log) *logFile { return openLog(log.Log, max(log.Segment, 0), log.Hint) }

// makePlan reads the reports and the first rows of the logs of a run, and plans it. If absolute is true, the run needs a
// start, from any evidence. live is not nil while fio still writes the files. Problems of single files are added to
// problems. makePlan fails if the run cannot be read at all or ctx ends.
func makePlan(
	ctx context.Context, run *cbt.Run, opt Options, absolute bool, live *tailing, problems *Problems,
) (*input, error) {
	if err := checkLogs(run); err != nil {
		return nil, err
	}
	config, err := run.Configure(ctx)
	if err != nil && !(opt.Alone && errors.Is(err, fs.ErrNotExist)) {
		problems.skip(err)
	}
	ev := &plan.Evidence{Run: run, Config: config, Outputs: outputReader{run, live != nil, problems}.all(ctx), Live: live != nil}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	in := &input{opt: opt, tailing: live, files: &files{
		workers: opt.workers(), logs: map[*plan.Log]*logFile{},
	}}
	ev.Reader = in.files
	in.files.gather(ev, opt)
	if err = ctx.Err(); err == nil {
		said := &plan.Remarks{}
		in.Plan, err = plan.New(ev, opt.plan(run, absolute), said)
		problems.take(said)
	}
	if err = cmp.Or(ctx.Err(), run.Budget().Err(), err); err != nil {
		in.files.close(nil)
		return nil, err
	}
	in.opt.Levels = in.Levels
	keep := map[*plan.Log]bool{}
	for _, j := range in.Jobs {
		keep[j.Log] = j.Source == plan.FromHist
	}
	in.files.close(keep)
	return in, nil
}

// gather looks at the first rows of the logs. Histogram logs stay open, because their rows are read next.
func (f *files) gather(ev *plan.Evidence, opt Options) {
	for _, log := range ev.Run.Logs {
		hint := ev.HintFor(log, opt.Bins)
		if log.Job > 0 {
			ev.Logs = append(ev.Logs, &plan.Log{Log: log, Segment: -1, Hint: hint})
		} else {
			ev.Logs = append(ev.Logs, segments(log, hint)...)
		}
	}
	opened := make([]*logFile, len(ev.Logs))
	each(f.workers, len(ev.Logs), func(i int) {
		opened[i] = openHead(ev.Logs[i])
		opened[i].look(ev.Logs[i])
	})
	for i, l := range opened {
		f.logs[ev.Logs[i]] = l
	}
	ev.Written = bytesWritten(ev.Run)
	if !ev.NeedsOthers(opt.Source == SourceRaw) {
		return
	}
	parts := make([][]*plan.Log, len(ev.Run.Others))
	each(f.workers, len(ev.Run.Others), func(i int) {
		log := &plan.Log{Log: ev.Run.Others[i], Segment: -1}
		parts[i] = []*plan.Log{log}
		if log.Stored || log.Kind == fiolog.Slat {
			return
		}
		l := openHead(log)
		l.look(log)
		l.close()
		if log.Job > 0 || log.Kind != fiolog.Clat && log.Kind != fiolog.Lat || log.IsAveraged() {
			return
		}
		if several := segments(log.Log, hist.Hint{}); len(several) > 1 {
			for _, part := range several {
				l := openHead(part)
				l.look(part)
				l.close()
			}
			parts[i] = several
		}
	})
	for _, logs := range parts {
		ev.Others = append(ev.Others, logs...)
	}
}

// look sets what the first rows of a log show.
func (l *logFile) look(to *plan.Log) {
	to.Head, to.Damage = l.head()
	to.Rows = l.firstRows()
}

// segments returns the parts of a log of several jobs (per_job_logs=0). A new job begins where times start again. There
// is at least one part.
func segments(log cbt.Log, hint hist.Hint) []*plan.Log {
	begin := func(i int) *plan.Log { return &plan.Log{Log: log, Segment: i, Hint: hint, Parts: &plan.Sums{}} }
	parts := []*plan.Log{begin(0)}
	l := openLog(log, 0, hint)
	for {
		rec, err, ok := l.nextOfFile()
		switch {
		case !ok:
			return parts
		case err != nil:
			continue
		case rec.NewJob:
			parts = append(parts, begin(len(parts)))
		}
		parts[len(parts)-1].Parts.Add(rec)
	}
}

// bytesWritten returns about how many bytes fio wrote into all logs of each job.
func bytesWritten(run *cbt.Run) map[plan.JobKey]int64 {
	const ratio, ratioOfBins = 4, 400 // of compressed files, by bzip2
	bytes := map[plan.JobKey]int64{}
	for _, logs := range [][]cbt.Log{run.Logs, run.Others} {
		for _, log := range logs {
			f := log.File
			switch isFile := f.Name() == f.Disk; {
			case f.Size >= 0:
				bytes[plan.KeyOf(log)] += f.Size
			case isFile && log.Kind.IsHistogram():
				bytes[plan.KeyOf(log)] += ratioOfBins * f.State().Size
			case isFile:
				bytes[plan.KeyOf(log)] += ratio * f.State().Size
			}
		}
	}
	return bytes
}

// Sums implements [plan.Reader].
func (f *files) Sums(log *plan.Log, lag int) (*plan.Sums, error) {
	sums, undo, l := &plan.Sums{}, plan.Undoubler{Lag: lag}, openHead(log)
	defer l.close()
	for {
		rec, err, ok := l.next()
		if !ok {
			return sums, nil
		}
		if err != nil {
			return nil, err
		}
		if err := undo.Row(rec); err != nil {
			return nil, l.wrong(err, rec)
		}
		sums.Add(rec)
	}
}

// Last implements [plan.Reader].
func (f *files) Last(jobs []*plan.Job) []int64 {
	times := make([]int64, len(jobs))
	each(f.workers, len(jobs), func(i int) {
		last, ok := lastOfEnd(jobs[i])
		if !ok {
			last = openHead(jobs[i].Log).lastTime(jobs[i].CheckTime)
		}
		times[i] = last
	})
	return times
}

// lastOfEnd returns the time of the last row, as written, of a log of one job, if its last line is whole and fits the rest.
func lastOfEnd(j *plan.Job) (last int64, ok bool) {
	const longest = 1 << 17 // bytes; no row is as long
	if j.Source != plan.FromHist || j.Log.Segment >= 0 {
		return 0, false
	}
	end, err := j.Log.File.End(longest)
	text, isWhole := bytes.CutSuffix(end, []byte{'\n'})
	if err != nil || !isWhole {
		return 0, false
	}
	rows := fiolog.NewReader(bytes.NewReader(end[bytes.LastIndexByte(text, '\n')+1:]), "", fiolog.ClatHist)
	rows.SetHint(j.Log.Hint)
	row, err := rows.Next()
	if err != nil || row.Layout != j.Layout || row.Time < j.First || j.CheckTime(row.Time) != nil {
		return 0, false
	}
	return row.Time, true
}

// each calls do for 0 … n-1 from several goroutines, because a run has many files, which may be compressed. It returns
// after all calls.
func each(workers, n int, do func(i int)) {
	var all sync.WaitGroup
	var next atomic.Int64
	for range min(workers, n) {
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

// mostLogs is the largest number of logs of one kind in a run. All logs with rows are open at the same time, with
// buffers of 130 or 30 KB.
const mostLogs = 8000

func checkLogs(run *cbt.Run) error {
	count := map[fiolog.Kind]int{fiolog.ClatHist: len(run.Logs)}
	for _, l := range run.Others {
		count[l.Kind]++
	}
	if n := slices.Max(slices.Collect(maps.Values(count))); n > mostLogs {
		return fmt.Errorf("%d logs of one run, want at most %d: ingest the folders of fewer hosts", n, mostLogs)
	}
	return nil
}
