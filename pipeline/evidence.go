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
	"sync/atomic"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// input is a stage that is ready to be read: its plan, and the histogram logs of the execution, open at their first rows.
type input struct {
	plan *plan.Plan
	all  []*plan.Plan // of all stages of the execution
	opt  Options
	logs map[*assign.JobLog]*logFile
	open *atomic.Int64 // how many logs of the execution are open, of any kind
	live *liveFiles    // nil unless fio still writes
}

// mostLogs is the largest number of logs of one kind in a run. The rows of small ones are in memory. All others are open at the same
// time, with buffers of 130 or 30 KB.
const mostLogs = 8000

// makePlan reads the reports and the first rows of the logs of an execution, and plans it. It returns its stages, of which
// all share the open logs. If absolute is true, they need a start, from any evidence. live is not nil while fio still
// writes the files. Problems of single files are added to said. makePlan fails if the execution cannot be read at all or
// ctx ends.
func makePlan(ctx context.Context, run *assign.Run, opt Options, absolute bool, live *liveFiles, said *problems) ([]*input, error) {
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
	in := &input{opt: opt, logs: map[*assign.JobLog]*logFile{}, open: new(atomic.Int64), live: live}
	ev := &assign.Evidence{Run: run, Config: config, Outputs: readOutputs(ctx, run, live != nil, said), Live: live != nil}
	for _, f := range run.Reports {
		f.File.Forget()
	}
	if ctx.Err() == nil {
		in.gather(ev)
	}
	err = ctx.Err()
	if err == nil {
		title := run.Archive + ":" + run.Name()
		if opt.Alone {
			title = "these logs"
		}
		remarks, settings := &assign.Remarks{}, plan.Options{
			Options: assign.Options{Title: title, Completions: opt.Source == SourceRaw, Bins: opt.Bins, Jobs: slices.Contains(opt.levels(), mapping.Job)},
			Window:  opt.Window, Start: opt.Start, Absent: !absolute, Offsets: opt.Offsets, ByJob: opt.Align == AlignJob,
		}
		for {
			var needs map[assign.Need]bool
			if in.all, needs, err = plan.New(ev, settings, remarks); len(needs) == 0 || ctx.Err() != nil {
				break
			}
			in.learn(ev, slices.Collect(maps.Keys(needs)))
		}
		said.take(remarks)
	}
	if err = cmp.Or(ctx.Err(), err); err != nil {
		in.close(nil)
		return nil, err
	}
	var stages []*input
	keep := map[*assign.JobLog]bool{}
	for _, stage := range in.all {
		one := *in
		one.plan = stage
		stages = append(stages, &one)
		for _, j := range stage.Jobs {
			keep[j.Log] = j.Source == assign.FromHist
		}
	}
	in.close(keep)
	return stages, nil
}

func (in *input) openLog(log *assign.JobLog) *logFile { return openLog(log, in.open) }

func (in *input) close(keep map[*assign.JobLog]bool) {
	for log, l := range in.logs {
		if !keep[log] {
			l.close()
			delete(in.logs, log)
		}
	}
}

// gather looks at the first rows of the logs. Histogram logs stay open, because their rows are read next.
func (in *input) gather(ev *assign.Evidence) {
	for _, log := range ev.Run.Logs {
		if hint := ev.HintFor(log, in.opt.Bins); log.Job > 0 {
			ev.Logs = append(ev.Logs, &assign.JobLog{Log: log, Segment: -1, Hint: hint})
		} else {
			ev.Logs = append(ev.Logs, in.segments(log, hint)...)
		}
	}
	opened := make([]*logFile, len(ev.Logs))
	in.opt.each(len(ev.Logs), func(i int) {
		opened[i] = in.openLog(ev.Logs[i])
		if ev.Logs[i].Segment < 0 {
			opened[i].look(ev.Logs[i])
		}
	})
	for i, l := range opened {
		in.logs[ev.Logs[i]] = l
	}
	ev.Written = map[assign.JobKey]int64{}
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
		ev.Written[assign.KeyOf(log)] += bytes
	}
	if !ev.NeedsOthers(in.opt.Source == SourceRaw) {
		return
	}
	others := make([][]*assign.JobLog, len(ev.Run.Others))
	in.opt.each(len(others), func(i int) {
		log := &assign.JobLog{Log: ev.Run.Others[i], Segment: -1}
		others[i] = []*assign.JobLog{log}
		if log.Stored || log.Kind == fiolog.Slat {
			return
		}
		l := in.openLog(log)
		l.look(log)
		l.close()
		if log.Job > 0 || log.Kind != fiolog.Clat && log.Kind != fiolog.Lat || log.IsAveraged() {
			return
		}
		if several := in.segments(log.Log, hist.Hint{}); len(several) > 1 {
			others[i] = several
		}
	})
	ev.Others = slices.Concat(others...)
}

// segments returns the parts of a log of several jobs (per_job_logs=0), with what their first rows show. A new job begins where times
// start again. There is at least one part.
func (in *input) segments(log assign.Log, hint hist.Hint) []*assign.JobLog {
	begin := func(i int) *assign.JobLog {
		return &assign.JobLog{Log: log, Segment: i, Hint: hint, Parts: &evidence.Sums{}}
	}
	parts := []*assign.JobLog{begin(0)}
	l := in.openLog(parts[0])
	l.ofAll = true
	for {
		rec, err, ok := l.next()
		if !ok {
			return parts
		}
		if err == nil && rec.NewJob {
			parts = append(parts, begin(len(parts)))
		}
		part := parts[len(parts)-1]
		if err == nil {
			part.Parts.Add(rec)
		}
		if len(part.Rows) < evidence.EnoughRows {
			if err == nil {
				rec = rec.Clone()
			}
			part.See(rec, err)
		}
	}
}

// learn adds what a plan needs of all rows of logs to the evidence.
func (in *input) learn(ev *assign.Evidence, needs []assign.Need) {
	if ev.Rows == nil {
		ev.Rows = map[assign.Need]assign.Rows{}
	}
	found := make([]map[assign.Need]assign.Rows, len(needs))
	in.opt.each(len(needs), func(i int) {
		switch n := needs[i]; n.What {
		case assign.LastRow:
			found[i] = map[assign.Need]assign.Rows{n: {Last: in.last(n.Log)}}
		case assign.ReadableSums:
			found[i] = in.sums(n)
		case assign.OwnSums: // other lags are needed next
			found[i] = in.sums(assign.Need{Log: n.Log}, assign.Need{Log: n.Log, Lag: 1}, assign.Need{Log: n.Log, Lag: 2})
		}
	})
	for _, rows := range found {
		maps.Copy(ev.Rows, rows)
	}
}

// sums adds up the rows of one log in several ways.
func (in *input) sums(needs ...assign.Need) map[assign.Need]assign.Rows {
	l, found := in.openLog(needs[0].Log), map[assign.Need]assign.Rows{}
	defer l.close()
	undo := make([]evidence.Undoubler, len(needs))
	for i, n := range needs {
		undo[i].Lag, found[n] = n.Lag, assign.Rows{Sums: &evidence.Sums{}}
	}
	for {
		rec, err, ok := l.next()
		if !ok {
			break
		}
		if err != nil && needs[0].What == assign.ReadableSums && errors.As(err, new(*fiolog.SyntaxError)) {
			continue
		}
		for i, n := range needs {
			one, why := rec, err
			if err == nil {
				if n.Lag > 0 {
					one = new(*rec)
				}
				if why = undo[i].Row(one); why != nil {
					why = l.wrong(why, rec)
				}
			}
			switch rows := found[n]; {
			case rows.Err != nil:
			case why != nil:
				found[n] = assign.Rows{Err: why}
			default:
				rows.Sums.Add(one)
			}
		}
		if err != nil {
			break
		}
	}
	return found
}

// last returns the time of the last row of a log, as written. If the last line of a log of one job is whole and fits the rest, nothing
// else is read.
func (in *input) last(log *assign.JobLog) (last int64) {
	const usual, longest = 1 << 14, 1 << 17 // bytes; no row is as long
	isPossible := func(row *fiolog.Record) bool { return row.Time <= log.First+plan.MaxRun }
	if l := in.logs[log]; l != nil && l.in == nil {
		for _, row := range l.ahead {
			if row.err == nil && isPossible(&row.Record) {
				last = max(last, row.Time)
			}
		}
		return last
	}
	if log.Kind.IsHistogram() && log.Segment < 0 {
		end, err := log.File.End(usual)
		if err == nil && bytes.Count(end, []byte{'\n'}) < 2 {
			end, err = log.File.End(longest)
		}
		if text, isWhole := bytes.CutSuffix(end, []byte{'\n'}); err == nil && isWhole {
			rows := fiolog.NewReader(bytes.NewReader(end[bytes.LastIndexByte(text, '\n')+1:]), "", fiolog.ClatHist)
			rows.Hint = log.Hint
			row, err := rows.Next()
			if err == nil && row.Layout == log.Layout && row.Time >= log.First && isPossible(row) {
				return row.Time
			}
		}
	}
	l := in.openLog(log)
	defer l.close()
	for {
		rec, err, ok := l.next()
		switch {
		case !ok || err != nil && !errors.As(err, new(*fiolog.SyntaxError)):
			return last
		case err == nil && isPossible(rec):
			last = max(last, rec.Time)
		}
	}
}

// each calls do for 0 … n-1 from several goroutines, because a run has many files, which may be compressed. It returns
// after all calls.
func (o *Options) each(n int, do func(i int)) {
	workers := o.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	ahead.Each(workers, n, do)
}

// maxReports limits the memory for the reports of one run in bytes. It is enough for some thousand hosts and volumes
// with json+.
const maxReports = 96 << 20

// readOutputs reads fio's output of all hosts and volumes. CBT stores each output twice: as printed, and its JSON alone.
// The first of these files that has a report is used, or another one in which the same report has its bins. live means that fio
// still writes them.
func readOutputs(ctx context.Context, run *assign.Run, live bool, said *problems) (outputs []*assign.Output) {
	type place struct{ host, volume string }
	have := map[place]*assign.Output{}
	memory := 0
	isAlone := len(run.Logs)+len(run.Others) == 0
	for i, f := range run.Reports {
		if memory > maxReports {
			said.skip("%s: from here on %d of %d reports are not read, because those before take %d MB: "+
				"run fio with group_reporting", f.File.Name(), len(run.Reports)-i, len(run.Reports), memory>>20)
			break
		}
		at := place{f.Host, f.Volume}
		if first := have[at]; f.Named && first != nil {
			if !first.HasBins && !live {
				useBins(ctx, first, f)
			}
			continue
		}
		printed := f.File.Printed(ctx)
		if ctx.Err() != nil {
			return nil
		}
		for _, one := range printed.Errors {
			cut, isBad := errors.AsType[*fiolog.SyntaxError](one.Err)
			switch {
			case live && isBad && cut.Partial: // fio still writes it
			case !f.Named && !isAlone && one.IsFirst && !f.File.IsReport(): // no sign that fio wrote the file
			default:
				said.skip("%w", one.Err)
			}
		}
		executions := printed.Executions
		if n := len(executions); n > 0 && (!isAlone || live) {
			executions = executions[n-1:]
		}
		for i, one := range executions {
			out := &assign.Output{Report: f, Execution: *one, Live: live}
			if i > 0 { // a file of reports alone may have those of several calls of fio
				out.First = outputs[len(outputs)-i]
			}
			if n := one.Before - i; n > 0 {
				said.skip("%s: it has reports of %d runs of fio, one after another (>>): only the last is used; "+
					"write each run's report to its own file", f.File.Name(), n+1)
			}
			if one.Fio.Doubt != "" {
				said.skip("%s: %s", f.File.Name(), one.Fio.Doubt)
			}
			if one.Impossible != "" {
				said.note("%s: %s", f.File.Name(), one.Impossible)
			}
			have[at] = out
			outputs = append(outputs, out)
			memory += one.Fio.Memory
		}
	}
	return outputs
}

// useBins replaces an output by one of another file that says the same and has bins.
func useBins(ctx context.Context, out *assign.Output, f assign.Report) {
	all := f.File.Printed(ctx).Executions
	if n := len(all); n > 0 && all[n-1].HasBins && slices.Equal(all[n-1].Says, out.Says) {
		*out = assign.Output{Report: f, Execution: *all[n-1]}
	}
}
