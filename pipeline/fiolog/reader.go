package fiolog

import (
	"bytes"
	"fmt"
	"io"

	"github.com/fio2es/fio2es/hist"
)

// Record is one row of a histogram log: the requests of one job and direction that
// completed within one interval. It belongs to the [Reader] and is valid until its
// next call; [Record.Clone] keeps it.
type Record struct {
	// Time is the END of the interval in milliseconds, as written: since the start of
	// the job, or since 1970 with log_unix_epoch. The interval begins at the previous
	// row of the same job and direction, or, for the first one, where the job does.
	Time int64

	Direction Direction

	// BlockSize is that, in bytes, of the one completion that ended the interval.
	// It says nothing about the other requests.
	BlockSize uint64

	Bins   []hist.Bin  // those that are not zero, ascending; none for an idle interval
	Total  uint64      // the sum of their counts, or 2^64-1 where that is more
	Layout hist.Layout // the same for all rows of a file
	Line   int         // in the file, 1-based

	// NewJob marks the first row of the second and each further job in a file of
	// several (per_job_logs=0). Nothing in the file names the jobs.
	NewJob bool
}

// Clone is a copy that shares nothing with the reader.
func (r *Record) Clone() *Record {
	c := *r
	c.Bins = append([]hist.Bin(nil), r.Bins...)
	return &c
}

// Stats counts what a reader has met so far.
type Stats struct {
	Rows    int64 // returned
	LeftOut int64 // reported as a *SyntaxError
	Bytes   int64 // read from the source
}

// Option changes how a reader works.
type Option func(*lines)

// BufferSize sets how many bytes are read at a time, 256 KiB by default. It can not
// be below 128 KiB, into which the longest possible line fits.
func BufferSize(n int) Option {
	return func(l *lines) { l.buf = make([]byte, max(n, minBuffer)) }
}

const (
	// patience is how many bad lines in front of the first row make a file no log.
	patience = 8

	// patientBytes is the same for a file that is a single line without an end.
	patientBytes = 1 << 20
)

// Reader reads the rows of one histogram log (PREFIX_clat_hist.J.log). It is not safe
// for concurrent use.
type Reader struct {
	in     lines
	rec    Record
	row    row
	bins   binBuffer
	order  order
	stats  Stats
	hint   hist.Hint
	layout struct {
		known bool
		hist.Layout
		columns int
		real    int // bins that can have requests
		line    int // the first that has it
	}
	started bool
	err     error // for good
}

// NewReader reads the log r. name is for errors.
func NewReader(r io.Reader, name string, opts ...Option) *Reader {
	rd := &Reader{}
	for _, o := range opts {
		o(&rd.in)
	}
	rd.Reset(r, name)
	return rd
}

// Reset begins another log, with the memory of the one before.
func (r *Reader) Reset(src io.Reader, name string) {
	size := len(r.in.buf)
	if size == 0 {
		size = defaultBuffer
	}
	r.in.reset(src, name, size)
	r.rec, r.order, r.stats, r.started, r.err = Record{}, order{}, Stats{}, false, nil
	r.layout.known, r.hint = false, hist.Hint{}
}

// SetHint says what is known of the log's layout beside its columns: from fio's report
// ([Report.Hint]) or from the user. It counts for the log that was begun last, and comes
// before its first row.
func (r *Reader) SetHint(h hist.Hint) { r.hint = h }

// Stats counts what has been read so far.
func (r *Reader) Stats() Stats {
	s := r.stats
	s.Bytes = r.in.bytes
	return s
}

// Next is the next row. A [*SyntaxError] is a line that was left out: call again to go
// on behind it. Any other error is final: io.EOF at the end, [ErrNotLog],
// [ErrStoredCompressed], a [*hist.LayoutError] where the columns do not show the layout, or
// what reading failed with.
func (r *Reader) Next() (*Record, error) {
	if r.err == nil && !r.started {
		r.started = true
		r.err = r.in.begin("fio wrote addresses of its memory there instead of the counts, which are lost")
	}
	for r.err == nil {
		n := parseFast(r.in.rest(), &r.bins, &r.row)
		if n == 0 && r.in.needsMore() && r.in.fill() {
			continue
		}
		var rec *Record
		var bad *SyntaxError
		if n > 0 {
			r.in.consume(n)
			rec, bad = r.accept(true, n)
		} else {
			rec, bad = r.slow()
		}
		switch {
		case bad != nil:
			return nil, r.leaveOut(bad)
		case rec != nil:
			return rec, nil
		}
	}
	return nil, r.err
}

// slow reads a line that is not in fio's very own form. Neither a row nor an error is
// a blank line, or the end (r.err).
func (r *Reader) slow() (*Record, *SyntaxError) {
	line, long, err := r.in.next()
	switch {
	case err != nil:
		r.err = err
		return nil, nil
	case long:
		if r.stats.Rows == 0 && r.in.bytes > patientBytes {
			r.err = fmt.Errorf("%s: %w: it begins with %s", r.in.name, ErrNotLog, quoted(line))
			return nil, nil
		}
		return nil, r.bad(1, fmt.Sprintf("more than %d bytes that begin with %s", maxLine, quoted(line)), "a row", false)
	case isEmpty(line):
		return nil, nil
	}
	whole := line[len(line)-1] == '\n'
	text := len(bytes.TrimRight(line, " \t\r\n"))
	f, ok := parseSlow(line, &r.bins, &r.row)
	switch {
	case r.stats.Rows == 0 && holdsAddress(line):
		r.err = fmt.Errorf("%s:%d: %w: column 2 is an address of fio's memory, where a histogram was; its counts are lost",
			r.in.name, r.in.line, ErrStoredCompressed)
		return nil, nil
	case !ok && !whole && f.column > text:
		return nil, r.bad(text+1, "the end of the file", f.want, true)
	case !ok:
		return nil, r.bad(f.column, f.got, f.want, !whole)
	}
	return r.accept(whole, text+1)
}

// accept makes a record of a row whose numbers are good, if all of it is. end is the
// column of the line's end.
func (r *Reader) accept(whole bool, end int) (*Record, *SyntaxError) {
	if !whole || !r.layout.known || r.row.columns != r.layout.columns {
		if bad := r.checkColumns(whole, end); bad != nil || r.err != nil {
			return nil, bad
		}
	}
	if used := r.row.used; used > 0 && int(r.bins[used-1].Index) >= r.layout.real {
		return nil, r.bad(end, fmt.Sprintf("requests in bin %d of %s", r.bins[used-1].Index, r.layout.Layout),
			"none at latencies of 292 years: is the number of groups right?", false)
	}
	t, d := int64(r.row.time), Direction(r.row.direction)
	newJob, want := r.order.check(t, d)
	if want != "" {
		return nil, r.bad(1, fmt.Sprintf("\"%d\"", t), want, false)
	}
	r.stats.Rows++
	r.rec = Record{
		Time: t, Direction: d, BlockSize: r.row.blockSize,
		Bins: r.bins[:r.row.used], Total: r.row.total, Layout: r.layout.Layout, Line: r.in.line, NewJob: newJob,
	}
	return &r.rec, nil
}

func (r *Reader) bad(column int, got, want string, partial bool) *SyntaxError {
	return &SyntaxError{File: r.in.name, Line: r.in.line, Column: column, Got: got, Want: want, Partial: partial}
}

// leaveOut counts a bad line, and gives up on a file that has nothing else.
func (r *Reader) leaveOut(bad *SyntaxError) error {
	r.stats.LeftOut++
	if r.stats.Rows == 0 && r.stats.LeftOut == patience {
		r.err = fmt.Errorf("%s: %w: none of its first %d lines is a row of a histogram log", r.in.name, ErrNotLog, patience)
	}
	return bad
}
