package pipeline

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// longest is the largest number of windows that are joined to one.
const longest = 60

// reading reads the rows of a plan into windows, and counts what it reads.
type reading struct {
	*plan
	problems *Problems
	tallies  map[*job]*tally
	windowed [fiolog.Directions]hist.Histogram // sum of all windows of the highest level
	stats    align.Stats
	made     mapping.Documents
	totals   bool // no job has rows: the run has totals, and no windows
	live     bool // fio still writes the reports
	follows  bool // all rows are of the periodic reports of one fio, so that windows follow these
}

func newReading(p *plan, problems *Problems) *reading {
	r := &reading{plan: p, problems: problems, tallies: make(map[*job]*tally, len(p.jobs)), totals: true}
	outputs := map[*output]bool{}
	for _, j := range p.jobs {
		if j.source == fromReports {
			outputs[j.entry.out] = true
		}
		r.totals = r.totals && !j.hasRows
		r.live = r.live || j.reports != nil && j.reports.tailing != nil
		r.tallies[j] = &tally{interval: j.interval, split: align.NewSplitter(j.interval)}
		split := r.tallies[j].split
		split.Exact = j.exact && j.lag == 0
		split.Stages = j.log.Job == 0 && j.entry != nil && j.entry.several
		for d, times := range j.firstTimes() {
			split.Begin(fiolog.Direction(d), times)
		}
	}
	r.follows = len(outputs) == 1 && !slices.ContainsFunc(p.jobs, (*job).readsLog)
	return r
}

// of is an entry with what was read of it so far.
func (r *reading) of(e *entry) covered {
	c := covered{entry: e}
	for _, j := range e.jobs {
		c.tallies = append(c.tallies, r.tallies[j])
	}
	return c
}

// tail returns the rows of an entry that fio did not log. The caller must have read all rows of its logs.
func (r *reading) tail(e *entry) []align.Row { return tail{r.of(e), r.totals, r.problems}.rows() }

// windows aligns and merges the rows of all jobs. The tallies are complete when they end.
func (r *reading) windows(ctx context.Context) iter.Seq2[*align.Window, error] {
	return func(yield func(*align.Window, error) bool) {
		var streams []*align.Stream
		shortest := r.window
		for _, j := range r.jobs {
			next, stop := iter.Pull(r.rows(j))
			defer stop()
			streams = append(streams, &align.Stream{Host: j.host, Job: j.name(), Next: next})
			if j.interval > 0 {
				shortest = min(shortest, j.interval)
			}
		}
		for _, e := range r.entries {
			if e.readsLogs() && len(e.jobs) > 1 {
				streams = append(streams, r.groupTail(e))
			}
		}
		windows := align.Merge(ctx, streams, align.Options{
			Window:    r.window,
			Tolerance: r.opt.toleranceOf(shortest),
			Weighting: r.opt.Weighting,
			SpreadAll: r.opt.SpreadAll,
			Levels:    r.opt.levels(),
			Workers:   r.opt.workers(),
			Eager:     r.live,

			Contiguous: r.live,
		}, &r.stats)
		if precision := r.opt.Precision; precision.Quantile > 0 {
			precision.Longest = longest * r.window
			windows = align.Join(windows, precision)
		}
		for w, err := range windows {
			if err == nil {
				r.clip(w)
				if w.Key.Level == r.opt.levels()[0] { // the whole run is their sum
					r.windowed[w.Key.Direction].Merge(w.Latencies)
				}
			}
			if !yield(w, err) {
				return
			}
		}
	}
}

// rows iterates over the rows of a job in the time of the windows and counts them: the rows
// of its source and, if the job alone has a part in it, the tail that fio did not log.
func (r *reading) rows(j *job) iter.Seq[align.Row] {
	of := r.tallies[j]
	var rows iter.Seq2[align.Row, error]
	switch j.source {
	case fromHist:
		rows = histRows(j, j.file, of.split)
	case fromRaw:
		of.raw = newRawFill(r.plan, j)
		rows = rawRows(j, j.file, of.raw)
	case fromReports:
		of.reports = j.reports
		rows = j.reports.rows()
	default:
		r.countMissing(j)
		return func(func(align.Row) bool) {}
	}
	budget := r.budget()
	return func(yield func(align.Row) bool) {
		defer func() { of.ended = true }()
		for row, err := range rows {
			if err != nil {
				r.problems.skip(err)
				of.damage(err)
				continue
			}
			if budget.Spend(priceOfBin*r.windowsOf(&row)) != nil {
				return // and the reading ends
			}
			row.Whole = j.source == fromReports && (r.follows || j.reports.isLate(&row))
			if row.Total > 0 {
				of.add(&row, len(r.entries) > 0)
				if j.source != fromHist {
					of.split.Pass(row.End, row.Direction)
				}
			}
			if !yield(r.shifted(j, row)) {
				return
			}
		}
		if j.entry == nil || len(j.entry.jobs) > 1 || !j.readsLog() {
			return
		}
		for _, row := range r.tail(j.entry) {
			if !yield(r.shifted(j, row)) {
				return
			}
		}
	}
}

// windowsOf returns to how many windows the bins of a row are added, if that is many: requests in flight are in each
// window of their time.
func (r *reading) windowsOf(row *align.Row) (n int64) {
	if len(row.Bins) == 0 || r.window <= 0 {
		return 0
	}
	for i := len(row.Bins) - 1; i >= 0; i-- {
		low, _ := row.Layout.Bounds(int(row.Bins[i].Index))
		low = min(low, 600e9) // align looks no further back
		if low < r.window*1e6 {
			break
		}
		n += low / (r.window * 1e6)
	}
	return n
}

func (r *reading) shifted(j *job, row align.Row) align.Row {
	row.Start += j.offset + r.shift
	row.End += j.offset + r.shift
	return row
}

// countMissing counts the requests of a job without rows: they are in no window.
func (r *reading) countMissing(j *job) {
	e := j.entry
	if e == nil || len(r.averages) > 0 || j != e.jobs[0] || e.readsLogs() {
		return
	}
	isMissing := func(s *fiolog.DirectionStats) bool { return !r.totals || e.wantsRows() || len(s.Clat.Bins) == 0 }
	for d := range fiolog.Direction(fiolog.Directions) {
		s := &e.Directions[d]
		if isMissing(s) {
			r.of(e).miss(d, e.measured(s))
		}
		of := r.of(e)
		if _, ok := e.failed(s); !ok && of.unbinned(d) > 0 || of.isTornReport(d) {
			r.problems.skip(e.miscounted(s, of.isTornReport(d)))
		}
	}
	if e.mixed && isMissing(e.Mixed) {
		r.of(e).miss(fiolog.Read, int64(e.Mixed.TotalIOs))
	}
}

// groupTail is the stream of the requests that fio did not log for a group of jobs together
// (group_reporting).
func (r *reading) groupTail(e *entry) *align.Stream {
	rows, next := sync.OnceValue(func() []align.Row { return r.tail(e) }), 0
	return &align.Stream{Host: e.jobs[0].host, Last: true, Next: func() (align.Row, bool) {
		if next == len(rows()) {
			return align.Row{}, false
		}
		next++
		return r.shifted(e.jobs[0], rows()[next-1]), true
	}}
}

// clip cuts a window to the time in which its jobs ran, because rates are per second of that time.
func (r *reading) clip(w *align.Window) {
	start, end, ok, isOver := int64(0), int64(0), false, true
	for _, j := range r.jobs {
		if !covers(w.Key, j) || !r.live && !j.serves(w.Key.Direction) {
			continue
		}
		of := r.tallies[j]
		several := j.entry != nil && j.entry.several
		if !of.ended && (r.live || several) {
			return // the job may still run, and later rows may show when it began
		}
		from, ran := j.offset, of.end()
		if !r.live {
			ran = max(ran, j.ran)
		}
		if several { // each direction has its own time
			from, ran = j.offset+of.directions[w.Key.Direction].start, of.directions[w.Key.Direction].end
		}
		if !ok || from < start {
			start = from
		}
		end, ok = max(end, j.offset+ran), true
		isOver = isOver && (of.ended || j.ran > 0)
	}
	if start, end = start+r.shift, end+r.shift; !ok || w.End <= start {
		return
	}
	w.Start, w.From = max(w.Start, start), start
	if isOver && w.Start < end {
		w.End, w.To = min(w.End, end), end
	}
}

// covers reports whether a window has requests of a job, by its level.
func covers(key align.Key, j *job) bool {
	switch key.Level {
	case mapping.Cluster:
		return true
	case mapping.Host:
		return key.Host == j.host
	}
	return key.Host == j.host && key.Job == j.name()
}

// unlogged returns how many of the requests that fio did not log are in windows, and how many of each direction are in
// none.
func (r *reading) unlogged() (recovered int64, missing [fiolog.Directions]int64) {
	for _, t := range r.tallies {
		for d := range t.directions {
			recovered += t.directions[d].recovered
			missing[d] += t.directions[d].missing
		}
	}
	return recovered, missing
}
