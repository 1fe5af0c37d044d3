// Package account compares what was read of a run with its plan: the rows of logs with what fio's reports count. That gives
// the requests that fio did not log, the totals of the run, what is missing in it, and what its reader should know. It opens
// no file and changes nothing: an account is a function of a plan and of counts, and package pipeline makes these while
// it reads rows.
//
// Times are milliseconds since the start of a job, unless they are said to be since that of the run.
package account

import (
	"cmp"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Counts are of the rows of a job. The zero value is of a job without rows.
type Counts struct {
	Directions [fiolog.WithSync]Rows
	Until      int64       // end of the last row
	Last       int64       // when the job ended, if its source shows that better than the ends of rows; else 0
	Ended      bool        // all rows were read
	Damaged    bool        // rows were skipped
	Cut        bool        // the log ends too early
	Report     *fiolog.Job // its last periodic report so far; nil without any
	Longest    int64       // row of a periodic report that came late; 0 if none did
	Late       int64       // how long after an edge of its grid a periodic report came, at most
}

// Rows are the counts of one direction of a job.
type Rows struct {
	Sum         hist.Histogram // of all rows, if the run has a report
	Requests    uint64
	Most, Least uint64     // in a row as long as the interval
	Start, End  int64      // of the first row and of the last
	Stall       int64      // the longest that one before the last row may have been; a fixed rate (rate_iops) is made up for after it
	Tail        align.Tail // when requests after the last row completed, after all rows
}

// Add counts a row with requests. interval is that of the job's rows. sum says that rows are compared with a report.
func (c *Counts) Add(row *align.Row, interval int64, sum bool) {
	of := &c.Directions[row.Direction]
	if of.Requests == 0 {
		of.Start, of.End = row.Start, row.End
	}
	if late := row.End - of.End; row.Start == row.End && late > interval/2 { // the request that ended a stall, which began in the row before
		of.Stall = late + interval
	}
	of.Start, of.End = min(of.Start, row.Start), max(of.End, row.End)
	of.Requests += row.Total
	if row.End-row.Start >= interval-interval/10 {
		of.Stall = 0
		if of.Most == 0 {
			of.Least = row.Total
		}
		of.Most, of.Least = max(of.Most, row.Total), min(of.Least, row.Total)
	}
	c.Until = max(c.Until, row.End)
	if sum {
		of.Sum.AddBins(row.Layout, row.Bins)
	}
}

// End returns when the job ended by its rows.
func (c *Counts) End() int64 { return cmp.Or(c.Last, c.Until) }
