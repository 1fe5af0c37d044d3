package align

import (
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Row has the requests by latency that completed in (Start, End], in milliseconds. If Start equals End, they completed
// at that moment.
type Row struct {
	Start, End int64
	// Whole says that the row is never cut, because nothing says when in it a request completed: windows follow it. Its
	// ends count as the nearest edges. If it spans several windows, these become one.
	Whole bool
	// At is a moment in the only window of a row that is Whole, which then has the times of the row; 0: windows follow the row.
	At        int64
	Direction fiolog.Direction
	Layout    hist.Layout
	Bins      []hist.Bin // ascending; read only; valid until the next row
	Total     uint64     // the sum of their counts
}

// Splitter turns the rows of one job's log into [Row]s. The times in the log are the ends of intervals. fio writes rows
// by this rule (add_clat_sample in stat.c): the clock of a direction starts with its first completion, at h0. The first
// completion at or after h0 + k*interval writes row k.
//
// So the requests of a row on time completed evenly over the interval. A late row is a stall: between h0 + k*interval
// and its end only the request that wrote it completed. Which request of the row that was is unknown. The Splitter
// takes the slowest, if its latency is at least as long as the stall. Otherwise fio itself was stopped, and the
// Splitter takes one of the slow requests. After a stall fio writes a row with each completion until it has caught up.
type Splitter struct {
	// Exact says that the interval is fio's, and that the log has one job. Then the Splitter finds missing rows: see
	// Misses.
	Exact bool

	// Stages says that the log has jobs that ran one after another. Then a late row is the first row of another job,
	// not a row after a stall.
	Stages bool

	interval   int64 // log_hist_msec; 0: unknown, and all rows count as even
	stalled    int64 // time of the first row of a direction, which shows that the job stalled before; 0: none does
	directions [fiolog.WithSync]clock
	rows       [3]Row
	bins       []hist.Bin
	ones       [2]hist.Bin
}

type clock struct {
	rows   int64 // so far, with those that are missing
	last   int64 // end of the last one
	zero   int64 // h0; before it is known, an estimate
	latest int64 // the latest h0 that the rows so far allow, because no row comes early
	begun  bool  // Begin knows h0
	lost   bool  // rows may be missing before the next one
}

// NewSplitter makes a splitter for a job with a log_hist_msec in milliseconds. 0 means unknown.
func NewSplitter(interval int64) *Splitter { return &Splitter{interval: interval} }

// Began returns when the clock of a direction began (h0), by the times of its first rows, and the latest h0 that these
// allow. All are milliseconds since the start of the job. If the rows come at any time after they are due, such as with
// bursts, or together after a stall, they do not show h0. Then it is the start of the job, if that may be.
func Began(interval int64, times []int64) (zero, latest int64) {
	if interval <= 0 || len(times) == 0 {
		return 0, 0
	}
	late := make([]int64, len(times))
	for k, at := range times {
		late[k] = at - int64(k+1)*interval
	}
	latest = slices.Min(late)
	near := interval / 20
	var alone []int64 // rows that came when they were due, and not with others after a stall
	for k, at := range times {
		if (k == 0 || at-times[k-1] > near) && (k == len(times)-1 || times[k+1]-at > near) {
			alone = append(alone, (late[k]-latest)%interval) // rows after missing ones seem to be late by whole intervals
		}
	}
	slices.Sort(alone)
	if latest > near && (len(alone) == 0 || latest <= interval && alone[len(alone)/2] > near) {
		return 0, latest
	}
	return latest, latest
}

// Begin gives the times of the first rows of a direction, in milliseconds since the start of the job. Without them, the
// first row alone decides when the clock of the direction began.
func (s *Splitter) Begin(d fiolog.Direction, times []int64) {
	if c := &s.directions[d]; len(times) > 1 {
		c.zero, c.latest = Began(s.interval, times)
		c.begun = true
	}
}

// Split splits a row of the log into up to three rows, in order of their ends. time is in milliseconds since the start
// of the job. total is the sum of the counts of bins. The result is valid until the next call.
func (s *Splitter) Split(time int64, d fiolog.Direction, l hist.Layout, bins []hist.Bin, total uint64) []Row {
	c := &s.directions[d]
	start, isFirst := c.last, c.rows == 0
	switch {
	case isFirst && c.begun:
		start = 0
	case isFirst:
		// If the first row comes one interval after the job's start, it begins there. A later row has two possible causes. If
		// its requests are quick, the direction began later. If one request is slow, the job stalled at once, and so did a
		// direction whose first row comes right after that. So no request is placed in a time without requests.
		start, c.zero = 0, 0
		if late := time - s.interval; s.interval > 0 && late > 0 {
			isSlow := false
			if len(bins) > 0 {
				low, _ := l.Bounds(int(bins[len(bins)-1].Index))
				isSlow = low/1e6 > late-s.interval/5
			}
			switch {
			case late <= s.interval/20:
				c.zero = late
			case isSlow:
				s.stalled = time
			case s.stalled == 0 || time-s.stalled > s.interval/20:
				start, c.zero = late, late
			}
		}
		c.latest = c.zero
	case s.Stages && s.interval > 0 && time-c.last >= s.interval+s.interval/2:
		start, c.zero, c.latest, c.rows = time-s.interval, time-s.interval, time-s.interval, 0
	}
	if c.lost && s.interval > 0 {
		start = max(start, time-s.interval)
		c.rows = max(c.rows, s.wereDue(c, time)-1)
	}
	c.lost = false
	c.rows++
	c.last = max(c.last, time)
	due := time // when fio had to write the row, at most time
	if s.interval > 0 {
		c.latest = min(c.latest, time-c.rows*s.interval)
		c.zero = min(c.zero, c.latest)
		if due = c.zero + c.rows*s.interval; c.zero < -s.interval/20 { // rows come faster than possible, so the interval is wrong
			s.interval, due = 0, time
		}
	}
	row := Row{Start: min(start, time), End: time, Direction: d, Layout: l, Bins: bins, Total: total}
	isLate := time-due > s.interval/20
	isBegun := isFirst && c.begun && c.zero > s.interval/20
	if len(bins) == 0 || s.interval <= 0 || !isLate && !isBegun {
		return append(s.rows[:0], row)
	}
	s.bins = append(s.bins[:0], bins...)
	row.Bins = s.bins
	parts := s.rows[:0]
	if isBegun && total > 1 {
		parts = append(parts, s.one(0, &row, c.zero, c.zero*9/10)) // it may have begun some time after the job
		row.Start = c.zero
	}
	switch {
	case !isLate:
	case row.Total == 1:
		row.Start = time
	case row.Start < due:
		last := s.one(1, &row, time, time-due)
		row.End = due
		return append(parts, row, last)
	}
	return append(parts, row)
}

// one takes the request out of a row that ended a stall at a moment. If fio itself was stopped, the row does not show which
// request that was. But the first request after such a stop is slow, because caches are cold. In 72 stops of fio 3.33
// (psync) its rank in the row was 95 % in the median, and 60 % or more in three of four. The median rank gives the
// right answer for most percentiles.
func (s *Splitter) one(i int, from *Row, at, stall int64) Row {
	bin := len(from.Bins) - 1
	if !isStalled(from.Layout, int(from.Bins[bin].Index), stall) {
		for slower := from.Total / 20; bin > 0 && from.Bins[bin].Count <= slower; bin-- {
			slower -= from.Bins[bin].Count
		}
	}
	s.ones[i] = hist.Bin{Index: from.Bins[bin].Index, Count: 1}
	if from.Bins[bin].Count--; from.Bins[bin].Count == 0 {
		from.Bins = slices.Delete(from.Bins, bin, bin+1)
	}
	from.Total--
	return Row{Start: at, End: at, Direction: from.Direction, Layout: from.Layout, Bins: s.ones[i : i+1], Total: 1}
}

// Misses reports whether rows are missing before a row. Then Split places the row in its own interval, and knows that the
// requests before it are not all there.
//
// If the row before came when this one was due, fio would have written this one with the next completion. If a later row
// than this one was due, too, fio writes that with the next completion after this one. next returns the number of
// requests in the next row of the direction. It returns false if there is none. Then only a slow request shows a stall.
func (s *Splitter) Misses(
	time int64, d fiolog.Direction, l hist.Layout, bins []hist.Bin, total uint64, next func() (uint64, bool),
) bool {
	c := &s.directions[d]
	due := c.latest + (c.rows+1)*s.interval
	switch {
	case !s.Exact || s.interval <= 0 || c.rows == 0 || c.lost || total < 2:
		return false
	case c.last >= due:
		c.lost = time-c.last >= s.interval/2
	case s.wereDue(c, time) > c.rows+1:
		stall := time - due
		isSlow := isStalled(l, int(bins[len(bins)-1].Index), stall*9/10)
		switch total, ok := next(); {
		case !ok || stall < s.interval:
			c.lost = !isSlow && (!ok || total > 1)
		default:
			c.lost = total > 1
		}
	}
	return c.lost
}

// wereDue returns how many rows of a direction were due at a time. Before h0 is known, it may seem to be some
// milliseconds later.
func (s *Splitter) wereDue(c *clock, time int64) int64 {
	return (time - c.latest + s.interval/50) / s.interval
}

// isStalled reports whether requests of a bin may have taken as long as a stall.
func isStalled(l hist.Layout, bin int, stall int64) bool {
	_, high := l.Bounds(bin)
	return high/1e6 >= stall || l.Open(bin)
}

// Gap records that a row was skipped because its direction is unknown. So the next row does not begin at the end of the
// last one.
func (s *Splitter) Gap() {
	for d := range s.directions {
		s.directions[d].lost = s.directions[d].rows > 0
	}
}

// Tail is when the requests after the last row of a direction completed, in milliseconds since the start of the job. fio does
// not log them, because it logs no partial interval.
type Tail struct {
	From int64 // end of the last row
	Due  int64 // when the next row was due; 0: unknown
}

// Until returns when the last of these requests completed, at the latest, if the job ended at a time. If the log is complete, none
// completed after the next row was due, because it would have written that row. If the log was cut short, some may have.
func (t Tail) Until(end int64, complete bool) int64 {
	if end = max(end, t.From); complete && t.Due > 0 {
		return min(end, max(t.From, t.Due))
	}
	return end
}

// Tail returns the tail of a direction after the rows so far.
func (s *Splitter) Tail(d fiolog.Direction) Tail {
	c := &s.directions[d]
	t := Tail{From: c.last}
	if c.rows > 0 && s.interval > 0 {
		t.Due = c.zero + (c.rows+1)*s.interval
	}
	return t
}

// NewRow makes a row of a histogram of whole counts.
func NewRow(start, end int64, d fiolog.Direction, h *hist.Histogram) Row {
	return Row{Start: start, End: end, Direction: d, Layout: h.Layout(), Bins: h.Bins(), Total: uint64(h.Total())}
}
