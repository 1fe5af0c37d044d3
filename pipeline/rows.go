package pipeline

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// logFile reads the rows of one job in a log. The plan opens it for its first rows, and reading continues after these.
type logFile struct {
	log   cbt.Log
	file  io.Closer
	in    *fiolog.Reader // nil after the end
	ahead []logRow       // rows that were read ahead and not returned yet
	ofAll bool           // next returns the rows of later jobs, too
	count *atomic.Int64  // see [input]
}

// logRow is a row, or the error in its place.
type logRow struct {
	*fiolog.Record
	err error
}

// readers caches the readers of closed logs, because their buffers are larger than most logs.
var readers = sync.Pool{New: func() any { return &fiolog.Reader{} }}

// manyLogs is how many logs of an execution may be open before further ones are read with less memory.
const manyLogs = 500

// openLog opens a log and skips to the rows of its job. If opening fails, reading returns the error.
func (in *input) openLog(log *plan.Log) *logFile {
	l := &logFile{log: log.Log, count: in.open}
	file, err := log.File.Open()
	if err != nil {
		l.ahead = []logRow{{nil, err}}
		return l
	}
	l.file, l.in = file, readers.Get().(*fiolog.Reader)
	l.in.Reset(file, log.File.Name(), log.Kind)
	l.in.Hint = log.Hint
	if l.count.Add(1) > manyLogs {
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
	if l.in == nil {
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
	if l.in == nil {
		return
	}
	l.file.Close()
	l.count.Add(-1)
	l.in.Reset(nil, "", l.log.Kind)
	readers.Put(l.in)
	l.in = nil
}

// rowError is the error of a row with impossible values, whose text is correct.
type rowError struct{ error }

// Unwrap returns what is wrong.
func (e rowError) Unwrap() error { return e.error }

// wrong adds the place of a row to an error.
func (l *logFile) wrong(err error, rec *fiolog.Record) error {
	return rowError{fmt.Errorf("%s:%d:1: %w", l.log.File.Name(), rec.Line, err)}
}

// jobRows reads the rows of a job one after another, in the time of the windows, and counts them: the rows of its source
// and, if the job alone has a part in it, the tail that fio did not log. All results are made from the counts of all jobs
// after the last row. One goroutine at a time uses it.
type jobRows struct {
	*runReader
	job *plan.Job

	// The source: a log of histograms, a log of completions that are added up in raw, or periodic reports.
	log     *logFile
	undo    plan.Undoubler
	split   *align.Splitter
	raw     *rawFill
	reports *reportJob

	queue []align.Row // read and not returned yet; valid until more rows are read
	last  bool        // no rows follow those of the queue

	counts *account.Counts
}

// Prices of a row, for [source.Budget]: of a bin in a window, and of each document that the row's time or its count takes, which
// is as long as unpacking that many bytes.
const (
	priceOfBin      = 8
	priceOfDocument = 1 << 10
)

func (in *jobRows) price(row *align.Row) (price int64) {
	window := max(in.Window, 1)
	if row.Total > 0 {
		documents := (row.End-row.Start)/window + int64(row.Total/mapping.MaxCount)
		price = priceOfDocument * documents * int64(max(len(in.opt.Levels), 1))
	}
	// Requests in flight are added to each window of their time.
	for b := len(row.Bins) - 1; b >= 0; b-- {
		low, _ := row.Layout.Bounds(int(row.Bins[b].Index))
		windows := int64(min(low, 600e9)/1e6) / window // align looks no further back
		if windows == 0 {
			break
		}
		price += priceOfBin * windows
	}
	return price
}

func (in *jobRows) file() *evidence.File {
	if in.job.Source == plan.FromReports {
		return in.job.Entry.Out.File
	}
	return in.job.Log.File
}

// next returns the next row, which is valid until the next call. It returns false at the end. After an error later rows
// follow.
func (in *jobRows) next() (align.Row, bool) {
	j := in.job
	for len(in.queue) == 0 {
		if in.last {
			in.counts.Ended = j.Source != plan.FromNothing
			return align.Row{}, false
		}
		var err error
		ok := false
		switch j.Source {
		case plan.FromHist:
			in.queue, err, ok = in.histogramRow()
		case plan.FromRaw:
			in.queue, err, ok = in.rawRows()
		case plan.FromReports:
			in.queue, err, ok = in.reports.rows()
		}
		if err != nil {
			if j.Entry != nil && j.Source == plan.FromHist { // totals are those of its report
				in.problems.lack("%w", err)
			} else {
				in.problems.skip("%w", err)
			}
			bad := (*fiolog.SyntaxError)(nil)
			if isBad := errors.As(err, &bad); !isBad || !bad.Repeated { // a row that is there twice is not missing
				in.counts.Damaged, in.counts.Cut = true, in.counts.Cut || isBad && bad.Partial || !isBad && !errors.As(err, new(rowError))
				if len(in.queue) == 0 {
					in.split.Gap()
				}
			}
		}
		for i := range in.queue {
			row := &in.queue[i]
			if !in.isLive { // else the files that the scan found grow
				if f := in.file(); f != nil {
					if err := f.Budget().Spend(in.price(row)); err != nil {
						in.problems.skip("%s: a row of job %s: %w", f.Name(), j.Name(), err)
						in.queue, ok, in.counts.Damaged, in.counts.Cut = in.queue[:i], false, true, true
						break
					}
				}
			}
			if row.Total > 0 {
				in.counts.Add(row, j.Interval, len(in.Entries) > 0)
			}
		}
		if in.last = !ok; in.last {
			in.endRows()
			if j.Entry != nil && len(j.Entry.Jobs) == 1 && j.ReadsLog() {
				in.queue = append(in.queue, in.read.Entry(j.Entry).Tail...)
			}
		}
	}
	row := in.queue[0]
	in.queue = in.queue[1:]
	row.Start += j.Offset + in.Shift
	row.End += j.Offset + in.Shift
	return row, true
}

// endRows notes when the requests after the last rows completed.
func (in *jobRows) endRows() {
	for d := range fiolog.Direction(fiolog.WithSync) {
		rows := &in.counts.Directions[d]
		if rows.Tail = (align.Tail{From: rows.End}); in.job.Source == plan.FromHist {
			rows.Tail = in.split.Tail(d)
		}
	}
}

// histogramRow returns the rows that the next row of a histogram log becomes, or the error in its place. It returns false
// at the end of the job's rows.
func (in *jobRows) histogramRow() ([]align.Row, error, bool) {
	j, l, split := in.job, in.log, in.split
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
			err = fmt.Errorf("%d requests in a row: count above 2^53, more than any device can serve", rec.Total)
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
	if err != nil || len(rec.Bins) == 0 {
		return nil, err, true
	}
	following := func() (uint64, bool) {
		rec = rec.Clone() // before the next row is read
		return l.following(rec.Direction)
	}
	// Where fio itself was stopped until its run ended, the last row looks like one after missing rows. If rows were missing,
	// the report would have more requests.
	isAll := false
	if e := j.Entry; e != nil && len(e.Jobs) == 1 && e.Mixed == nil {
		isAll = int64(in.counts.Directions[rec.Direction].Requests+rec.Total) == e.Measured(&e.Directions[rec.Direction])
	}
	if !isAll && split.Misses(rec.Time-j.Origin, rec.Direction, rec.Layout, rec.Bins, rec.Total, following) {
		err = l.wrong(fmt.Errorf("%s rows are missing before this one: fio writes one every %d ms, and what is late at the next completion; "+
			"windows lack the requests of the missing rows, so their rates are too low there; if the log is a copy, compare it with the original",
			rec.Direction, j.Interval), rec)
	}
	return split.Split(rec.Time-j.Origin, rec.Direction, rec.Layout, rec.Bins, rec.Total), err, true
}

// rawFill adds up the requests of a log of completions. The time of each is known, so none is spread over windows by a
// guess. Requests that completed in the same window become one row. Requests in flight for longer than a window become
// separate rows.
type rawFill struct {
	current int64 // the window that is filled, -1 before the first
	bins    [fiolog.Directions]hist.Histogram
	rows    []align.Row // finished
}

// rawRows reads the log of completions until a row is made, and returns the rows, in milliseconds since the job's
// start, or the error in place of a completion. It returns false at the end.
func (in *jobRows) rawRows() ([]align.Row, error, bool) {
	j, f, l := in.job, in.raw, in.log
	unit, begins := plan.Nanoseconds(j.Unit), -j.Offset-in.Shift // of window 0, since the job's start
	finish := func() {
		start := begins + f.current*in.Window
		for d := range f.bins {
			if row := align.NewRow(start, start+in.Window, fiolog.Direction(d), &f.bins[d]); row.Total > 0 {
				f.rows = append(f.rows, row)
				f.bins[d].Reset()
			}
		}
	}
	f.rows = f.rows[:0]
	for len(f.rows) == 0 {
		rec, err, ok := l.next()
		if !ok {
			finish()
			return f.rows, nil, false
		}
		if err == nil {
			if err = j.CheckTime(rec.Time); err != nil {
				err = l.wrong(err, rec)
			}
		}
		if err != nil {
			return nil, err, true
		}
		d, at, ns := rec.Direction, rec.Time-j.Origin, rec.Value*unit
		if w := (max(at-begins, 1) - 1) / in.Window; w > f.current {
			finish()
			f.current = w
		}
		in.counts.Last = max(in.counts.Last, at, 1) // a job may end within a millisecond
		bin := hist.Bin{Index: uint32(j.Layout.Index(ns)), Count: 1}
		if in.opt.Weighting == align.InFlight && (in.opt.SpreadAll || ns/1e6 >= in.Window) {
			f.rows = append(f.rows, align.Row{Start: at, End: at, Direction: d, Layout: j.Layout, Bins: []hist.Bin{bin}, Total: 1})
		} else {
			f.bins[d].AddAt(int(bin.Index), 1)
		}
	}
	return f.rows, nil, true
}
