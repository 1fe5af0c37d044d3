package pipeline

import (
	"context"
	"maps"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/ahead"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// runReader reads the rows of a plan into windows, and counts what it reads.
type runReader struct {
	*input
	info     mapping.RunInfo // as documents have it
	source   mapping.Source  // of the run document
	problems *problems

	rows      map[*plan.Job]*jobRows
	syncs     []*jobRows           // of jobs whose other rows are those of logs
	sectionOf map[*plan.Job]string // names of their sections; nil if the stage has one
	fioNames  map[align.Key]string // of their jobs in fio's report, by their keys at level Job
	read      *account.Read
	made      mapping.Documents
	isLive    bool // fio still writes the reports
	follows   bool // all rows are of the periodic reports of one fio, so that windows follow these

	limits map[align.Key]mapping.FioLatency // fastest and slowest requests of series: see extremes

	size  [fiolog.WithSync]float64 // of every request in bytes; 0 if sizes differ or are unknown
	rates averages                 // of bandwidth; nil if not needed
	cbt   mapping.CBT              // of the run
	ofRun *mapping.Run             // see [runReader.known]
}

func newRunReader(p *input, said *problems) *runReader {
	r := &runReader{
		input: p, info: p.reference(), problems: said, rows: make(map[*plan.Job]*jobRows, len(p.Jobs)),
		fioNames: map[align.Key]string{}, limits: map[align.Key]mapping.FioLatency{},
		cbt: p.Settings(),
		read: &account.Read{
			Plan: p.Plan, Counts: make(map[*plan.Job]*account.Counts, len(p.Jobs)), Live: p.live != nil,
			Coarseness: p.opt.Coarseness, ByJob: p.opt.Align == AlignJob, Alone: p.opt.Alone,
		},
	}
	reports := map[*plan.Output]*reportFile{}
	for _, j := range p.Jobs {
		in := &jobRows{runReader: r, job: j, counts: &account.Counts{}, undo: plan.Undoubler{Lag: j.Lag}, split: align.NewSplitter(j.Interval)}
		r.rows[j], r.read.Counts[j] = in, in.counts
		if j.Source == plan.FromReports {
			r.isLive = p.live != nil
			out := j.Entry.Out
			if reports[out] == nil {
				reports[out] = &reportFile{run: r, out: out, later: p.laterIn(out)}
			}
			in.reports = &reportJob{reportFile: reports[out], job: j, counts: in.counts}
			reports[out].jobs = append(reports[out].jobs, in.reports)
		}
		in.split.Exact = j.Exact && j.Lag == 0
		in.split.Stages = j.Log.Job == 0 && j.Entry != nil && j.Entry.Several
		for d, times := range j.FirstTimes() {
			in.split.Begin(fiolog.Direction(d), times)
		}
	}
	if p.HasSections() {
		r.sectionOf = map[*plan.Job]string{}
		for _, s := range p.Sections {
			for _, j := range s.Jobs {
				r.sectionOf[j] = s.Name
				r.fioNames[r.keyOf(j, 0).At(align.Job)] = j.Section()
			}
		}
	}
	r.follows = len(reports) == 1 && !slices.ContainsFunc(p.Jobs, (*plan.Job).ReadsLog)
	return r
}

// laterIn returns the places of the jobs of later stages in the reports of a fio.
func (in *input) laterIn(out *plan.Output) (places []int) {
	for _, stage := range in.all {
		for _, e := range stage.Entries {
			if stage.Stage > in.Stage && e.Out == out {
				places = append(places, e.Index)
			}
		}
	}
	return places
}

// close closes the reports and logs of the run, also those that were not read to their end. To read the run again opens
// them again.
func (r *runReader) close() {
	for _, in := range slices.Concat(slices.Collect(maps.Values(r.rows)), r.syncs) {
		if in.reports != nil {
			in.reports.close()
		}
		if in.log != nil {
			in.log.close()
			delete(r.logs, in.job.Log)
		}
	}
}

// longest is the largest number of windows that are joined to one.
const longest = 60

// windowsAhead is how many windows may wait for their percentiles while rows are read. Each takes about 20 KB. With two
// processors this saves a fifth of the time.
const windowsAhead = 64

// windows reads the rows of all jobs, aligns and merges them, and passes the windows to put. The windows of averages
// come last. The counts of all jobs are complete when it returns.
func (r *runReader) windows(ctx context.Context, put func(*window.Window) error) error {
	// Histogram logs do not have bytes per second: the block size in a row is the size of one request. If fio's report shows
	// that all requests have one size, requests times size is exact. Otherwise they come from bw logs, if there are any.
	mixed := false
	for d := range fiolog.Directions {
		var isKnown bool
		r.size[d], isKnown = r.RequestSize(fiolog.Direction(d), r.isLive)
		mixed = mixed || !isKnown
	}
	logs := slices.DeleteFunc(slices.Clone(r.Run.Others), func(l cbt.Log) bool { return l.Kind != fiolog.BW || l.Stored })
	if mixed && len(logs) > 0 && len(r.Averages) == 0 {
		var err error
		if r.rates, err = r.readAverages(ctx, logs); err != nil {
			return err
		}
	}
	var streams []*align.Stream
	shortest := r.Window // of rows
	for _, j := range r.Jobs {
		in := r.rows[j]
		if j.ReadsLog() {
			if in.log = r.logs[j.Log]; in.log == nil {
				in.log = r.openLog(j.Log)
				r.logs[j.Log] = in.log
			}
		}
		if j.Source == plan.FromRaw {
			in.raw = &rawFill{current: -1}
			for d := range in.raw.bins {
				in.raw.bins[d] = *hist.New(j.Layout)
			}
		}
		streams = append(streams, &align.Stream{Host: j.Host, Job: j.Name(), Section: r.sectionOf[j], Next: in.next})
		if j.Interval > 0 {
			shortest = min(shortest, j.Interval)
		}
	}
	for _, e := range r.Entries {
		if e.ReadsLogs() && len(e.Jobs) > 1 { // the tail of jobs with group_reporting, whose rows must be read before
			var tail []align.Row
			first, isRead := e.Jobs[0], false
			streams = append(streams, &align.Stream{Host: first.Host, Section: r.sectionOf[first], Last: true, Next: func() (row align.Row, ok bool) {
				if !isRead {
					tail, isRead = r.read.Entry(e).Tail, true
				}
				if len(tail) == 0 {
					return row, false
				}
				row, tail = tail[0], tail[1:]
				row.Start += first.Offset + r.Shift
				row.End += first.Offset + r.Shift
				return row, true
			}})
		}
	}
	streams = append(streams, r.syncStreams()...)
	tolerance := int64(r.opt.tolerance() * float64(shortest))
	if r.opt.Tolerance == 0 { // fio's rows end up to about 30 ms late, also short ones
		const late = 40
		tolerance = max(tolerance, min(late, shortest/4))
	}
	opt := align.Options{
		Window: r.Window, Tolerance: tolerance, Weighting: r.opt.Weighting, SpreadAll: r.opt.SpreadAll,
		Levels: levelsOf(r.opt.Levels), Workers: r.opt.Workers, Live: r.isLive, Coarseness: r.opt.Coarseness,
	}
	n := windowsAhead
	if r.isLive { // put may use the counts of jobs
		n = 0
	}
	var last [fiolog.WithSync]struct { // windows of several levels share the latencies if they have the same requests
		of     *hist.Histogram
		made   mapping.Latency
		bounds *mapping.Bounds
	}
	info := r.info // windows outlive the reader
	var stats align.Stats
	err := ahead.Push(ctx, n, func(ctx context.Context, give func(*align.Window) error) (err error) {
		// No worker reads rows while a window is passed on, so the counts of jobs can be read here.
		take := func(w *align.Window) error {
			r.clip(w)
			const few = 0.05
			if share := (w.Unsure[0] + w.Unsure[1]) / float64(max(w.Completed, 1)); share > few {
				u := &r.read.Unsure
				if u.Windows == 0 {
					u.First = w.Start
				}
				if u.Windows == 0 || w.Start > u.Last {
					u.Windows, u.Last = u.Windows+1, w.Start
				}
				u.Share = max(u.Share, share)
			}
			if w.Key.Level == opt.Levels[0] { // the whole run is their sum
				r.read.Windowed[w.Key.Direction].Merge(w.Latencies)
			}
			return give(w)
		}
		if precision := r.opt.Precision; precision.Quantile > 0 {
			precision.Longest = longest * r.Window
			joined := align.NewJoiner(precision, take)
			if stats, err = align.Merge(ctx, streams, opt, joined.Add); err == nil {
				err = joined.End()
			}
			return err
		}
		stats, err = align.Merge(ctx, streams, opt, take)
		return err
	}, func(from *align.Window) error {
		w := r.newWindow(&info, from.Key, from.Start-r.Shift, from.End-r.Shift, from.Elapsed-r.Shift)
		w.FromMS, w.ToMS = max(from.From-r.Shift, 0), max(from.To-r.Shift, 0)
		l := &last[from.Key.Direction]
		if l.of != from.Latencies {
			l.of, l.made = from.Latencies, mapping.Figures(from.Latencies)
			l.bounds = mapping.NewBounds(from.Latencies, r.opt.Confidence)
		}
		w.Bounds = l.bounds
		w.Latency, w.Counts, w.Layout = l.made, from.Counts, from.Latencies.Layout()
		w.Fastest, w.Slowest = r.extremes(from.Key)
		w.Limit()
		w.Completed, w.Weight = from.Completed, account.Rounded(from.Latencies.Total(), 1e6)
		ms := w.EndMS() - w.StartMS()
		if r.hasLength(from.Key) && from.Key.Direction != fiolog.Sync {
			w.IOPS = account.Rounded(account.PerSecond(float64(w.Completed), ms), 1e3)
		}
		w.Bandwidth = r.bandwidth(from, w.IOPS, ms)
		return put(w)
	})
	if r.read.Late = stats.Late; err != nil || len(r.Averages) == 0 {
		return err
	}
	var totals [fiolog.Directions]averagedTotals
	averages, err := r.readAverages(ctx, r.Averages)
	if err != nil {
		return err
	}
	for _, k := range slices.SortedFunc(maps.Keys(averages), averageKey.compare) {
		if w := r.windowOfAverage(&info, k, averages[k]); w != nil {
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

// newWindow returns a window without requests, and counts it. Times are milliseconds since the run's start.
func (r *runReader) newWindow(run *mapping.RunInfo, key align.Key, start, end, elapsed int64) *window.Window {
	level := mapping.Level(key.Level)
	r.made.Add(level, 1)
	w := &window.Window{
		Run: run, Level: level, Host: key.Host, Job: key.Job, Section: key.Section, Direction: key.Direction.String(),
		Start: r.At(max(start, 0)), End: r.At(max(end, 0)), ElapsedMS: max(elapsed, 0),
	}
	if key.Direction = 0; level == mapping.Job {
		w.Section = r.fioNames[key]
	}
	return w
}

// levelsOf returns the levels of documents as those of windows. Their numbers are the same.
func levelsOf(levels []mapping.Level) (list []align.Level) {
	for _, l := range levels {
		list = append(list, align.Level(l))
	}
	return list
}

// keyOf returns the key of a job's requests in a direction, for [align.Key.At].
func (r *runReader) keyOf(j *plan.Job, d fiolog.Direction) align.Key {
	return align.Key{Host: j.Host, Job: j.Name(), Section: r.sectionOf[j], Direction: d}
}

// hasLength reports whether it is known how long a job of a key took.
func (r *runReader) hasLength(key align.Key) bool {
	return slices.ContainsFunc(r.Jobs, func(j *plan.Job) bool { return j.HasLength() && r.keyOf(j, key.Direction).At(key.Level) == key })
}

// clip cuts a window to the time in which its jobs ran, because rates are per second of that time.
func (r *runReader) clip(w *align.Window) {
	start, end, ok, isOver := int64(0), int64(0), false, true
	for _, j := range r.Jobs {
		of := r.read.Counts[j]
		key := w.Key
		if r.keyOf(j, key.Direction).At(key.Level) != key || !r.isLive && (!j.Serves(key.Direction) || r.read.ServesOther(j, key.Direction)) {
			continue
		}
		several := j.Entry != nil && j.Entry.Several && w.Key.Direction != fiolog.Sync
		if !of.Ended && (r.isLive || several) {
			return // the job may still run, and later rows may show when it began
		}
		from, ran := j.Offset, of.End()
		if !r.isLive && j.Entry != nil {
			ran = max(ran, min(j.Ran, r.read.ServedFor(j, w.Key.Direction)))
		}
		if several { // each direction has its own time
			from, ran = j.Offset+of.Directions[w.Key.Direction].Start, of.Directions[w.Key.Direction].End
		}
		if !ok || from < start {
			start = from
		}
		end, ok = max(end, j.Offset+ran), true
		isOver = isOver && (of.Ended || j.Ran > 0)
	}
	if start, end = start+r.Shift, end+r.Shift; !ok || w.End <= start {
		return
	}
	w.Start, w.From = max(w.Start, start), start
	if isOver && w.Start < end {
		w.End, w.To = min(w.End, end), end
	}
}

// extremes returns the fastest and the slowest request of a series in microseconds, if the reports of all its jobs have these, and
// else 0.
func (r *runReader) extremes(key align.Key) (fastest, slowest float64) {
	if known, isThere := r.limits[key]; isThere {
		return known.Min, known.Max
	}
	var reported []*fiolog.DirectionStats
	isAll := true
	for _, j := range r.Jobs {
		if r.keyOf(j, key.Direction).At(key.Level) != key || !j.Serves(key.Direction) {
			continue
		}
		if isAll = isAll && j.Entry != nil; !isAll {
			break
		}
		report := j.Entry.Job
		if r.isLive {
			report = r.read.Report(j.Entry)
		}
		if stats := report.Of(key.Direction); report.Mixed != nil && key.Direction != fiolog.Sync {
			reported = append(reported, report.Mixed)
		} else if stats.TotalIOs > 0 || stats.Uncounted {
			reported = append(reported, stats)
		}
	}
	var known mapping.FioLatency
	if fio := account.FioLatency(reported); fio != nil && isAll {
		known = mapping.FioLatency{Min: max(fio.Min-fio.Step/2, 0), Max: account.Rounded(fio.Max+fio.Step/2, 1000)}
	}
	if !r.isLive { // else newer reports follow
		r.limits[key] = known
	}
	return known.Min, known.Max
}

// bandwidth returns the bytes per second of a window with iops requests per second over ms milliseconds. It returns 0
// if they are unknown.
func (r *runReader) bandwidth(w *align.Window, iops float64, ms int64) float64 {
	if size := r.size[w.Key.Direction]; size > 0 {
		return account.Rounded(iops*size, 1)
	}
	sum, length := 0.0, r.Window // length is that of windows before they are joined
	for at := w.Elapsed / length; at < (w.Elapsed+w.Length)/length; at++ {
		if s := r.rates[averageKey{at, w.Key}]; s != nil {
			if s.bandwidth.isPartial {
				return 0
			}
			sum += s.bandwidth.sum
		}
	}
	through := w.Length
	if ms < w.Length-w.Length/20 { // the window was clipped; rows that end early make it a few milliseconds shorter
		through = max(ms, 1)
	}
	return account.Rounded(sum/float64(through), 1)
}
