package pipeline

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// logFile reads the rows of one job in a log. The plan opens it for its first rows, and reading continues after these.
type logFile struct {
	log   assign.Log
	file  io.Closer
	in    *fiolog.Reader // nil after the end
	ahead []logRow       // rows that were read ahead and not returned yet
	bins  []hist.Bin     // of the row that was returned last, if it was read ahead
	ofAll bool           // next returns the rows of later jobs, too
	count *atomic.Int64  // of the open logs of the execution
}

// logRow is a row, or the error in its place.
type logRow struct {
	*fiolog.Packed
	err error
}

// readers caches the readers of closed logs, because their buffers are larger than most logs.
var readers = sync.Pool{New: func() any { return &fiolog.Reader{} }}

// smallLog is the size in bytes of the largest histogram log that is read whole when it is looked at. Packed, its rows take about a tenth of
// that, which is less than the buffers of an open log.
const smallLog = 256 << 10

// manyLogs is how many logs of an execution may be open before further ones are read with less memory.
const manyLogs = 500

// openLog opens a log and skips to the rows of its job. If opening fails, reading returns the error. count is how many logs of the
// execution are open.
func openLog(log *assign.JobLog, count *atomic.Int64) *logFile {
	l := &logFile{log: log.Log, count: count}
	open := log.File.Open
	if l.isSmall() {
		open = log.File.OpenAll
	}
	file, err := open()
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
				first := rec.Pack()
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
		row := logRow{err: err}
		if err == nil {
			row.Packed = rec.Pack()
			rows++
		}
		l.ahead = append(l.ahead, row)
		if err == nil && rec.NewJob {
			break
		}
	}
	return l.ahead
}

// isSmall reports whether the log is read whole. A log whose size is not known is not.
func (l *logFile) isSmall() bool {
	size := l.log.File.Size
	return l.log.Kind.IsHistogram() && 0 <= size && size <= smallLog
}

// look sets what the first rows of a log show. It reads a small log whole, so that thousands of logs need not be open at once.
func (l *logFile) look(to *assign.JobLog) {
	enough := evidence.EnoughRows
	if l.isSmall() {
		enough = smallLog // it has fewer rows than bytes, unless it grows
	}
	for _, row := range l.readAhead(enough) {
		switch {
		case row.err != nil:
			to.See(nil, row.err)
		case row.NewJob:
			return
		case len(to.Rows) == 0:
			to.See(row.Unpack(nil), nil)
		default:
			to.See(&row.Record, nil)
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
		if err, ok = l.ahead[0].err, true; err == nil {
			rec = l.ahead[0].Unpack(l.bins)
			l.bins = rec.Bins
		}
		l.ahead[0] = logRow{} // so that its memory is free before the last row is read
		l.ahead = l.ahead[1:]
	} else {
		l.bins = nil
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

// isMissing reports whether rows are missing because of an error. A row that is there twice is not.
func isMissing(err error) bool {
	bad, isBad := errors.AsType[*fiolog.SyntaxError](err)
	return err != nil && !(isBad && bad.Repeated)
}
