package pipeline

import (
	"context"
	"maps"
	"slices"

	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// runReader reads the rows of a plan into windows, and counts what it reads.
type runReader struct {
	plan     *plan.Plan
	opt      *Options
	input    *input
	info     mapping.RunInfo // as documents have it
	source   mapping.Source  // of the run document
	problems *problems
	isLive   bool // fio still writes the reports

	keys    *jobKeys
	read    *account.Read
	sources []rowSource   // that were opened
	reports []*reportFile // of these
	made    mapping.Documents
	cbt     mapping.CBT  // of the run
	ofRun   *mapping.Run // see [runReader.known]
}

func newRunReader(p *input, said *problems) *runReader {
	r := &runReader{
		plan: p.plan, opt: &p.opt, input: p, info: p.reference(), problems: said,
		keys: keysOf(p.plan, p.opt.Levels), cbt: p.plan.Settings(),
		read: &account.Read{
			Plan: p.plan, Counts: make(map[*plan.Job]*account.Counts, len(p.plan.Jobs)), Live: p.live != nil,
			Coarseness: p.opt.Coarseness, ByJob: p.opt.Align == AlignJob, Alone: p.opt.Alone,
		},
	}
	for _, j := range p.plan.Jobs {
		r.read.Counts[j] = &account.Counts{}
		r.isLive = r.isLive || p.live != nil && j.Source == assign.FromReports
	}
	return r
}

// close closes the reports and logs of the run, also those that were not read to their end. To read the run again opens
// them again.
func (r *runReader) close() {
	for _, s := range r.sources {
		s.close()
	}
}

// hasNext reports whether a later stage has begun.
func (r *runReader) hasNext() bool {
	return slices.ContainsFunc(r.reports, func(f *reportFile) bool { return f.hasNext })
}

// longest is the largest number of windows that are joined to one.
const longest = 60

// windowsAhead is how many windows may wait for their percentiles while rows are read. Each takes about 20 KB. With two
// processors this saves a fifth of the time.
const windowsAhead = 64

// windows reads the rows of all jobs, aligns and merges them, and passes the windows to put. The windows of averages
// come last. The counts of all jobs are complete when it returns.
func (r *runReader) windows(ctx context.Context, put func(*window.Window) error) error {
	m, err := r.newWindowMaker(ctx)
	if err != nil {
		return err
	}
	streams, opt, n := r.streams(), r.alignment(), windowsAhead
	if r.isLive { // put may use the counts of jobs
		n = 0
	}
	err = ahead.Push(ctx, n, func(ctx context.Context, give func(*align.Window) error) error {
		// No worker reads rows while a window is passed on, so the counts of jobs can be read here.
		take := func(w *align.Window) error {
			m.clip(w)
			r.read.Unsure.Add(w.Start, (w.Unsure[0]+w.Unsure[1])/float64(max(w.Completed, 1)))
			if w.Key.Level == opt.Levels[0] { // the whole run is their sum
				r.read.Windowed[w.Key.Direction].Merge(w.Latencies)
			}
			return give(w)
		}
		end := func() error { return nil }
		if precision := r.opt.Precision; precision.Quantile > 0 {
			precision.Longest = longest * r.plan.Window
			joined := align.NewJoiner(precision, take)
			take, end = joined.Add, joined.End
		}
		stats, err := align.Merge(ctx, streams, opt, take)
		if r.read.Late = stats.Late; err != nil {
			return err
		}
		return end()
	}, func(w *align.Window) error { return put(m.of(w)) })
	if err != nil || len(r.plan.Averages) == 0 {
		return err
	}
	all, err := r.averages(ctx, r.plan.Averages)
	if err != nil {
		return err
	}
	var totals [fiolog.Directions]averagedTotals
	for _, k := range slices.SortedFunc(maps.Keys(all), averageKey.compare) {
		if w := m.ofAverage(k, all[k]); w != nil {
			if k.Level == opt.Levels[0] {
				totals[k.Direction].add(w)
			}
			if err := put(w); err != nil {
				return err
			}
		}
	}
	for d := range totals {
		r.read.Averaged[d] = totals[d].totals()
	}
	return nil
}

// newWindowMaker returns what makes windows, with the sizes of requests. Histogram logs do not have bytes per second: the block
// size in a row is the size of one request. If fio's report shows that all requests have one size, requests times size is
// exact. Otherwise bytes come from bw logs, if there are any.
func (r *runReader) newWindowMaker(ctx context.Context) (m *windowMaker, err error) {
	p, info := r.plan, r.info // windows outlive the reader
	m = &windowMaker{
		read: r.read, keys: r.keys, confidence: r.opt.Confidence, run: &info, made: &r.made, limits: map[align.Key]mapping.FioLatency{},
	}
	isMixed := false
	for d := range fiolog.Directions {
		var isKnown bool
		m.size[d], isKnown = p.RequestSize(fiolog.Direction(d), r.isLive)
		isMixed = isMixed || !isKnown
	}
	logs := slices.DeleteFunc(slices.Clone(p.Run.Others), func(l assign.Log) bool { return l.Kind != fiolog.BW || l.Stored })
	if isMixed && len(logs) > 0 && len(p.Averages) == 0 {
		m.rates, err = r.averages(ctx, logs)
	}
	return m, err
}

// averages reads logs of averages.
func (r *runReader) averages(ctx context.Context, logs []assign.Log) (averages, error) {
	in := averageReader{r.read, r.keys, levelsOf(r.opt.Levels), r.input.openLog, r.problems}
	return in.all(ctx, logs)
}

// alignment returns how rows become windows.
func (r *runReader) alignment() align.Options {
	shortest := r.plan.Window // of rows
	for _, j := range r.plan.Jobs {
		if j.Interval > 0 {
			shortest = min(shortest, j.Interval)
		}
	}
	tolerance := int64(r.opt.tolerance() * float64(shortest))
	if r.opt.Tolerance == 0 { // fio's rows end up to about 30 ms late, also short ones
		const late = 40
		tolerance = max(tolerance, min(late, shortest/4))
	}
	return align.Options{
		Window: r.plan.Window, Tolerance: tolerance, Weighting: r.opt.Weighting, SpreadAll: r.opt.SpreadAll,
		Levels: levelsOf(r.opt.Levels), Workers: r.opt.Workers, Live: r.isLive, Coarseness: r.opt.Coarseness, Bounds: r.plan.IsEstimate(),
	}
}

// streams returns the rows of all jobs, the tails of entries with several jobs, and syncs.
func (r *runReader) streams() (streams []*align.Stream) {
	reports := map[*assign.Output]*reportFile{}
	for _, j := range r.plan.Jobs {
		in := r.rows(j, r.open(j, reports), r.read.Counts[j])
		streams = append(streams, &align.Stream{Host: j.Host, Job: j.Name(), Section: r.keys.byJob[j].Section, Next: in.next})
	}
	for _, f := range r.reports {
		f.follows = len(r.reports) == 1 && !slices.ContainsFunc(r.plan.Jobs, (*plan.Job).ReadsLog)
	}
	for _, e := range r.plan.Entries {
		if e.ReadsLogs() && len(e.Jobs) > 1 {
			streams = append(streams, r.tail(e))
		}
	}
	return append(streams, r.syncs()...)
}

// rows returns the rows of a job. source may be nil.
func (r *runReader) rows(j *plan.Job, source rowSource, counts *account.Counts) *jobRows {
	if source != nil {
		r.sources = append(r.sources, source)
	}
	return &jobRows{job: j, source: source, counts: counts, read: r.read, levels: len(r.opt.Levels), problems: r.problems}
}

// open opens the source of a job's rows, or returns nil if it has none. reports are the files that were opened before.
func (r *runReader) open(j *plan.Job, reports map[*assign.Output]*reportFile) rowSource {
	counts := r.read.Counts[j]
	switch j.Source {
	case assign.FromHist:
		return newHistogramRows(j, r.log(j.Log), counts)
	case assign.FromRaw:
		return newCompletionRows(j, r.log(j.Log), counts, r.plan, r.opt)
	case assign.FromReports:
		out := j.Entry.Out
		if reports[out] == nil {
			reports[out] = &reportFile{out: out, live: r.input.live, asLive: r.plan.Run.OnlyReports, offsets: r.opt.Offsets, later: laterIn(r.input.all, r.plan.Stage, out)}
			r.reports = append(r.reports, reports[out])
		}
		return reports[out].add(j, fiolog.Read, counts)
	}
	return nil
}

// log returns the log that was opened for the plan, at its first rows, or opens it again.
func (r *runReader) log(log *assign.JobLog) *logFile {
	l := r.input.logs[log]
	if delete(r.input.logs, log); l == nil {
		l = r.input.openLog(log)
	}
	return l
}

// laterIn returns the places of the jobs of later stages in the reports of a fio.
func laterIn(all []*plan.Plan, stage int, out *assign.Output) (places []int) {
	for _, p := range all {
		for _, e := range p.Entries {
			if p.Stage > stage && e.Out == out {
				places = append(places, e.Index)
			}
		}
	}
	return places
}

// tail returns what fio did not log of several jobs with one entry (group_reporting). Their rows are read before.
func (r *runReader) tail(e *assign.Entry) *align.Stream {
	first, rows, isRead := r.plan.JobsOf[e][0], []align.Row(nil), false
	return &align.Stream{Host: first.Host, Section: r.keys.byJob[first].Section, Last: true, Next: func() (row align.Row, ok bool) {
		if !isRead {
			rows, isRead = r.read.Entry(e).Tail, true
		}
		if len(rows) == 0 {
			return row, false
		}
		row, rows = rows[0], rows[1:]
		row.Start += first.Offset + r.plan.Shift
		row.End += first.Offset + r.plan.Shift
		return row, true
	}}
}

// syncs returns the syncs of jobs whose other rows are those of logs, if periodic reports have them.
func (r *runReader) syncs() (streams []*align.Stream) {
	files := map[*assign.Output]*reportFile{}
	for _, e := range r.plan.Entries {
		if !e.HasPeriodic() || !e.ReadsLogs() {
			continue
		}
		for _, part := range e.Parts() {
			if part.Sync.TotalIOs == 0 {
				continue
			}
			if files[e.Out] == nil {
				files[e.Out] = &reportFile{out: e.Out, offsets: r.opt.Offsets}
			}
			first := r.plan.JobsOf[e][0]
			of, counts := *first, &account.Counts{}
			of.Entry, of.Source, of.Interval = part, assign.FromReports, e.Out.Spacing()
			in := r.rows(&of, files[e.Out].add(&of, fiolog.Sync, counts), counts)
			one := &align.Stream{Host: of.Host, Section: r.keys.byJob[first].Section, Next: r.besideLogs(in, e.Out.Times)}
			if len(e.Jobs) == 1 { // else nothing shows which job they are of
				one.Job = of.Name()
			}
			streams = append(streams, one)
		}
	}
	return streams
}

// besideLogs returns a function for the rows of periodic reports, which were written at some times. Each row is of one window.
// Windows follow the rows of logs, and reports come at other moments: a report counts in the window that ends next to it,
// which has the times of the report.
func (r *runReader) besideLogs(in *jobRows, times []int64) func() (align.Row, bool) {
	j := in.job
	usual := times[len(times)/2] + r.opt.Offsets[j.Host].Milliseconds() - j.Start.UnixMilli() + j.Offset + r.plan.Shift
	length := min(j.Interval, r.plan.Window)
	back := plan.Modulo(usual+length/2, length) // to the middle of the time that it counts in
	return func() (align.Row, bool) {
		row, ok := in.next()
		row.Whole, row.At = true, max(row.End-back, 1)
		return row, ok
	}
}
