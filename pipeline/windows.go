package pipeline

import (
	"context"
	"iter"
	"sync"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// longest is how many windows may be joined to one.
const longest = 60

// windows aligns and merges the rows of all jobs. t is complete when they end.
func (p *plan) windows(ctx context.Context, t *tallies) iter.Seq2[*align.Window, error] {
	return func(yield func(*align.Window, error) bool) {
		var streams []*align.Stream
		shortest := p.window
		for _, j := range p.jobs {
			next, stop := iter.Pull(p.rows(j, t))
			defer stop()
			streams = append(streams, &align.Stream{Host: j.host, Job: j.name(), Next: next})
			if j.interval > 0 {
				shortest = min(shortest, j.interval)
			}
		}
		for _, e := range p.entries {
			if hasTail(e) && len(e.jobs) > 1 {
				streams = append(streams, p.groupTail(e, t))
			}
		}
		windows := align.Merge(ctx, streams, align.Options{
			Window:    p.window,
			Tolerance: p.tolerance(shortest),
			Weighting: p.opt.Weighting,
			SpreadAll: p.opt.SpreadAll,
			Levels:    p.opt.levels(),
			Workers:   p.workers(),
			Eager:     t.live,
		}, &t.stats)
		if precision := p.opt.Precision; precision.Quantile > 0 {
			precision.Longest = longest * p.window
			windows = align.Join(windows, precision)
		}
		for w, err := range windows {
			if err == nil {
				p.clip(w, t)
				if w.Key.Level == p.highest() {
					t.windowed[w.Key.Direction].Merge(w.Latencies)
				}
			}
			if !yield(w, err) {
				return
			}
		}
	}
}

// tolerance is how far a row may lie outside a window and still count there whole, for
// rows of a length. fio's rows end up to some 30 ms late, however short they are.
func (p *plan) tolerance(rows int64) int64 {
	const late = 40
	share := int64(p.opt.tolerance() * float64(rows))
	if p.opt.Tolerance != 0 {
		return share
	}
	return max(share, min(late, rows/4))
}

// highest is the highest level of windows. The whole run is their sum.
func (p *plan) highest() mapping.Level { return p.opt.levels()[0] }

// rows iterates over the rows of a job in the time of the windows and counts them: the rows
// of its source and, if the job alone has a part in it, the tail that fio did not log.
func (p *plan) rows(j *job, t *tallies) iter.Seq[align.Row] {
	of := t.jobs[j]
	var rows iter.Seq2[align.Row, error]
	switch j.source {
	case fromHist:
		rows = histRows(j, j.file, of.split)
	case fromRaw:
		of.raw = newRawFill(p, j)
		rows = rawRows(j, j.file, of.raw)
	case fromReports:
		of.reports = j.reports
		rows = j.reports.rows()
	default:
		p.countMissing(j, t)
		return func(func(align.Row) bool) {}
	}
	return func(yield func(align.Row) bool) {
		defer func() { of.ended = true }()
		for row, err := range rows {
			if err != nil {
				t.problems.skip(err)
				of.damage(err)
				continue
			}
			if row.Total > 0 {
				of.add(&row, len(p.entries) > 0)
				if j.source != fromHist {
					of.split.Pass(row.End, row.Direction)
				}
			}
			if !yield(p.shifted(j, row)) {
				return
			}
		}
		if j.entry == nil || len(j.entry.jobs) > 1 || !hasTail(j.entry) {
			return
		}
		for _, row := range t.tail(j.entry) {
			if !yield(p.shifted(j, row)) {
				return
			}
		}
	}
}

// shifted is a row of a job in the time of the windows.
func (p *plan) shifted(j *job, row align.Row) align.Row {
	row.Start += j.offset + p.shift
	row.End += j.offset + p.shift
	return row
}

// countMissing counts the requests of a job without rows: they are in no window.
func (p *plan) countMissing(j *job, t *tallies) {
	if j.entry == nil || len(p.averages) > 0 || j != j.entry.jobs[0] || hasTail(j.entry) {
		return
	}
	for d := range fiolog.Direction(fiolog.Directions) {
		if s := &j.entry.Directions[d]; !t.totals || j.entry.wantsRows() || len(s.Clat.Bins) == 0 {
			t.missing.add(d, j.entry.measured(d))
		}
	}
	if m := j.entry.Mixed; j.entry.mixed && (!t.totals || j.entry.wantsRows() || len(m.Clat.Bins) == 0) {
		t.missing.add(fiolog.Read, int64(m.TotalIOs))
	}
}

// hasTail reports whether rows of an entry's logs may lack what its report has.
func hasTail(e *entry) bool {
	for _, j := range e.jobs {
		if j.source == fromHist || j.source == fromRaw {
			return true
		}
	}
	return false
}

// groupTail is the stream of the requests that fio did not log for a group of jobs together
// (group_reporting).
func (p *plan) groupTail(e *entry, t *tallies) *align.Stream {
	rows, next := sync.OnceValue(func() []align.Row { return t.tail(e) }), 0
	return &align.Stream{Host: e.jobs[0].host, Last: true, Next: func() (align.Row, bool) {
		if next == len(rows()) {
			return align.Row{}, false
		}
		next++
		return p.shifted(e.jobs[0], rows()[next-1]), true
	}}
}

// clip cuts a window to the time in which any of its jobs ran, because rates are over that.
func (p *plan) clip(w *align.Window, t *tallies) {
	start, end, ok := int64(0), int64(0), false
	for _, j := range p.jobs {
		if !covers(w.Key, j) || !t.live && !j.serves(w.Key.Direction) {
			continue
		}
		of := t.jobs[j]
		several := j.entry != nil && j.entry.several
		if !of.ended && (t.live || several || j.ran == 0) {
			return // it may still run
		}
		from := j.offset
		ran := of.end()
		if !t.live {
			ran = max(ran, j.ran)
		}
		if several { // each direction has its own time
			from, ran = j.offset+of.spans[w.Key.Direction].start, of.spans[w.Key.Direction].end
		}
		if !ok || from < start {
			start = from
		}
		end, ok = max(end, j.offset+ran), true
	}
	if start, end = start+p.shift, end+p.shift; !ok || w.End <= start || w.Start >= end {
		return
	}
	w.Start, w.End = max(w.Start, start), min(w.End, end)
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
