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
	"github.com/fio2es/fio2es/pipeline/plan"
)

// longest is the largest number of windows that are joined to one.
const longest = 60

// reading reads the rows of a plan into windows, and counts what it reads.
type reading struct {
	*input
	problems *Problems
	tallies  map[*plan.Job]*tally
	windowed [fiolog.Directions]hist.Histogram // sum of all windows of the highest level
	stats    align.Stats
	made     mapping.Documents
	totals   bool // no job has rows: the run has totals, and no windows
	live     bool // fio still writes the reports
	follows  bool // all rows are of the periodic reports of one fio, so that windows follow these
	unsure   unsure
}

// unsure are the windows of which some requests may belong to the windows beside them: see [align.Window].
type unsure struct {
	windows     int     // at different times
	first, last int64   // their starts, in milliseconds since the start of the run
	share       float64 // of the requests of a window, the largest
}

func (u *unsure) add(w *align.Window) {
	const few = 0.05
	share := (w.Unsure[0] + w.Unsure[1]) / float64(max(w.Completed, 1))
	if share <= few {
		return
	}
	if u.windows == 0 {
		u.first = w.Start
	}
	if u.windows == 0 || w.Start > u.last {
		u.windows, u.last = u.windows+1, w.Start
	}
	u.share = max(u.share, share)
}

func newReading(p *input, problems *Problems) *reading {
	r := &reading{input: p, problems: problems, tallies: make(map[*plan.Job]*tally, len(p.Jobs)), totals: true}
	reports := map[*plan.Output]*reportFile{}
	for _, j := range p.Jobs {
		if j.Source == plan.FromReports {
			r.live = p.tailing != nil
		}
		r.totals = r.totals && !j.HasRows
		r.tallies[j] = &tally{interval: j.Interval, split: align.NewSplitter(j.Interval)}
		if j.Source == plan.FromReports {
			out := j.Entry.Out
			if reports[out] == nil {
				reports[out] = &reportFile{out: out, tailing: p.tailing, offsets: p.opt.Offsets}
			}
			r.tallies[j].reports = reports[out].add(j)
		}
		split := r.tallies[j].split
		split.Exact = j.Exact && j.Lag == 0
		split.Stages = j.Log.Job == 0 && j.Entry != nil && j.Entry.Several
		for d, times := range j.FirstTimes() {
			split.Begin(fiolog.Direction(d), times)
		}
	}
	r.follows = len(reports) == 1 && !slices.ContainsFunc(p.Jobs, (*plan.Job).ReadsLog)
	return r
}

// close closes the files of the run, also those that were not read to their end.
func (r *reading) close() {
	r.files.close(nil)
	for _, t := range r.tallies {
		if t.reports != nil {
			t.reports.abort()
		}
	}
}

// of is an entry with what was read of it so far.
func (r *reading) of(e *plan.Entry) covered {
	c := covered{Entry: e}
	for _, j := range e.Jobs {
		c.tallies = append(c.tallies, r.tallies[j])
	}
	return c
}

// tail returns the rows of an entry that fio did not log. The caller must have read all rows of its logs.
func (r *reading) tail(e *plan.Entry) []align.Row { return tail{r.of(e), r.totals, r.problems}.rows() }

// windows aligns and merges the rows of all jobs. The tallies are complete when they end.
func (r *reading) windows(ctx context.Context) iter.Seq2[*align.Window, error] {
	return func(yield func(*align.Window, error) bool) {
		var streams []*align.Stream
		shortest := r.Window
		for _, j := range r.Jobs {
			next, stop := iter.Pull(r.rows(j))
			defer stop()
			streams = append(streams, &align.Stream{Host: j.Host, Job: j.Name(), Next: next})
			if j.Interval > 0 {
				shortest = min(shortest, j.Interval)
			}
		}
		for _, e := range r.Entries {
			if e.ReadsLogs() && len(e.Jobs) > 1 {
				streams = append(streams, r.groupTail(e))
			}
		}
		windows := align.Merge(ctx, streams, align.Options{
			Window:    r.Window,
			Tolerance: r.opt.toleranceOf(shortest),
			Weighting: r.opt.Weighting,
			SpreadAll: r.opt.SpreadAll,
			Levels:    r.opt.levels(),
			Workers:   r.opt.workers(),
			Eager:     r.live,

			Contiguous: r.live,
		}, &r.stats)
		if precision := r.opt.Precision; precision.Quantile > 0 {
			precision.Longest = longest * r.Window
			windows = align.Join(windows, precision)
		}
		for w, err := range windows {
			if err == nil {
				r.clip(w)
				r.unsure.add(w)
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
func (r *reading) rows(j *plan.Job) iter.Seq[align.Row] {
	of := r.tallies[j]
	var rows iter.Seq2[align.Row, error]
	switch j.Source {
	case plan.FromHist:
		rows = histRows(j, r.files.of(j), of.split)
	case plan.FromRaw:
		of.raw = newRawFill(r.input, j)
		rows = rawRows(j, r.files.of(j), of.raw)
	case plan.FromReports:
		rows = of.reports.rows()
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
			row.Whole = j.Source == plan.FromReports && (r.follows || of.reports.isLate(&row))
			if row.Total > 0 {
				of.add(&row, len(r.Entries) > 0)
				if j.Source != plan.FromHist {
					of.split.Pass(row.End, row.Direction)
				}
			}
			if !yield(r.shifted(j, row)) {
				return
			}
		}
		if j.Entry == nil || len(j.Entry.Jobs) > 1 || !j.ReadsLog() {
			return
		}
		for _, row := range r.tail(j.Entry) {
			if !yield(r.shifted(j, row)) {
				return
			}
		}
	}
}

// windowsOf returns to how many windows the bins of a row are added, if that is many: requests in flight are in each
// window of their time.
func (r *reading) windowsOf(row *align.Row) (n int64) {
	if len(row.Bins) == 0 || r.Window <= 0 {
		return 0
	}
	for i := len(row.Bins) - 1; i >= 0; i-- {
		low, _ := row.Layout.Bounds(int(row.Bins[i].Index))
		low = min(low, 600e9) // align looks no further back
		if low < r.Window*1e6 {
			break
		}
		n += low / (r.Window * 1e6)
	}
	return n
}

func (r *reading) shifted(j *plan.Job, row align.Row) align.Row {
	row.Start += j.Offset + r.Shift
	row.End += j.Offset + r.Shift
	return row
}

// countMissing counts the requests of a job without rows: they are in no window.
func (r *reading) countMissing(j *plan.Job) {
	e := j.Entry
	if e == nil || len(r.Averages) > 0 || j != e.Jobs[0] || e.ReadsLogs() {
		return
	}
	isMissing := func(s *fiolog.DirectionStats) bool { return !r.totals || e.WantsRows() || len(s.Clat.Bins) == 0 }
	for d := range fiolog.Direction(fiolog.Directions) {
		s := &e.Directions[d]
		if isMissing(s) {
			r.of(e).miss(d, e.Measured(s))
		}
		of := r.of(e)
		if _, ok := e.Failed(s); !ok && of.unbinned(d) > 0 || of.isTornReport(d) {
			r.problems.skip(e.Miscounted(s, of.isTornReport(d)))
		}
	}
	if e.IsMixed && isMissing(e.Mixed) {
		r.of(e).miss(fiolog.Read, int64(e.Mixed.TotalIOs))
	}
}

// groupTail is the stream of the requests that fio did not log for a group of jobs together
// (group_reporting).
func (r *reading) groupTail(e *plan.Entry) *align.Stream {
	rows, next := sync.OnceValue(func() []align.Row { return r.tail(e) }), 0
	return &align.Stream{Host: e.Jobs[0].Host, Last: true, Next: func() (align.Row, bool) {
		if next == len(rows()) {
			return align.Row{}, false
		}
		next++
		return r.shifted(e.Jobs[0], rows()[next-1]), true
	}}
}

// clip cuts a window to the time in which its jobs ran, because rates are per second of that time.
func (r *reading) clip(w *align.Window) {
	start, end, ok, isOver := int64(0), int64(0), false, true
	for _, j := range r.Jobs {
		if !covers(w.Key, j) || !r.live && !j.Serves(w.Key.Direction) {
			continue
		}
		of := r.tallies[j]
		several := j.Entry != nil && j.Entry.Several
		if !of.ended && (r.live || several) {
			return // the job may still run, and later rows may show when it began
		}
		from, ran := j.Offset, of.end()
		if !r.live {
			ran = max(ran, j.Ran)
		}
		if several { // each direction has its own time
			from, ran = j.Offset+of.directions[w.Key.Direction].start, of.directions[w.Key.Direction].end
		}
		if !ok || from < start {
			start = from
		}
		end, ok = max(end, j.Offset+ran), true
		isOver = isOver && (of.ended || j.Ran > 0)
	}
	if start, end = start+r.Shift, end+r.Shift; !ok || w.End <= start {
		return
	}
	w.Start, w.From = max(w.Start, start), start
	if isOver && w.Start < end {
		w.End, w.To = min(w.End, end), end
	}
}

// covers reports whether a window has requests of a job, by its level.
func covers(key align.Key, j *plan.Job) bool {
	switch key.Level {
	case mapping.Cluster:
		return true
	case mapping.Host:
		return key.Host == j.Host
	}
	return key.Host == j.Host && key.Job == j.Name()
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
