package pipeline

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// logFile reads the rows of one job in a log. The plan opens it for its first rows, and reading continues after these.
type logFile struct {
	log    cbt.Log
	file   io.Closer
	in     *fiolog.Reader
	ahead  []logRow // rows that were read ahead and not returned yet
	failed error    // why the log cannot be opened
	ended  bool
	ofAll  bool // next returns the rows of later jobs, too
}

// logRow is a row, or the error in its place.
type logRow struct {
	*fiolog.Record
	err error
}

// readers caches the readers of closed logs, because their buffers are larger than most logs.
var readers = sync.Pool{New: func() any { return &fiolog.Reader{} }}

// openLogs is the number of open logs. A log beyond manyLogs is read with less memory.
var openLogs atomic.Int64

const manyLogs = 500

// openLog opens a log and skips to the rows of its job. If opening fails, reading returns the error.
func openLog(log *plan.Log) *logFile {
	l := &logFile{log: log.Log}
	in, err := log.File.Open()
	if err != nil {
		l.failed = err
		return l
	}
	l.file, l.in = in, readers.Get().(*fiolog.Reader)
	l.in.Reset(in, log.File.Name(), log.Kind)
	l.in.SetHint(log.Hint)
	if openLogs.Add(1) > manyLogs {
		l.in.SaveMemory()
	}
	for skip := log.Segment; skip > 0; {
		rec, err, ok := l.read()
		if !ok {
			break
		}
		if err == nil && rec.NewJob {
			if skip--; skip == 0 {
				first := rec.Clone()
				first.NewJob = false
				l.ahead = append(l.ahead, logRow{first, nil})
			}
		}
	}
	return l
}

// read returns the next row of the file, or the error in its place. It returns false at the end, where it closes the
// file.
func (l *logFile) read() (*fiolog.Record, error, bool) {
	if err := l.failed; err != nil {
		l.failed, l.ended = nil, true
		return nil, err, true
	}
	if l.ended {
		return nil, nil, false
	}
	rec, err := l.in.Next()
	if err == nil || errors.As(err, new(*fiolog.SyntaxError)) {
		return rec, err, true
	}
	l.close()
	return nil, err, !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}

// readAhead reads until n rows are ahead or the job ends.
func (l *logFile) readAhead(n int) []logRow {
	rows := 0
	for _, e := range l.ahead {
		if e.err == nil {
			rows++
		}
	}
	for rows < n {
		rec, err, ok := l.read()
		if !ok {
			break
		}
		if err == nil {
			rec = rec.Clone()
			rows++
		}
		l.ahead = append(l.ahead, logRow{rec, err})
		if err == nil && rec.NewJob {
			break
		}
	}
	return l.ahead
}

// look sets what the first rows of a log show. They are enough to measure the interval and when rows are due. A log that is
// only damaged can be read.
func (l *logFile) look(to *plan.Log) {
	const few = 16
	for _, row := range l.readAhead(few) {
		switch {
		case row.err == nil && row.NewJob:
			return
		case row.err == nil:
			if len(to.Rows) == 0 {
				to.Head, to.Damage = plan.Head{HasRows: true, IsZero: row.Total == 0, First: row.Time, Layout: row.Layout}, nil
			}
			to.Rows = append(to.Rows, row.Record)
		case len(to.Rows) > 0:
		case errors.As(row.err, new(*fiolog.SyntaxError)):
			to.IsJunk = true
		default:
			to.Damage = row.err
		}
	}
}

// following returns the number of requests in the next row of a direction. It returns false if there is no such row, or
// none for long. A row that was read last must have been cloned.
func (l *logFile) following(d fiolog.Direction) (requests uint64, ok bool) {
	const long = 100 // rows
	for n := 1; n < long; n++ {
		ahead := l.readAhead(n)
		if len(ahead) < n {
			return 0, false
		}
		switch next := ahead[n-1]; {
		case next.err != nil: // a damaged row may be of this direction, after a stall
			return 1, true
		case next.NewJob:
			return 0, false
		case next.Direction == d:
			return next.Total, true
		}
	}
	return 0, false
}

// errAgain marks the place in a log of one job where the rows of a second job begin.
var errAgain = errors.New("times begin again, as if another log followed: this row and all after it are skipped; " +
	"keep each log of fio in a file of its own")

// next returns the next row of the job, or the error in its place. A row is valid until the next call. It returns false at
// the end.
func (l *logFile) next() (rec *fiolog.Record, err error, ok bool) {
	if len(l.ahead) > 0 {
		rec, err, ok = l.ahead[0].Record, l.ahead[0].err, true
		l.ahead = l.ahead[1:]
	} else {
		rec, err, ok = l.read()
	}
	if !ok || err != nil || !rec.NewJob || l.ofAll {
		return rec, err, ok
	}
	if l.log.Job > 0 {
		err = l.wrong(errAgain, rec)
	}
	l.ahead = nil
	l.close()
	return nil, err, err != nil
}

// close ends reading, at the end or before.
func (l *logFile) close() {
	l.ended = true
	if l.file != nil {
		l.file.Close()
		openLogs.Add(-1)
		l.in.Reset(nil, "", l.log.Kind)
		readers.Put(l.in)
	}
	l.file, l.in = nil, nil
}

// rowError is the error of a row with impossible values, whose text is correct.
type rowError struct{ error }

// Unwrap returns what is wrong.
func (e rowError) Unwrap() error { return e.error }

// wrong adds the place of a row to an error.
func (l *logFile) wrong(err error, rec *fiolog.Record) error {
	return rowError{fmt.Errorf("%s:%d:1: %w", l.log.File.Name(), rec.Line, err)}
}

// rowReader reads the rows of a job one after another, in the time of the windows, and counts them: the rows of its
// source and, if the job alone has a part in it, the tail that fio did not log. With a group it reads only the tail of
// these jobs together. One goroutine at a time uses it.
type rowReader struct {
	*runReader
	job   *plan.Job
	of    *tally
	log   *logFile // nil if the rows are not of a log
	undo  plan.Undoubler
	group *plan.Entry // of jobs with group_reporting, whose rows other readers have read

	queue []align.Row // read and not returned yet; valid until more rows are read
	ended bool        // no rows follow those of the queue
}

// priceOfBin is the price of a bin in a window, for [source.Budget].
const priceOfBin = 8

// next returns the next row, which is valid until the next call. It returns false at the end. After an error later rows
// follow.
func (in *rowReader) next() (align.Row, bool) {
	j, of := in.job, in.of
	for len(in.queue) == 0 {
		if in.ended {
			if in.group == nil && j.Source != plan.FromNothing {
				of.ended = true
			}
			return align.Row{}, false
		}
		var err error
		ok := false
		switch {
		case in.group != nil:
			in.queue, in.ended = in.tail(in.group), true
			continue
		case j.Source == plan.FromHist:
			in.queue, err, ok = in.histogramRow()
		case j.Source == plan.FromRaw:
			in.queue, err, ok = of.raw.rows(j, in.log)
		case j.Source == plan.FromReports:
			in.queue, err, ok = of.reports.rows()
		default:
			if e := j.Entry; e != nil && len(in.Averages) == 0 && j == e.Jobs[0] && !e.ReadsLogs() {
				in.countMissing(e)
			}
		}
		if err != nil {
			in.problems.skip("%w", err)
			if !isRepeated(err) {
				bad := (*fiolog.SyntaxError)(nil)
				isBad := errors.As(err, &bad)
				of.damaged, of.cut = true, of.cut || isBad && bad.Partial || !isBad && !errors.As(err, new(rowError))
			}
		}
		for i := range in.queue {
			row, price := &in.queue[i], int64(0)
			// Requests in flight are added to each window of their time.
			for b := len(row.Bins) - 1; b >= 0; b-- {
				low, _ := row.Layout.Bounds(int(row.Bins[b].Index))
				windows := min(low, 600e9) / 1e6 / max(in.Window, 1) // align looks no further back
				if windows == 0 {
					break
				}
				price += priceOfBin * windows
			}
			if in.budget.Spend(price) != nil {
				in.queue, in.ended = nil, true // and no window is passed on
				return align.Row{}, false
			}
			row.Whole = j.Source == plan.FromReports && (in.follows || of.reports.isLate(row))
			if row.Total > 0 {
				of.add(row, len(in.Entries) > 0)
				if j.Source != plan.FromHist {
					of.split.Pass(row.End, row.Direction)
				}
			}
		}
		if in.ended = !ok; in.ended && j.Entry != nil && len(j.Entry.Jobs) == 1 && j.ReadsLog() {
			in.queue = append(in.queue, in.tail(j.Entry)...)
		}
	}
	row := in.queue[0]
	in.queue = in.queue[1:]
	row.Start += j.Offset + in.Shift
	row.End += j.Offset + in.Shift
	return row, true
}

// isRepeated reports whether an error says that a row is there twice.
func isRepeated(err error) bool {
	var bad *fiolog.SyntaxError
	return errors.As(err, &bad) && bad.Repeated
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
		const fastest = 100_000 // requests of a job in a millisecond
		took := max(j.Interval, 1000)
		if j.Interval == 0 {
			took = max(rec.Time-j.Origin, took) // of the only row
		}
		switch {
		case rec.Total > hist.MaxCount:
			err = fmt.Errorf("%d requests in a row: %w", rec.Total, hist.ErrTooLarge)
		case rec.Total/fastest > uint64(took):
			err = fmt.Errorf("%d requests in a row of %d ms, more than any job can make", rec.Total, took)
		}
		if err != nil && j.Entry == nil { // no report says which version of fio it was
			err = fmt.Errorf("%w; fio 3.6 to 3.16 write such numbers: add its report", err)
		}
		if err == nil {
			err = j.CheckTime(rec.Time)
		}
		if err == nil {
			err = in.undo.Row(rec)
		}
		if err != nil {
			err = l.wrong(err, rec)
		}
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
		err = l.wrong(fmt.Errorf("%s rows are missing before this one: fio writes one every %d ms, and what is late at the next completion; "+
			"windows lack the requests of the missing rows, so their rates are too low there; copy the log again", rec.Direction, j.Interval), rec)
	}
	return split.Split(rec.Time-j.Origin, rec.Direction, rec.Layout, rec.Bins, rec.Total), err, true
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
	current  int64 // the window that is filled, -1 before the first
	last     int64 // the latest completion of all
	bins     [fiolog.Directions]hist.Histogram
	finished []align.Row
}

// newRawFill returns a rawFill for the log of a job and the windows of a plan.
func newRawFill(p *input, j *plan.Job) *rawFill {
	f := &rawFill{
		window: p.Window, begins: -j.Offset - p.Shift, unit: plan.Nanoseconds(j.Unit), layout: j.Layout,
		spread: p.opt.Weighting == align.InFlight, all: p.opt.SpreadAll, current: -1,
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
			if err = j.CheckTime(rec.Time); err != nil {
				err = l.wrong(err, rec)
			}
		}
		if err != nil {
			return nil, err, true
		}
		d, at, ns := rec.Direction, rec.Time-j.Origin, rec.Value*f.unit
		if w := (max(at-f.begins, 1) - 1) / f.window; w > f.current {
			f.end()
			f.current = w
		}
		f.last = max(f.last, at)
		bin := hist.Bin{Index: uint32(f.layout.Index(ns)), Count: 1}
		if f.spread && (f.all || ns/1e6 >= f.window) {
			f.finished = append(f.finished, align.Row{Start: at, End: at, Direction: d, Layout: f.layout, Bins: []hist.Bin{bin}, Total: 1})
		} else {
			f.bins[d].AddAt(int(bin.Index), 1)
		}
	}
	return f.finished, nil, true
}

// end makes rows of the window that was filled.
func (f *rawFill) end() {
	start := f.begins + f.current*f.window
	for d := range f.bins {
		if row := align.NewRow(start, start+f.window, fiolog.Direction(d), &f.bins[d]); row.Total > 0 {
			f.finished = append(f.finished, row)
			f.bins[d].Reset()
		}
	}
}
