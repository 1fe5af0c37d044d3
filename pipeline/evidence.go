package pipeline

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
	"github.com/fio2es/fio2es/pipeline/source"
)

// input is a stage that is ready to be read: its plan, and the histogram logs of the execution, open at their first rows.
type input struct {
	*plan.Plan
	all  []*plan.Plan // of all stages of the execution
	opt  Options
	logs map[*plan.Log]*logFile
	open *atomic.Int64 // how many logs of the execution are open, of any kind
	live *liveFiles    // nil unless fio still writes
}

// mostLogs is the largest number of logs of one kind in a run. All logs with rows are open at the same time, with
// buffers of 130 or 30 KB.
const mostLogs = 8000

// makePlan reads the reports and the first rows of the logs of an execution, and plans it. It returns its stages, of which
// all share the open logs. If absolute is true, they need a start, from any evidence. live is not nil while fio still
// writes the files. Problems of single files are added to said. makePlan fails if the execution cannot be read at all or
// ctx ends.
func makePlan(ctx context.Context, run *cbt.Run, opt Options, absolute bool, live *liveFiles, said *problems) ([]*input, error) {
	count := map[fiolog.Kind]int{fiolog.ClatHist: len(run.Logs)}
	for _, l := range run.Others {
		count[l.Kind]++
	}
	if n := slices.Max(slices.Collect(maps.Values(count))); n > mostLogs {
		return nil, fmt.Errorf("%d logs of one run, want at most %d: ingest the folders of fewer hosts", n, mostLogs)
	}
	config, err := run.Configure(ctx)
	if err != nil && !(opt.Alone && errors.Is(err, fs.ErrNotExist)) {
		said.lack("%w", err) // settings are missing, and no requests
	}
	in := &input{opt: opt, logs: map[*plan.Log]*logFile{}, open: new(atomic.Int64), live: live}
	ev := &plan.Evidence{Run: run, Config: config, Outputs: readOutputs(ctx, run, live != nil, said), Reader: in, Live: live != nil}
	if ctx.Err() == nil {
		in.gather(ev)
	}
	err = ctx.Err()
	if err == nil {
		title := run.Archive + ":" + run.Name()
		if opt.Alone {
			title = "these logs"
		}
		remarks := &plan.Remarks{}
		in.all, err = plan.New(ev, plan.Options{
			Title: title, Completions: opt.Source == SourceRaw, Window: opt.Window, Bins: opt.Bins,
			Start: opt.Start, Absent: !absolute, Offsets: opt.Offsets, ByJob: opt.Align == AlignJob,
		}, remarks)
		for _, err := range remarks.Skipped {
			said.skip("%w", err)
		}
		for _, err := range remarks.Lacking {
			said.lack("%w", err)
		}
		for _, err := range remarks.Notes {
			said.note("%w", err)
		}
	}
	if err = cmp.Or(ctx.Err(), err); err != nil {
		in.close(nil)
		return nil, err
	}
	var stages []*input
	keep := map[*plan.Log]bool{}
	for _, stage := range in.all {
		one := *in
		one.Plan = stage
		stages = append(stages, &one)
		for _, j := range stage.Jobs {
			keep[j.Log] = j.Source == plan.FromHist
		}
	}
	in.close(keep)
	return stages, nil
}

func (in *input) close(keep map[*plan.Log]bool) {
	for log, l := range in.logs {
		if !keep[log] {
			l.close()
			delete(in.logs, log)
		}
	}
}

// gather looks at the first rows of the logs. Histogram logs stay open, because their rows are read next.
func (in *input) gather(ev *plan.Evidence) {
	for _, log := range ev.Run.Logs {
		if hint := ev.HintFor(log, in.opt.Bins); log.Job > 0 {
			ev.Logs = append(ev.Logs, &plan.Log{Log: log, Segment: -1, Hint: hint})
		} else {
			ev.Logs = append(ev.Logs, in.segments(log, hint)...)
		}
	}
	opened := make([]*logFile, len(ev.Logs))
	in.opt.each(len(ev.Logs), func(i int) {
		opened[i] = in.openLog(ev.Logs[i])
		opened[i].look(ev.Logs[i])
	})
	for i, l := range opened {
		in.logs[ev.Logs[i]] = l
	}
	ev.Written = map[plan.JobKey]int64{}
	for _, log := range slices.Concat(ev.Run.Logs, ev.Run.Others) {
		const ratio, ratioOfBins = 4, 400 // of compressed files, by bzip2
		f, bytes := log.File, int64(0)
		switch isFile := f.Name() == f.Disk; {
		case f.Size >= 0:
			bytes = f.Size
		case isFile && log.Kind.IsHistogram():
			bytes = ratioOfBins * f.State().Size
		case isFile:
			bytes = ratio * f.State().Size
		default:
			continue
		}
		ev.Written[plan.KeyOf(log)] += bytes
	}
	if !ev.NeedsOthers(in.opt.Source == SourceRaw) {
		return
	}
	look := func(log *plan.Log) {
		l := in.openLog(log)
		l.look(log)
		l.close()
	}
	others := make([][]*plan.Log, len(ev.Run.Others))
	in.opt.each(len(others), func(i int) {
		log := &plan.Log{Log: ev.Run.Others[i], Segment: -1}
		others[i] = []*plan.Log{log}
		if log.Stored || log.Kind == fiolog.Slat {
			return
		}
		look(log)
		if log.Job > 0 || log.Kind != fiolog.Clat && log.Kind != fiolog.Lat || log.IsAveraged() {
			return
		}
		if several := in.segments(log.Log, hist.Hint{}); len(several) > 1 {
			for _, part := range several {
				look(part)
			}
			others[i] = several
		}
	})
	ev.Others = slices.Concat(others...)
}

// segments returns the parts of a log of several jobs (per_job_logs=0). A new job begins where times start again. There
// is at least one part.
func (in *input) segments(log cbt.Log, hint hist.Hint) []*plan.Log {
	begin := func(i int) *plan.Log { return &plan.Log{Log: log, Segment: i, Hint: hint, Parts: &plan.Sums{}} }
	parts := []*plan.Log{begin(0)}
	l := in.openLog(parts[0])
	l.ofAll = true
	for {
		rec, err, ok := l.next()
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

// Sums implements [plan.Reader].
func (in *input) Sums(log *plan.Log, undo *plan.Undoubler) (*plan.Sums, error) {
	sums, l := &plan.Sums{}, in.openLog(log)
	defer l.close()
	for {
		rec, err, ok := l.next()
		if !ok {
			return sums, nil
		}
		switch {
		case err != nil && undo == nil && errors.As(err, new(*fiolog.SyntaxError)):
			continue
		case err != nil:
			return nil, err
		case undo != nil:
			if err := undo.Row(rec); err != nil {
				return nil, l.wrong(err, rec)
			}
		}
		sums.Add(rec)
	}
}

// Last implements [plan.Reader]. If the last line of a log of one job is whole and fits the rest, nothing else is read.
func (in *input) Last(jobs []*plan.Job) []int64 {
	const longest = 1 << 17 // bytes; no row is as long
	times := make([]int64, len(jobs))
	in.opt.each(len(jobs), func(i int) {
		j := jobs[i]
		if j.Source == plan.FromHist && j.Log.Segment < 0 {
			end, err := j.Log.File.End(longest)
			if text, isWhole := bytes.CutSuffix(end, []byte{'\n'}); err == nil && isWhole {
				rows := fiolog.NewReader(bytes.NewReader(end[bytes.LastIndexByte(text, '\n')+1:]), "", fiolog.ClatHist)
				rows.Hint = j.Log.Hint
				row, err := rows.Next()
				if err == nil && row.Layout == j.Layout && row.Time >= j.First && j.CheckTime(row.Time) == nil {
					times[i] = row.Time
					return
				}
			}
		}
		l := in.openLog(j.Log)
		defer l.close()
		for {
			rec, err, ok := l.next()
			switch {
			case !ok || err != nil && !errors.As(err, new(*fiolog.SyntaxError)):
				return
			case err == nil && j.CheckTime(rec.Time) == nil:
				times[i] = max(times[i], rec.Time)
			}
		}
	})
	return times
}

// each calls do for 0 … n-1 from several goroutines, because a run has many files, which may be compressed. It returns
// after all calls.
func (o *Options) each(n int, do func(i int)) {
	var all sync.WaitGroup
	var next atomic.Int64
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	for range min(workers, n) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	all.Wait()
}

// maxReports limits the memory for the reports of one run in bytes. It is enough for some thousand hosts and volumes
// with json+.
const maxReports = 96 << 20

// mostJoined is how many calls of fio a file of reports alone may have.
const mostJoined = 1000

// readOutputs reads fio's output of all hosts and volumes. CBT stores each output twice: as printed, and its JSON alone.
// The first of these files that has a report is used, or another one in which the same report has its bins. live means that fio
// still writes them.
//
// Of periodic reports only the last stays in memory. So jobs whose rows are made of the reports have their file read again
// ([reportFile]), which doubles the time. To keep what they count would take a gigabyte for 100 jobs and an hour of reports a
// second: 200 bins of each job and report are not zero. And files that fio still writes are read that way, too.
func readOutputs(ctx context.Context, run *cbt.Run, live bool, said *problems) (outputs []*plan.Output) {
	type place struct{ host, volume string }
	have := map[place]*plan.Output{}
	memory := 0
	isAlone := len(run.Logs)+len(run.Others) == 0
	read := func(out *plan.Output) (all []*plan.Output) { // several, if reports of several calls of fio were joined
		in, err := out.File.Open()
		if err != nil {
			said.skip("%w", err)
			return nil
		}
		defer in.Close()
		for one, err := range reportsOf(in, out.File) {
			var cut *fiolog.SyntaxError
			switch {
			case ctx.Err() != nil:
				return nil
			case errors.Is(err, source.ErrTooMuch):
				said.skip("%w", err)
				return nil
			case err == nil:
				if isAnother, hasRun := out.IsAnother(one); isAnother && hasRun && isAlone && !live && len(all) < mostJoined {
					all = append(all, out)
					out = &plan.Output{Report: out.Report, First: all[0], Skip: out.Skip + len(out.Times)}
				}
				out.Take(one)
			case live && errors.As(err, &cut) && cut.Partial: // fio still writes it
			case !out.Named && !isAlone && out.Fio == nil && !out.IsFio(): // no sign that fio wrote the file
			default:
				said.skip("%w", err)
			}
		}
		if out.Fio != nil {
			all = append(all, out)
		}
		return all
	}
	for i, f := range run.Reports {
		if memory > maxReports {
			said.skip("%s: from here on %d of %d reports are not read, because those before take %d MB: "+
				"run fio with group_reporting", f.File.Name(), len(run.Reports)-i, len(run.Reports), memory>>20)
			break
		}
		at, out := place{f.Host, f.Volume}, &plan.Output{Report: f, Live: live}
		if first := have[at]; f.Named && first != nil {
			if !first.HasBins && !live {
				useBins(first, f)
			}
			continue
		}
		for _, out := range read(out) {
			if out.Fio.Doubt != "" {
				said.skip("%s: %s", f.File.Name(), out.Fio.Doubt)
			}
			if out.Impossible != "" {
				said.note("%s: %s", f.File.Name(), out.Impossible)
			}
			if out.Others > 0 {
				said.skip("%s: it has reports of %d runs of fio, one after another (>>): only the last is used; "+
					"write each run's report to its own file", f.File.Name(), out.Others+1)
			}
			have[at] = out
			outputs = append(outputs, out)
			memory += out.Fio.Memory
		}
	}
	return outputs
}

// useBins replaces an output by one of another file that says the same and has bins.
func useBins(out *plan.Output, f cbt.Report) {
	in, err := f.File.Open()
	if err != nil {
		return
	}
	defer in.Close()
	other := &plan.Output{Report: f}
	for one, err := range reportsOf(in, f.File) {
		if err == nil {
			other.Take(one)
		}
	}
	if other.HasBins && slices.Equal(other.Says, out.Says) {
		*out = *other
	}
}

// reportsOf iterates over the reports with jobs in a file. A report that is there once more, because files were joined,
// is left out: fio writes no two reports at the same moment.
func reportsOf(in io.Reader, f *evidence.File) iter.Seq2[*fiolog.Report, error] {
	haveSameTotals := func(a, b fiolog.Job) bool {
		return a.Name == b.Name && a.Host == b.Host && a.Runtime == b.Runtime && plan.RequestsOf(&a) == plan.RequestsOf(&b)
	}
	return func(yield func(*fiolog.Report, error) bool) {
		var before *fiolog.Report
		for one, err := range cbt.ReadReports(in, f) {
			if err == nil {
				if len(one.Jobs) == 0 || before != nil && one.Timestamp > 0 && one.Timestamp == before.Timestamp &&
					slices.EqualFunc(one.Jobs, before.Jobs, haveSameTotals) {
					continue
				}
				before = one
			}
			if !yield(one, err) {
				return
			}
		}
	}
}
