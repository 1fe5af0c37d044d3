package pipeline

import (
	"errors"
	"fmt"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// tally is what was read of one job. Rows are counted as they pass. Everything else is made
// from the tallies of all jobs when the rows have ended.
type tally struct {
	sums     [fiolog.Directions]hist.Histogram // of all rows, if the run has a report
	requests [fiolog.Directions]uint64
	spans    [fiolog.Directions]span
	last     int64 // end of the last row, in milliseconds since the job's start
	damaged  bool  // rows were skipped
	cut      bool  // the log ends too early
	ended    bool  // all rows were read
	split    *align.Splitter
	raw      *rawFill   // of a job with a log of completions; else nil
	reports  *reportJob // of a job with periodic reports; else nil
}

// end is when the job ended by its rows, in milliseconds since its start.
func (t *tally) end() int64 {
	switch {
	case t.raw != nil && t.raw.last > 0:
		return t.raw.last
	case t.reports != nil:
		return max(t.last, t.reports.base+t.reports.ran)
	}
	return t.last
}

// tallies are the tallies of all jobs, and what follows from them.
type tallies struct {
	jobs      map[*job]*tally
	windowed  [fiolog.Directions]hist.Histogram // sum of all windows of the highest level
	stats     align.Stats
	recovered counts // requests that fio did not log, in a tail
	missing   counts // requests in no window
	totals    bool   // no job has rows: the run has totals, and no windows
	live      bool   // fio still writes the reports
	made      mapping.Documents
	problems  *Problems
}

func newTallies(p *plan, problems *Problems) *tallies {
	t := &tallies{jobs: make(map[*job]*tally, len(p.jobs)), problems: problems, totals: true}
	for _, j := range p.jobs {
		t.totals = t.totals && !j.hasRows
		t.live = t.live || j.reports != nil && j.reports.tailing != nil
		t.jobs[j] = &tally{split: align.NewSplitter(j.interval)}
	}
	return t
}

// damage records an error, in the middle of a log or at its end.
func (t *tally) damage(err error) {
	t.damaged = true
	var bad *fiolog.SyntaxError
	switch {
	case errors.As(err, &bad):
		t.cut = t.cut || bad.Partial
	case !errors.As(err, new(rowError)):
		t.cut = true
	}
}

// span is from the start of a direction's first row to the end of its last.
type span struct{ start, end int64 }

func (t *tally) add(row *align.Row, sums bool) {
	if s := &t.spans[row.Direction]; t.requests[row.Direction] == 0 {
		*s = span{row.Start, row.End}
	} else {
		s.start, s.end = min(s.start, row.Start), max(s.end, row.End)
	}
	t.requests[row.Direction] += row.Total
	t.last = max(t.last, row.End)
	if sums {
		t.sums[row.Direction].AddBins(row.Layout, row.Bins)
	}
}

// logged is the sum of the rows of an entry's logs, which must not be changed, and whether
// rows were skipped.
func (t *tallies) logged(e *entry, d fiolog.Direction) (sum *hist.Histogram, damaged bool) {
	if len(e.jobs) == 1 {
		of := t.jobs[e.jobs[0]]
		return &of.sums[d], of.damaged
	}
	sum = &hist.Histogram{}
	for _, j := range e.jobs {
		sum.Merge(&t.jobs[j].sums[d])
		damaged = damaged || t.jobs[j].damaged
	}
	return sum, damaged
}

// loggedAll is the sum of the rows of an entry's logs over all directions, and how many
// requests each direction has in it.
func (t *tallies) loggedAll(e *entry) (all *hist.Histogram, requests [fiolog.Directions]float64, damaged bool) {
	all = &hist.Histogram{}
	for d := range fiolog.Direction(fiolog.Directions) {
		h, bad := t.logged(e, d)
		requests[d] = h.Total()
		all.Merge(h)
		damaged = damaged || bad
	}
	return all, requests, damaged
}

// cut reports whether all missing rows of an entry's logs are missing at the end.
func (t *tallies) cut(e *entry) bool {
	for _, j := range e.jobs {
		if of := t.jobs[j]; of.damaged && !of.cut {
			return false
		}
	}
	return true
}

// last is the end of the last row of an entry's logs, in milliseconds since its start.
func (t *tallies) last(e *entry) (last int64) {
	for _, j := range e.jobs {
		last = max(last, t.jobs[j].last)
	}
	return last
}

// report is the latest report of an entry: while fio runs there are later ones.
func (t *tallies) report(e *entry) *fiolog.Job {
	for _, j := range e.jobs {
		if r := t.jobs[j].reports; r != nil && r.last != nil {
			return r.last
		}
	}
	return e.Job
}

// describe names an entry and a direction in messages.
func describe(e *entry, d fiolog.Direction) string { return fmt.Sprintf("%s: %s", e.describe(), d) }
