package pipeline

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// input is a run that is ready to be read: its plan, and its logs, open at their first rows.
type input struct {
	*plan
	opt     Options // Levels are those of the plan
	files   *files
	tailing *tailing // not nil while fio still writes
}

func (in *input) close() { in.files.close(nil) }

// files are the logs of a run that were opened for the plan, and what reading them has shown.
type files struct {
	workers int
	logs    map[*logHead]*logFile

	mu       sync.Mutex
	contents map[*source.File]mapping.SourceFile // of logs that were read as a whole
}

// close closes the logs except those that keep has.
func (f *files) close(keep map[*logHead]bool) {
	for head, l := range f.logs {
		if !keep[head] {
			l.close()
			delete(f.logs, head)
		}
	}
}

// of returns the log of a job, at its first row.
func (f *files) of(j *job) *logFile {
	if l := f.logs[j.log]; l != nil {
		return l
	}
	l := openHead(j.log)
	f.logs[j.log] = l
	return l
}

func openHead(log *logHead) *logFile { return openLog(log.Log, max(log.segment, 0), log.hint) }

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
	ev := &evidence{run: run, config: config, outputs: outputReader{run, live != nil, problems}.all(ctx), live: live != nil}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	in := &input{opt: opt, tailing: live, files: &files{
		workers: opt.workers(), logs: map[*logHead]*logFile{}, contents: map[*source.File]mapping.SourceFile{},
	}}
	ev.reader = in.files
	in.files.gather(ev, opt)
	if err = ctx.Err(); err == nil {
		in.plan, err = newPlan(ev, opt.plan(run, absolute), problems)
	}
	if err = cmp.Or(err, ctx.Err()); err != nil {
		in.files.close(nil)
		return nil, err
	}
	in.opt.Levels = in.levels
	keep := map[*logHead]bool{}
	for _, j := range in.jobs {
		keep[j.log] = j.source == fromHist
	}
	in.files.close(keep)
	return in, nil
}

// gather looks at the first rows of the logs. Histogram logs stay open, because their rows are read next.
func (f *files) gather(ev *evidence, opt Options) {
	for _, log := range ev.run.Logs {
		hint := ev.hintFor(log, opt.Bins)
		if log.Job > 0 {
			ev.logs = append(ev.logs, &logHead{Log: log, segment: -1, hint: hint})
		} else {
			ev.logs = append(ev.logs, segments(log, hint)...)
		}
	}
	opened := make([]*logFile, len(ev.logs))
	each(f.workers, len(ev.logs), func(i int) {
		opened[i] = openHead(ev.logs[i])
		opened[i].look(ev.logs[i])
	})
	for i, l := range opened {
		f.logs[ev.logs[i]] = l
	}
	ev.written = bytesWritten(ev.run)
	if !ev.needsOthers(opt.Source == SourceRaw) {
		return
	}
	parts := make([][]*logHead, len(ev.run.Others))
	each(f.workers, len(ev.run.Others), func(i int) {
		log := &logHead{Log: ev.run.Others[i], segment: -1}
		parts[i] = []*logHead{log}
		if log.Stored || log.Kind == fiolog.Slat {
			return
		}
		l := openHead(log)
		l.look(log)
		l.close()
		if log.Job > 0 || log.Kind != fiolog.Clat && log.Kind != fiolog.Lat || log.isAveraged() {
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
		ev.others = append(ev.others, logs...)
	}
}

// look sets what the first rows of a log show.
func (l *logFile) look(to *logHead) {
	to.head, to.damage = l.head()
	to.rows = l.firstRows()
}

// segments returns the parts of a log of several jobs (per_job_logs=0). A new job begins where times start again. There
// is at least one part.
func segments(log cbt.Log, hint hist.Hint) []*logHead {
	begin := func(i int) *logHead { return &logHead{Log: log, segment: i, hint: hint, parts: &rowSums{}} }
	parts := []*logHead{begin(0)}
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
		parts[len(parts)-1].parts.add(rec)
	}
}

// bytesWritten returns about how many bytes fio wrote into all logs of each job.
func bytesWritten(run *cbt.Run) map[jobKey]int64 {
	const ratio, ratioOfBins = 4, 50 // of compressed files
	bytes := map[jobKey]int64{}
	for _, logs := range [][]cbt.Log{run.Logs, run.Others} {
		for _, log := range logs {
			f := log.File
			switch isFile := f.Name() == f.Disk(); {
			case f.Size >= 0:
				bytes[keyOf(log)] += f.Size
			case isFile && log.Kind.IsHistogram():
				bytes[keyOf(log)] += ratioOfBins * f.State().Size
			case isFile:
				bytes[keyOf(log)] += ratio * f.State().Size
			}
		}
	}
	return bytes
}

// sums implements [reader].
func (f *files) sums(log *logHead, lag int) (*rowSums, error) {
	sums, undo, l := &rowSums{}, undoubler{lag: lag}, openHead(log)
	defer l.close()
	for {
		rec, err, ok := l.next()
		if !ok {
			return sums, nil
		}
		if err != nil {
			return nil, err
		}
		if err := undo.row(rec); err != nil {
			return nil, l.wrong(err, rec)
		}
		sums.add(rec)
	}
}

// last implements [reader].
func (f *files) last(jobs []*job) []int64 {
	times := make([]int64, len(jobs))
	each(f.workers, len(jobs), func(i int) {
		last, ok := f.lastOfContent(jobs[i])
		if !ok {
			last = openHead(jobs[i].log).lastTime(jobs[i].checkTime)
		}
		times[i] = last
	})
	return times
}

// lastOfContent returns the time of the last row, as written, of an undamaged log of one job. It also hashes the log,
// because both need to read all of it.
func (f *files) lastOfContent(j *job) (last int64, ok bool) {
	if _, _, isHashed := j.log.File.Sum(); isHashed || j.source != fromHist || j.log.segment >= 0 {
		return 0, false // a hashed file is packed, so reading it again is fast
	}
	in, err := j.log.File.Open()
	if err != nil {
		return 0, false
	}
	defer in.Close()
	var times fiolog.LastTime
	sum := xxhash.New()
	size, err := copyAll(io.MultiWriter(sum, &times), in)
	if err != nil {
		return 0, false
	}
	f.mu.Lock()
	f.contents[j.log.File] = mapping.SourceFile{Path: j.log.File.Path, Bytes: size, Hash: hex.EncodeToString(sum.Sum(nil))}
	f.mu.Unlock()
	row := times.Row(j.log.hint)
	if row == nil || row.Layout != j.layout || j.checkTime(row.Time) != nil {
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
