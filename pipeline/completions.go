package pipeline

import (
	"math"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// completionRows are rows of a log of completions. The time of each is known, so none is spread over windows by a guess:
// requests that completed in the same window become one row.
type completionRows struct {
	job    *plan.Job
	log    *logFile
	counts *account.Counts

	window  int64 // milliseconds
	begins  int64 // of window 0, since the job's start
	single  int64 // requests of so many milliseconds or more become rows of their own, because they count in several windows
	current int64 // the window that is filled, -1 before the first
	bins    [fiolog.Directions]hist.Histogram
	rows    []align.Row // finished
}

func newCompletionRows(j *plan.Job, log *logFile, counts *account.Counts, p *plan.Plan, opt *Options) *completionRows {
	in := &completionRows{job: j, log: log, counts: counts, window: p.Window, begins: -j.Offset - p.Shift, single: math.MaxInt64, current: -1}
	if opt.Weighting == align.InFlight {
		if in.single = p.Window; opt.SpreadAll {
			in.single = 0
		}
	}
	for d := range in.bins {
		in.bins[d] = *hist.New(j.Layout)
	}
	return in
}

func (in *completionRows) close() { in.log.close() }

// next reads completions until a row is made.
func (in *completionRows) next() ([]align.Row, error, bool) {
	j, unit := in.job, plan.Nanoseconds(in.job.Unit)
	in.rows = in.rows[:0]
	for len(in.rows) == 0 {
		rec, err, ok := in.log.next()
		if !ok {
			in.finish()
			return in.rows, nil, false
		}
		if err == nil {
			if err = j.CheckTime(rec.Time); err != nil {
				err = in.log.wrong(err, rec)
			}
		}
		if err != nil {
			return nil, err, true
		}
		d, at, ns := rec.Direction, rec.Time-j.Origin, rec.Value*unit
		if w := (max(at-in.begins, 1) - 1) / in.window; w > in.current {
			in.finish()
			in.current = w
		}
		in.counts.Last = max(in.counts.Last, at, 1) // a job may end within a millisecond
		bin := hist.Bin{Index: uint32(j.Layout.Index(ns)), Count: 1}
		if ns/1e6 >= in.single {
			in.rows = append(in.rows, align.Row{Start: at, End: at, Direction: d, Layout: j.Layout, Bins: []hist.Bin{bin}, Total: 1})
		} else {
			in.bins[d].AddAt(int(bin.Index), 1)
		}
	}
	return in.rows, nil, true
}

// finish makes rows of the window that was filled.
func (in *completionRows) finish() {
	start := in.begins + in.current*in.window
	for d := range in.bins {
		if row := align.NewRow(start, start+in.window, fiolog.Direction(d), &in.bins[d]); row.Total > 0 {
			in.rows = append(in.rows, row)
			in.bins[d].Reset()
		}
	}
}
