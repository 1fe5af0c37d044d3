package pipeline

import (
	"fmt"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// tail are the rows that fio did not log: what its report counts more than the rows of
// the logs that the report covers. All of those must have ended.
func (e *entry) tail() []align.Row {
	var rows []align.Row
	for d := range fiolog.Direction(fiolog.Directions) {
		stats := &e.Directions[d]
		logged, damaged := e.logged(d)
		total := float64(stats.TotalIOs)
		run := e.logs[0].run
		switch {
		case total == 0 && logged.IsEmpty():
			continue
		case logged.Total() > total:
			run.problems.lose(fmt.Errorf("%s: job %s: %s: its logs hold %.0f requests, more than the %d of total_ios",
				e.out.File.Name(), e.Name, d, logged.Total(), stats.TotalIOs))
			continue
		case len(stats.Clat.Bins) == 0:
			run.binless.Store(true)
			run.missing.add(d, int64(total-logged.Total()))
			continue
		}
		if err := e.complete(d); err != nil {
			run.problems.lose(err)
			run.missing.add(d, int64(total-logged.Total()))
			continue
		}
		rest := e.reported(d)
		if !logged.IsEmpty() {
			rest = rest.To(logged.Layout().Merged(rest.Layout()))
		}
		switch {
		case !rest.Subtract(logged):
			run.problems.lose(fmt.Errorf("%s: job %s: %s: the bins of its logs are not among those of the report",
				e.out.File.Name(), e.Name, d))
			run.missing.add(d, int64(total-logged.Total()))
		case damaged && !e.cut():
			// Rows in the middle were left out: no telling what of the rest is the tail.
			run.missing.add(d, int64(rest.Total()))
		case !rest.IsEmpty():
			run.recovered.add(d, int64(rest.Total()))
			row := e.tailRow(d, rest)
			if interval := e.logs[0].interval; row.End-row.Start > 2*max(interval, 1000) {
				run.problems.note("%s: job %s: the log ends early: %d %s requests, known from fio's report, are spread evenly from %d to %d ms",
					run.title(), e.Name, row.Total, d, row.Start, row.End)
			} else if e.crowded(logged, row, interval) {
				run.problems.note("%s: job %s: rows are missing in its log: %d %s requests, known from fio's report, are put behind its last row, from %d to %d ms",
					run.title(), e.Name, row.Total, d, row.Start, row.End)
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// crowded tells whether a tail has far more requests than the rows before it would let
// expect: then it is not all that is missing.
func (e *entry) crowded(logged *hist.Histogram, tail align.Row, interval int64) bool {
	const far = 4
	last := int64(0)
	for _, j := range e.logs {
		last = max(last, j.last)
	}
	return last > 0 && float64(tail.Total) > far*perSecond(logged.Total(), last)*float64(tail.End-tail.Start+interval)/1000
}

// logged is the sum of the logs' rows, and whether rows were left out.
func (e *entry) logged(d fiolog.Direction) (sum *hist.Histogram, damaged bool) {
	sum = &hist.Histogram{}
	for _, j := range e.logs {
		sum.Merge(&j.sums[d])
		damaged = damaged || j.damaged
	}
	return sum, damaged
}

// cut tells whether what is missing lies at the logs' ends.
func (e *entry) cut() bool {
	for _, j := range e.logs {
		if j.damaged && !j.cut {
			return false
		}
	}
	return true
}

// endsEarly tells whether logs without a fault of their own lack more of their ends than
// fio leaves out: the rest of an interval. Then they were cut between two rows.
func (e *entry) endsEarly(d fiolog.Direction, rest float64) bool {
	end, last, interval, logged := ranFor(e.Job), int64(0), int64(0), 0.0
	for _, j := range e.logs {
		last, interval = max(last, j.last), max(interval, j.interval)
		logged += float64(j.requests[d])
	}
	if interval <= 0 || end-last <= 2*interval {
		return false
	}
	usual := logged / float64(max(last, 1)) * float64(interval)
	return rest > 3*usual
}

// tailRow puts the rest where it completed: between the last row and the end.
func (e *entry) tailRow(d fiolog.Direction, rest *hist.Histogram) align.Row {
	from, to := int64(-1), int64(0)
	for _, j := range e.logs {
		f, t := j.splitter.Tail(d, ranFor(e.Job), !j.damaged && !e.endsEarly(d, rest.Total()))
		if from < 0 || f < from {
			from = f
		}
		to = max(to, t)
	}
	row := align.Row{Start: from, End: to, Direction: d, Layout: rest.Layout(), Total: uint64(rest.Total())}
	for i, n := range rest.All() {
		row.Bins = append(row.Bins, hist.Bin{Index: uint32(i), Count: uint64(n)})
	}
	return row
}

// groupTail is the stream of what the jobs of a group (group_reporting) lost together.
func (e *entry) groupTail() *align.Stream {
	var rows []align.Row
	begun := false
	return &align.Stream{
		Host: e.logs[0].log.Host, Job: "", Last: true,
		Next: func() (align.Row, bool) {
			if !begun {
				rows, begun = e.tail(), true
			}
			if len(rows) == 0 {
				return align.Row{}, false
			}
			row := rows[0]
			rows = rows[1:]
			return e.logs[0].inRun(row), true
		},
	}
}
