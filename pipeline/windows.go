package pipeline

import (
	"context"
	"iter"

	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// longest is how many windows may be joined to one.
const longest = 60

// windows aligns and merges the rows of all jobs. What was read is in t when they end.
func (p *plan) windows(ctx context.Context, open *cursors, t *tallies) iter.Seq2[*align.Window, error] {
	return func(yield func(*align.Window, error) bool) {
		var streams []*align.Stream
		shortest := p.window
		for _, j := range p.jobs {
			next, stop := iter.Pull(p.timed(j, p.rows(j, open, t)))
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
			Levels:    p.opt.alignLevels(),
			Workers:   p.workers(),
			Eager:     open.live != nil,
		}, &t.stats)
		if precision := p.opt.Precision; precision.Quantile > 0 {
			precision.Longest = longest * p.window
			windows = align.Join(windows, precision)
		}
		for w, err := range windows {
			if err == nil {
				p.clip(w, t, open.live != nil)
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

// tolerance is how far a row may lie outside a window and still be put there whole, for
// rows of a length. fio's rows end up to some 30 ms late, however short they are.
func (p *plan) tolerance(rows int64) int64 {
	const late = 40
	share := int64(p.opt.tolerance() * float64(rows))
	if p.opt.Tolerance != 0 {
		return share
	}
	return max(share, min(late, rows/4))
}

// highest is the level of whose windows the whole run is the sum.
func (p *plan) highest() align.Level { return align.Level(p.opt.levels()[0] - 1) }

// rows are a job's, counted: those of its source, and behind them the tail that fio did
// not log, if no other job has a part in that.
func (p *plan) rows(j *job, open *cursors, t *tallies) iter.Seq[align.Row] {
	of := t.jobs[j]
	var rows iter.Seq2[align.Row, error]
	switch j.source {
	case fromHist:
		rows = histRows(j, open.hist[j], of.split)
	case fromRaw:
		of.raw = newRawFill(p, j)
		rows = rawRows(j, open.raw[j], of.raw)
	case fromReports:
		of.reports = open.feeds[j].of(j)
		rows = open.feeds[j].rows(of.reports)
	default:
		return p.noRows(j, t)
	}
	return func(yield func(align.Row) bool) {
		defer func() { of.ended = true }()
		for row := range t.counted(j, rows, len(p.entries) > 0) {
			if row.Total > 0 && j.source != fromHist {
				of.split.Pass(row.End, row.Direction)
			}
			if !yield(row) {
				return
			}
		}
		if j.entry == nil || len(j.entry.jobs) > 1 || !hasTail(j.entry) {
			return
		}
		for _, row := range t.tail(j.entry) {
			if !yield(row) {
				return
			}
		}
	}
}

// noRows counts what a job did that has no rows: all of it is in no window.
func (p *plan) noRows(j *job, t *tallies) iter.Seq[align.Row] {
	return func(func(align.Row) bool) {
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

// timed are a job's rows in the time of the windows.
func (p *plan) timed(j *job, rows iter.Seq[align.Row]) iter.Seq[align.Row] {
	by := j.offset + p.shift
	return func(yield func(align.Row) bool) {
		for row := range rows {
			row.Start += by
			row.End += by
			if !yield(row) {
				return
			}
		}
	}
}

// groupTail is the stream of what the jobs of a group (group_reporting) lost together.
func (p *plan) groupTail(e *entry, t *tallies) *align.Stream {
	var rows []align.Row
	begun := false
	return &align.Stream{
		Host: e.jobs[0].host, Job: "", Last: true,
		Next: func() (align.Row, bool) {
			if !begun {
				rows, begun = t.tail(e), true
			}
			if len(rows) == 0 {
				return align.Row{}, false
			}
			row := rows[0]
			rows = rows[1:]
			row.Start += e.jobs[0].offset + p.shift
			row.End += e.jobs[0].offset + p.shift
			return row, true
		},
	}
}

// clip lets a window begin no sooner than the first job that has a part in it, and end no
// later than the last one: rates are over the time that was.
func (p *plan) clip(w *align.Window, t *tallies, live bool) {
	start, end, ok := int64(0), int64(0), false
	for _, j := range p.jobs {
		if !covers(w.Key, j) || !live && !j.serves(w.Key.Direction) {
			continue
		}
		of := t.jobs[j]
		several := j.entry != nil && j.entry.several
		if !of.ended && (live || several || j.ran == 0) {
			return // it may go on
		}
		from := j.offset
		ran := of.end()
		if !live {
			ran = max(ran, j.ran)
		}
		if several { // each direction in its own time
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

// covers reports whether a job is one of those that a window is of.
func covers(key align.Key, j *job) bool {
	switch key.Level {
	case align.Cluster:
		return true
	case align.Host:
		return key.Host == j.host
	}
	return key.Host == j.host && key.Job == j.name()
}
