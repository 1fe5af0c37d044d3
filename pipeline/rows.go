package pipeline

import (
	"errors"
	"fmt"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// rowReader reads the rows of a job one after another, in the time of the windows, and counts them: the rows of its
// source and, if the job alone has a part in it, the tail that fio did not log. With a group it reads only the tail of
// these jobs together. One goroutine at a time uses it.
type rowReader struct {
	*reading
	job   *plan.Job
	of    *tally
	log   *logFile // nil if the rows are not of a log
	undo  plan.Undoubler
	group *plan.Entry // of jobs with group_reporting, whose rows other readers have read

	queue []align.Row // read and not returned yet; valid until more rows are read
	last  bool        // no rows follow those of the queue
}

// rowsOf returns the reader of a job's rows.
func (r *reading) rowsOf(j *plan.Job) *rowReader {
	in := &rowReader{reading: r, job: j, of: r.tallies[j], undo: plan.Undoubler{Lag: j.Lag}}
	if j.ReadsLog() {
		in.log = r.input.files.of(j)
	}
	if j.Source == plan.FromRaw {
		in.of.raw = newRawFill(r.input, j)
	}
	return in
}

// next returns the next row, which is valid until the next call. It returns false at the end.
func (in *rowReader) next() (align.Row, bool) {
	for len(in.queue) == 0 {
		if in.last {
			if in.group == nil && in.job.Source != plan.FromNothing {
				in.of.ended = true
			}
			return align.Row{}, false
		}
		in.more()
	}
	row := in.queue[0]
	in.queue = in.queue[1:]
	row.Start += in.job.Offset + in.Shift
	row.End += in.job.Offset + in.Shift
	return row, true
}

// more reads the next rows into the queue, in milliseconds since the job's start. After an error later rows follow.
func (in *rowReader) more() {
	if in.group != nil {
		in.queue, in.last = in.tail(in.group), true
		return
	}
	j, of, ok := in.job, in.of, false
	var err error
	switch j.Source {
	case plan.FromHist:
		in.queue, err, ok = in.histogramRow()
	case plan.FromRaw:
		in.queue, err, ok = of.raw.rows(j, in.log)
	case plan.FromReports:
		in.queue, err, ok = of.reports.more()
	default:
		in.countMissing(j)
		in.last = true
		return
	}
	if err != nil {
		in.problems.skip(err)
		of.damage(err)
	}
	for i := range in.queue {
		row := &in.queue[i]
		if in.budget.Spend(in.priceOf(row)) != nil {
			in.queue, in.last = nil, true // and no window is passed on
			return
		}
		row.Whole = j.Source == plan.FromReports && (in.follows || of.reports.isLate(row))
		if row.Total > 0 {
			of.add(row, len(in.Entries) > 0)
			if j.Source != plan.FromHist {
				of.split.Pass(row.End, row.Direction)
			}
		}
	}
	if in.last = !ok; in.last && j.Entry != nil && len(j.Entry.Jobs) == 1 && j.ReadsLog() {
		in.queue = append(in.queue, in.tail(j.Entry)...)
	}
}

// histogramRow returns the rows that the next row of a histogram log becomes, or the error in its place. It returns false
// at the end of the job's rows.
func (in *rowReader) histogramRow() ([]align.Row, error, bool) {
	j, l, split := in.job, in.log, in.of.split
	rec, err, ok := l.next()
	if !ok {
		return nil, nil, false
	}
	if err == nil {
		err = l.wrong(checkRow(j, rec), rec)
	}
	if err == nil {
		err = l.wrong(in.undo.Row(rec), rec)
	}
	if err != nil {
		if !isRepeated(err) {
			split.Gap()
		}
		return nil, err, true
	}
	if len(rec.Bins) == 0 {
		return nil, nil, true
	}
	following := func() (uint64, bool) {
		rec = rec.Clone() // before the next row is read
		return l.following(rec.Direction)
	}
	if split.Misses(rec.Time-j.Origin, rec.Direction, rec.Layout, rec.Bins, rec.Total, following) {
		err = l.wrong(fmt.Errorf(missedRows, rec.Direction, j.Interval), rec)
	}
	return split.Split(rec.Time-j.Origin, rec.Direction, rec.Layout, rec.Bins, rec.Total), err, true
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

// isRepeated reports whether an error says that a row is there twice.
func isRepeated(err error) bool {
	var bad *fiolog.SyntaxError
	return errors.As(err, &bad) && bad.Repeated
}

// missedRows is the message for a row before which other rows are missing.
const missedRows = "%s rows are missing before this one: fio writes one every %d ms, and what is late at the next completion; " +
	"windows lack the requests of the missing rows, so their rates are too low there; copy the log again"

// writtenByHalf says which versions of fio write impossible numbers, if no report says which version it was.
const writtenByHalf = "fio 3.6 to 3.16 write such numbers: add its report"

// checkRow returns an error if a row has impossible values. The text of the row is correct.
func checkRow(j *plan.Job, rec *fiolog.Record) error {
	if rec.Total > hist.MaxCount {
		err := fmt.Errorf("%d requests in a row: %w", rec.Total, hist.ErrTooLarge)
		if j.Entry == nil {
			err = fmt.Errorf("%w; %s", err, writtenByHalf)
		}
		return err
	}
	const fastest = 100_000 // requests of a job in a millisecond
	took := max(j.Interval, 1000)
	if j.Interval == 0 {
		took = max(rec.Time-j.Origin, took) // of the only row
	}
	if j.Source == plan.FromHist && rec.Total/fastest > uint64(took) {
		err := fmt.Errorf("%d requests in a row of %d ms, more than any job can make", rec.Total, took)
		if j.Entry == nil {
			err = fmt.Errorf("%w; %s", err, writtenByHalf)
		}
		return err
	}
	return j.CheckTime(rec.Time)
}

// rowError is the error of a row with impossible values, whose text is correct.
type rowError struct{ error }

// Unwrap returns what is wrong.
func (e rowError) Unwrap() error { return e.error }

// wrong adds the place of a row to an error. It returns nil for nil.
func (l *logFile) wrong(err error, rec *fiolog.Record) error {
	if err == nil {
		return nil
	}
	return rowError{fmt.Errorf("%s:%d:1: %w", l.log.File.Name(), rec.Line, err)}
}

// rawFill adds up the requests of a log of completions. The time of each is known, so none is spread over windows by a
// guess. Requests that completed in the same window become one row. Requests in flight for longer than a window become
// separate rows.
type rawFill struct {
	window   int64 // length, milliseconds
	begins   int64 // of window 0, since the job's start
	unit     int64 // nanoseconds of the log's values
	layout   hist.Layout
	spread   bool  // requests in flight for longer than a window are separate rows
	all      bool  // all other requests are separate rows, too
	current  int64 // the window that is filled
	last     int64 // the latest completion of all
	filling  bool
	bins     [fiolog.Directions]hist.Histogram
	finished []align.Row
}

// newRawFill returns a rawFill for the log of a job and the windows of a plan.
func newRawFill(p *input, j *plan.Job) *rawFill {
	f := &rawFill{
		window: p.Window, begins: -j.Offset - p.Shift, unit: plan.Nanoseconds(j.Unit), layout: j.Layout,
		spread: p.opt.Weighting == align.InFlight, all: p.opt.SpreadAll,
	}
	for d := range f.bins {
		f.bins[d] = *hist.New(f.layout)
	}
	return f
}

// rows reads the job's log of completions until a row is made, and returns the rows, in milliseconds since the job's
// start, or the error in place of a completion. It returns false at the end.
func (f *rawFill) rows(j *plan.Job, l *logFile) ([]align.Row, error, bool) {
	f.finished = f.finished[:0]
	for len(f.finished) == 0 {
		rec, err, ok := l.next()
		if !ok {
			f.end()
			return f.finished, nil, false
		}
		if err == nil {
			err = l.wrong(j.CheckTime(rec.Time), rec)
		}
		if err != nil {
			return nil, err, true
		}
		f.add(rec.Direction, rec.Time-j.Origin, rec.Value*f.unit)
	}
	return f.finished, nil, true
}

// add puts a request into the window in which it completed, or makes a row of it.
func (f *rawFill) add(d fiolog.Direction, at, ns int64) {
	if w := (max(at-f.begins, 1) - 1) / f.window; !f.filling || w > f.current {
		f.end()
		f.current, f.filling = w, true
	}
	f.last = max(f.last, at)
	bin := hist.Bin{Index: uint32(f.layout.Index(ns)), Count: 1}
	if f.spread && (f.all || ns/1e6 >= f.window) {
		f.finished = append(f.finished, align.Row{Start: at, End: at, Direction: d, Layout: f.layout, Bins: []hist.Bin{bin}, Total: 1})
		return
	}
	f.bins[d].AddAt(int(bin.Index), 1)
}

// end makes rows of the window that was filled.
func (f *rawFill) end() {
	if !f.filling {
		return
	}
	f.filling = false
	start := f.begins + f.current*f.window
	for d := range f.bins {
		if row := align.NewRow(start, start+f.window, fiolog.Direction(d), &f.bins[d]); row.Total > 0 {
			f.finished = append(f.finished, row)
			f.bins[d].Reset()
		}
	}
}
