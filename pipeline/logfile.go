package pipeline

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// logFile reads the rows of one job in a log. The plan opens it for its first rows, and reading continues after these.
type logFile struct {
	log    cbt.Log
	file   io.Closer
	in     *fiolog.Reader
	ahead  []item[*fiolog.Record] // rows that were read ahead and not returned yet
	failed error                  // why the log cannot be opened
	ended  bool
}

// readers caches the readers of closed logs, because their buffers are larger than most logs.
var readers = sync.Pool{New: func() any { return &fiolog.Reader{} }}

// openLogs is the number of open logs. A log beyond manyLogs is read with less memory.
var openLogs atomic.Int64

const manyLogs = 500

// openLog opens a log and skips to the rows of one of its jobs, counted from 0. If opening fails, reading returns the
// error.
func openLog(log cbt.Log, segment int, hint hist.Hint) *logFile {
	l := &logFile{log: log}
	in, err := log.File.Open()
	if err != nil {
		l.failed = err
		return l
	}
	l.file, l.in = in, readers.Get().(*fiolog.Reader)
	l.in.Reset(in, log.File.Name(), log.Kind)
	l.in.SetHint(hint)
	if openLogs.Add(1) > manyLogs {
		l.in.SaveMemory()
	}
	for skip := segment; skip > 0; {
		rec, err, ok := l.read()
		if !ok {
			break
		}
		if err == nil && rec.NewJob {
			if skip--; skip == 0 {
				first := rec.Clone()
				first.NewJob = false
				l.ahead = append(l.ahead, item[*fiolog.Record]{value: first})
			}
		}
	}
	return l
}

// read returns the next row of the file, or the error in its place. It returns false at the end.
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
func (l *logFile) readAhead(n int) []item[*fiolog.Record] {
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
		l.ahead = append(l.ahead, item[*fiolog.Record]{rec, err})
		if err == nil && rec.NewJob {
			break
		}
	}
	return l.ahead
}

// head reads the first row. It returns an error if the log cannot be read at all, but not if it is only damaged.
func (l *logFile) head() (plan.Head, error) {
	var why error
	var none plan.Head
	for _, e := range l.readAhead(1) {
		switch {
		case e.err == nil && !e.value.NewJob:
			return plan.Head{HasRows: true, IsZero: e.value.Total == 0, First: e.value.Time, Layout: e.value.Layout}, nil
		case e.err != nil && !errors.As(e.err, new(*fiolog.SyntaxError)):
			why = e.err
		case e.err != nil:
			none.IsJunk = true
		}
	}
	return none, why
}

// firstRows returns the first rows of the job. They are enough to measure the interval and when rows are due.
func (l *logFile) firstRows() (rows plan.FirstRows) {
	const few = 16
	for _, e := range l.readAhead(few) {
		switch {
		case e.err != nil:
		case e.value.NewJob:
			return rows
		default:
			rows = append(rows, e.value)
		}
	}
	return rows
}

// nextOfFile returns the next row of the file from the job's first row on, or the error in its place. A row is valid
// until the next call. It returns false at the end, where it closes the file.
func (l *logFile) nextOfFile() (*fiolog.Record, error, bool) {
	if len(l.ahead) == 0 {
		return l.read()
	}
	next := l.ahead[0]
	l.ahead = l.ahead[1:]
	return next.value, next.err, true
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
		case next.value.NewJob:
			return 0, false
		case next.value.Direction == d:
			return next.value.Total, true
		}
	}
	return 0, false
}

// errAgain marks the place in a log of one job where the rows of a second job begin.
var errAgain = errors.New("times begin again, as if another log followed: this row and all after it are skipped; " +
	"keep each log of fio in a file of its own")

// next is nextOfFile for the rows of the job only.
func (l *logFile) next() (*fiolog.Record, error, bool) {
	rec, err, ok := l.nextOfFile()
	if !ok || err != nil || !rec.NewJob {
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

// lastTime returns the latest time of the rows of a job, as written. It skips rows for which check fails.
func (l *logFile) lastTime(check func(t int64) error) (last int64) {
	defer l.close()
	for {
		rec, err, ok := l.next()
		switch {
		case !ok:
			return last
		case errors.As(err, new(*fiolog.SyntaxError)):
		case err != nil:
			return last
		case check(rec.Time) == nil:
			last = max(last, rec.Time)
		}
	}
}

// item is a value, or the error in its place.
type item[T any] struct {
	value T
	err   error
}
