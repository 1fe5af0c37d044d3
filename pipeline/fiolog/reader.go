package fiolog

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/fio2es/fio2es/hist"
)

// Record is one row of a log. It belongs to the [Reader] and is valid until the next call. [Record.Clone] makes a copy.
//
// A row of a histogram log has the requests of one job and direction that completed within one interval. A row of any
// other log has one completion, or one average in logs with log_avg_msec and in bw and iops logs.
type Record struct {
	// Time is in milliseconds, as written: since the start of the job, or since 1970 with log_unix_epoch. It is the
	// time of the completion, or the END of an interval. The interval begins at the previous row of the same job and
	// direction. The first interval begins with the job.
	Time int64

	Direction Direction

	// BlockSize is in bytes; 0 for averages. In a histogram log it is the size of the one request whose completion
	// ended the interval. It says nothing about the other requests.
	BlockSize uint64

	Line int // in the file, 1-based

	// NewJob marks the first row of each job after the first, in a file of several jobs (per_job_logs=0). The file does
	// not name the jobs.
	NewJob bool

	// Fields of histogram logs.
	Bins   []hist.Bin  // the bins that are not zero, ascending; none for an idle interval
	Total  uint64      // the sum of their counts, at most 2^64-1
	Layout hist.Layout // the same for all rows of a file

	// Fields of all other logs.
	Value    int64 // latency in ns (fio 2: in us), or KiB/s in bw and requests/s in iops logs
	Averaged bool  // Value is the mean, and the row has the maximum, too (log_window_value=both)

	// IsFio3 means that the row has the columns of fio 3.20 or later. Without it, fio 2 may have written the row.
	IsFio3 bool
}

// Clone returns a copy that shares no memory with the reader.
func (r *Record) Clone() *Record {
	c := *r
	c.Bins = append([]hist.Bin(nil), r.Bins...)
	return &c
}

const (
	// patience is how many bad lines before the first row mean that a file is not a log.
	patience = 8

	// patientBytes is the same limit in bytes, for a file that is a single line without an end.
	patientBytes = 1 << 20

	// In a log of another kind than histograms, the next job begins where a time falls by leastRawFall or more, to
	// within rawStart of the first time. Both are milliseconds. Smaller falls are rows out of order, and jobs are
	// longer.
	leastRawFall = 1000
	rawStart     = 1000
)

// Reader reads the rows of one log. It is not safe for concurrent use.
type Reader struct {
	in      lines
	kind    Kind
	rec     Record
	row     row
	bins    *binBuffer             // of histogram logs; nil between rows
	kept    [Directions][]hist.Bin // of the last row of each direction
	order   order
	hint    hist.Hint
	layout  fileLayout
	rows    int64 // returned
	skipped int64 // reported as a *SyntaxError
	started bool
	err     error // final

	start, newest int64 // the first and the latest time of the job, in other logs than histogram logs
}

// NewReader returns a reader of a log of a kind. name is the name for errors.
func NewReader(src io.Reader, name string, kind Kind) *Reader {
	r := &Reader{}
	r.Reset(src, name, kind)
	return r
}

// Reset makes the reader read another log with the same memory.
func (r *Reader) Reset(src io.Reader, name string, kind Kind) {
	*r = Reader{in: lines{src: src, name: name, buf: r.in.buf, usual: maxBuffer}, kind: kind, kept: r.kept}
}

// binBuffers are shared by all readers, because one has 64 KiB and most rows have few bins.
var binBuffers = sync.Pool{New: func() any { return new(binBuffer) }}

// SaveMemory makes the reader use about 30 KiB instead of 130. Reading takes a tenth more time. Call it before the
// first row is read.
func (r *Reader) SaveMemory() { r.in.usual = smallBuffer }

// SetHint sets what is known of the layout of a histogram log besides its columns: from fio's report ([Report.Hint]) or
// from the user. Call it before the first row is read.
func (r *Reader) SetHint(h hist.Hint) { r.hint = h }

// Next returns the next row. A [*SyntaxError] means that a line is skipped: call Next again for the lines after it. Any
// other error is final: io.EOF at the end, [ErrNotLog], [ErrStoredCompressed], a [*hist.LayoutError] if the columns fit
// no layout or several, or the error of the source.
func (r *Reader) Next() (*Record, error) {
	if !r.kind.IsHistogram() {
		return r.next()
	}
	r.bins = binBuffers.Get().(*binBuffer)
	rec, err := r.next()
	if rec != nil {
		kept := &r.kept[rec.Direction]
		*kept = append((*kept)[:0], rec.Bins...)
		rec.Bins = *kept
	}
	binBuffers.Put(r.bins)
	r.bins = nil
	return rec, err
}

// next is Next with a buffer for bins.
func (r *Reader) next() (*Record, error) {
	if r.err == nil && !r.started {
		r.started = true
		r.err = r.in.begin(r.kind)
	}
	for r.err == nil {
		var rec *Record
		var bad *SyntaxError
		if n := r.parseFast(); n > 0 && !r.kind.IsHistogram() {
			r.in.consume(n)
			return r.acceptRaw(), nil
		} else if n > 0 {
			r.in.consume(n)
			rec, bad = r.accept(true, n)
		} else if r.in.needsMore() && r.in.fill() {
			continue
		} else {
			rec, bad = r.slow()
		}
		switch {
		case bad != nil:
			return nil, r.skip(bad)
		case rec != nil:
			return rec, nil
		}
	}
	return nil, r.err
}

// parseFast parses a row in fio's own form and returns its length, or 0.
func (r *Reader) parseFast() int {
	if r.kind.IsHistogram() {
		return parseFast(r.in.rest(), r.bins, &r.row)
	}
	return parseRawFast(r.in.rest(), &r.rec)
}

// slow reads a line in any other form. For a blank line and at the end (r.err) it returns neither a row nor an error.
func (r *Reader) slow() (*Record, *SyntaxError) {
	line, long, err := r.in.next()
	switch {
	case err != nil:
		r.err = err
		return nil, nil
	case long && r.rows == 0 && r.in.bytes > patientBytes:
		r.err = fmt.Errorf("%s: %w: it begins with %s", r.in.name, ErrNotLog, quoted(line))
		return nil, nil
	case long && bytes.Contains(line, zeroBytes):
		zeros := bytes.Index(line, zeroBytes)
		return nil, r.bad(zeros+1, quoted(line[zeros:]), "a count", false)
	case long:
		got := fmt.Sprintf("more than %d bytes that begin with %s", maxLine, quoted(line))
		return nil, r.bad(1, got, "a row", false)
	case len(bytes.TrimSpace(line)) == 0:
		return nil, nil
	}
	whole, text := line[len(line)-1] == '\n', bytes.TrimRight(line, " \t\r\n")
	var f fault
	var ok bool
	if r.kind.IsHistogram() {
		f, ok = parseSlow(text, r.bins, &r.row)
		if r.rows == 0 && isAddressRow(line) {
			r.err = fmt.Errorf("%s:%d: %w: column 2 is an address of fio's memory, where a histogram was; its "+
				"counts are lost",
				r.in.name, r.in.line, ErrStoredCompressed)
			return nil, nil
		}
	} else {
		f, ok = parseRaw(text, &r.rec)
		if !whole && (ok || f.column > len(text)) { // any number may be cut short
			return nil, r.bad(len(text)+1, "the end of the file", "the end of the line", true)
		}
	}
	switch {
	case !ok && !whole && f.column > len(text):
		return nil, r.bad(len(text)+1, "the end of the file", f.want, true)
	case !ok:
		return nil, r.bad(f.column, f.got, f.want, !whole)
	}
	return r.accept(whole, len(text)+1)
}

// accept makes a record of a row with good numbers. If the row is incomplete (not whole), it may refuse it. end is the
// column of the line's end.
func (r *Reader) accept(whole bool, end int) (*Record, *SyntaxError) {
	if !r.kind.IsHistogram() {
		return r.acceptRaw(), nil
	}
	if !whole || !r.layout.known || r.row.columns != r.layout.columns {
		if bad := r.checkColumns(whole, end); bad != nil || r.err != nil {
			return nil, bad
		}
	}
	if r.hint.Half {
		r.row.dropHalf(r.bins, r.layout.Half())
	}
	if used := r.row.used; used > 0 && int(r.bins[used-1].Index) >= r.layout.real {
		return nil, r.bad(end, fmt.Sprintf("requests in bin %d of %s", r.bins[used-1].Index, r.layout.Layout),
			"none at latencies of 292 years: is the number of groups right?", false)
	}
	t, d := int64(r.row.time), Direction(r.row.direction)
	if r.isRepeated(t, d) {
		twice := r.bad(1, fmt.Sprintf("\"%d\"", t), "another row than the one before, which is the same", false)
		twice.Repeated = true
		return nil, twice
	}
	newJob, want := r.order.check(t, d)
	if want != "" {
		return nil, r.bad(1, fmt.Sprintf("\"%d\"", t), want, false)
	}
	r.rows++
	r.rec = Record{
		Time: t, Direction: d, BlockSize: r.row.blockSize,
		Bins: r.bins[:r.row.used], Total: r.row.total, Layout: r.layout.Layout, Line: r.in.line, NewJob: newJob,
	}
	return &r.rec, nil
}

// isRepeated reports whether a row is the same as the row before of its direction. fio writes several rows of a
// direction with one time only after a stall. Such rows have one request each.
func (r *Reader) isRepeated(t int64, d Direction) bool {
	last := &r.order.last[d]
	return last.rows > 0 && t == last.last && r.row.total > 1 && slices.Equal(r.kept[d], r.bins[:r.row.used])
}

// acceptRaw completes the record of a row of a log without histograms.
func (r *Reader) acceptRaw() *Record {
	t := r.rec.Time
	r.rec.Line = r.in.line
	r.rec.NewJob = r.rows > 0 && r.newest-t >= leastRawFall && t <= r.start+rawStart
	if r.rows == 0 || r.rec.NewJob {
		r.start, r.newest = t, t
	}
	r.newest = max(r.newest, t)
	r.rows++
	return &r.rec
}

func (r *Reader) bad(column int, got, want string, partial bool) *SyntaxError {
	return &SyntaxError{File: r.in.name, Line: r.in.line, Column: column, Got: got, Want: want, Partial: partial}
}

// skip counts a bad line. It fails if a file has only bad lines.
func (r *Reader) skip(bad *SyntaxError) error {
	r.skipped++
	if r.rows == 0 && r.skipped == patience {
		what := "a row"
		if r.kind.IsHistogram() {
			what = "a row of a histogram log"
		}
		r.err = fmt.Errorf("%v: %w: none of its first %d lines is %s", bad, ErrNotLog, patience, what)
	}
	return bad
}
