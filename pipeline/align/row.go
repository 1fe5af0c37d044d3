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
	Whole     bool
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
	// Exact says that the interval is known, not measured. Then the Splitter finds missing rows: see Missed.
	Exact bool

	// Stages says that the log has jobs that ran one after another. Then a late row is the first row of another job,
	// not a row after a stall.
	Stages bool

	interval   int64 // log_hist_msec; 0: unknown, and all rows count as even
	missed     bool  // see Missed
	directions [fiolog.Directions]clock
	rows       [2]Row
	bins       []hist.Bin
}

type clock struct {
	rows int64 // so far
	last int64 // end of the last one
	zero int64 // h0; before it is known, an estimate that is not later
	lost bool  // rows may be missing before the next one
}

// NewSplitter makes a splitter for a job with a log_hist_msec in milliseconds. 0 means unknown.
func NewSplitter(interval int64) *Splitter { return &Splitter{interval: interval} }

// Split splits a row of the log into one or two rows, in order of their ends. time is in milliseconds since the start
// of the job. total is the sum of the counts of bins. The result uses the memory of bins and is valid until the next
// call.
func (s *Splitter) Split(time int64, d fiolog.Direction, l hist.Layout, bins []hist.Bin, total uint64) []Row {
	c := &s.directions[d]
	start := c.last
	switch {
	case c.rows == 0:
		start, c.zero = s.first(time, l, bins)
	case s.Stages && s.interval > 0 && time-c.last >= s.interval+s.interval/2:
		start, c.zero, c.rows = time-s.interval, time-s.interval, 0
	}
	if c.lost && s.interval > 0 {
		start = max(start, time-s.interval)
		c.rows = max(c.rows, (time-c.zero)/s.interval-1)
	}
	c.lost = false
	c.rows++
	c.last = max(c.last, time)
	due := s.due(c, time)
	if s.missed = s.misses(c, time, start, due, total); s.missed {
		c.rows = (time - c.zero) / s.interval
		due = c.zero + c.rows*s.interval
	}
	row := Row{Start: min(start, time), End: time, Direction: d, Layout: l, Bins: bins, Total: total}
	if time-due <= s.interval/20 || len(bins) == 0 {
		s.rows[0] = row
		return s.rows[:1]
	}
	if start >= due || total == 1 {
		if total == 1 {
			row.Start = time
		}
		s.rows[0] = row
		return s.rows[:1]
	}
	last := late(l, bins, total, time-due)
	s.bins = append(s.bins[:0], bins...)
	if s.bins[last].Count--; s.bins[last].Count == 0 {
		s.bins = slices.Delete(s.bins, last, last+1)
	}
	s.rows[0] = Row{Start: start, End: due, Direction: d, Layout: l, Bins: s.bins, Total: total - 1}
	one := []hist.Bin{{Index: bins[last].Index, Count: 1}}
	s.rows[1] = Row{Start: time, End: time, Direction: d, Layout: l, Bins: one, Total: 1}
	return s.rows[:2]
}

// misses reports whether rows are missing before a row. If the row before came when this one was due, fio would have
// written this one with the next completion.
func (s *Splitter) misses(c *clock, time, before, due int64, total uint64) bool {
	return s.Exact && s.interval > 0 && c.rows > 1 && total > 1 && before >= due && time-before >= s.interval/2
}

// Missed reports whether at least one row is missing before the last row that was split. The row before the gap came
// late and was taken for a stall. So its requests may have completed up to one interval later than the result says.
// Later rows are right again.
func (s *Splitter) Missed() bool { return s.missed }

// late returns the bin of the request that ended a stall. If fio itself was stopped, the row does not show which
// request that was. But the first request after such a stop is slow, because caches are cold. In 72 stops of fio 3.33
// (psync) its rank in the row was 95 % in the median, and 60 % or more in three of four. The median rank gives the
// right answer for most percentiles.
func late(l hist.Layout, bins []hist.Bin, total uint64, stall int64) int {
	slowest := len(bins) - 1
	if _, high := l.Bounds(int(bins[slowest].Index)); high/1e6 >= stall || l.Open(int(bins[slowest].Index)) {
		return slowest
	}
	slower, i := total/20, slowest
	for ; i > 0 && bins[i].Count <= slower; i-- {
		slower -= bins[i].Count
	}
	return i
}

// Gap records that a row was skipped because its direction is unknown. So the next row does not begin at the end of the
// last one.
func (s *Splitter) Gap() {
	for d := range s.directions {
		s.directions[d].lost = s.directions[d].rows > 0
	}
}

// Tail returns the time in which the requests of direction d after the last row completed, in milliseconds since the
// start of the job. fio does not log them, because it logs no partial interval. end is the end of the job. If the log
// is complete, none of these requests completed after the next row was due, because it would have written that row. If
// the log was cut short, some may have.
func (s *Splitter) Tail(d fiolog.Direction, end int64, complete bool) (from, to int64) {
	c := &s.directions[d]
	to = max(end, c.last)
	if complete && c.rows > 0 && s.interval > 0 {
		to = min(to, max(c.last, c.zero+(c.rows+1)*s.interval))
	}
	return c.last, to
}

// first returns the start of the first row of a direction, and its h0. If the row comes one interval after the job's
// start, both are the job's start. A later row has two possible causes. If its requests are quick, the direction began
// later. If one request is slow, the direction stalled at once. So no request is placed in a time without requests.
func (s *Splitter) first(time int64, l hist.Layout, bins []hist.Bin) (start, zero int64) {
	if s.interval <= 0 || time <= s.interval {
		return 0, 0
	}
	if time <= s.interval+s.interval/20 {
		return 0, time - s.interval
	}
	if len(bins) > 0 {
		low, _ := l.Bounds(int(bins[len(bins)-1].Index))
		if low/1e6 > time-s.interval-s.interval/5 {
			return 0, 0
		}
	}
	return time - s.interval, time - s.interval
}

// due returns when the row that came at time was due, at most time.
func (s *Splitter) due(c *clock, time int64) int64 {
	if s.interval <= 0 {
		return time
	}
	c.zero = min(c.zero, time-c.rows*s.interval)
	if c.zero < -s.interval/20 { // rows come faster than possible, so the interval is wrong
		s.interval = 0
		return time
	}
	return c.zero + c.rows*s.interval
}

// Pass records that the requests of direction d up to time were counted without Split. So the tail begins at time.
func (s *Splitter) Pass(time int64, d fiolog.Direction) {
	s.directions[d].last = max(s.directions[d].last, time)
}

// NewRow makes a row of a histogram of whole counts.
func NewRow(start, end int64, d fiolog.Direction, h *hist.Histogram) Row {
	return Row{Start: start, End: end, Direction: d, Layout: h.Layout(), Bins: h.Bins(), Total: uint64(h.Total())}
}
