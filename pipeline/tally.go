package pipeline

import (
	"errors"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// tally counts what was read of one job, row by row. All results are made from the tallies of all jobs after the last
// row. It is not safe for concurrent use.
type tally struct {
	directions [fiolog.Directions]counted
	interval   int64 // of the rows, in milliseconds
	last       int64 // end of the last row, in milliseconds since the job's start
	damaged    bool  // rows were skipped
	cut        bool  // the log ends too early
	ended      bool  // all rows were read
	split      *align.Splitter
	raw        *rawFill   // of a job with a log of completions; else nil
	reports    *reportJob // of a job with periodic reports; else nil
}

// counted is one direction of a job.
type counted struct {
	sum        hist.Histogram // of all rows, if the run has a report
	requests   uint64
	most       uint64 // in a row as long as the interval
	least      uint64 // the same
	start, end int64  // of the first row and of the last, in milliseconds since the job's start

	// Of all jobs of an entry together; its first job has them.
	recovered int64 // requests that fio did not log, in a tail
	missing   int64 // requests in no window
}

// end is when the job ended by its rows, in milliseconds since its start.
func (t *tally) end() int64 {
	switch {
	case t.raw != nil && t.raw.last > 0:
		return t.raw.last
	case t.reports != nil:
		return max(t.last, t.reports.active)
	}
	return t.last
}

// damage records an error, in the middle of a log or at its end.
func (t *tally) damage(err error) {
	if isRepeated(err) {
		return
	}
	t.damaged = true
	var bad *fiolog.SyntaxError
	switch {
	case errors.As(err, &bad):
		t.cut = t.cut || bad.Partial
	case !errors.As(err, new(rowError)):
		t.cut = true
	}
}

func (t *tally) add(row *align.Row, sums bool) {
	c := &t.directions[row.Direction]
	if c.requests == 0 {
		c.start, c.end = row.Start, row.End
	}
	c.start, c.end = min(c.start, row.Start), max(c.end, row.End)
	c.requests += row.Total
	if row.End-row.Start >= t.interval-t.interval/10 {
		if c.most == 0 {
			c.least = row.Total
		}
		c.most, c.least = max(c.most, row.Total), min(c.least, row.Total)
	}
	t.last = max(t.last, row.End)
	if sums {
		c.sum.AddBins(row.Layout, row.Bins)
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
