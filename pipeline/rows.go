package pipeline

import (
	"errors"
	"fmt"
	"iter"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// histRows iterates over the rows of a job's histogram log, in milliseconds since the job's
// start. An error stands for a row that is skipped, and later rows follow.
func histRows(j *plan.Job, l *logFile, split *align.Splitter) iter.Seq2[align.Row, error] {
	return func(yield func(align.Row, error) bool) {
		undo := plan.Undoubler{Lag: j.Lag}
		for rec, err := range l.records() {
			if err == nil {
				err = l.wrong(checkRow(j, rec), rec)
			}
			if err == nil {
				err = l.wrong(undo.Row(rec), rec)
			}
			if err != nil {
				if !isRepeated(err) {
					split.Gap()
				}
				if !yield(align.Row{}, err) {
					return
				}
				continue
			}
			if len(rec.Bins) == 0 {
				continue
			}
			next := func() (uint64, bool) {
				rec = rec.Clone() // before the next row is read
				return l.following(rec.Direction)
			}
			if split.Misses(rec.Time-j.Origin, rec.Direction, rec.Layout, rec.Bins, rec.Total, next) &&
				!yield(align.Row{}, l.wrong(fmt.Errorf(missedRows, rec.Direction, j.Interval), rec)) {
				return
			}
			for _, row := range split.Split(rec.Time-j.Origin, rec.Direction, rec.Layout, rec.Bins, rec.Total) {
				if !yield(row, nil) {
					return
				}
			}
		}
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

// rawRows iterates over the rows of a job's log of completions, in milliseconds since the
// job's start. An error stands for a row that is skipped, and later rows follow.
func rawRows(j *plan.Job, l *logFile, fill *rawFill) iter.Seq2[align.Row, error] {
	return func(yield func(align.Row, error) bool) {
		give := func() bool {
			for _, row := range fill.finished {
				if !yield(row, nil) {
					return false
				}
			}
			fill.finished = fill.finished[:0]
			return true
		}
		for rec, err := range l.records() {
			if err == nil {
				err = l.wrong(j.CheckTime(rec.Time), rec)
			}
			if err != nil {
				if !yield(align.Row{}, err) {
					return
				}
				continue
			}
			fill.add(rec.Direction, rec.Time-j.Origin, rec.Value*fill.unit)
			if len(fill.finished) > 0 && !give() {
				return
			}
		}
		fill.end()
		give()
	}
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
