package fiolog

import (
	"bytes"
	"fmt"
	"io"
)

// RawRecord is one row of a log that is no histogram: of a completion in a clat, slat or
// lat log, or of an average in one of those with log_avg_msec, and in bw and iops logs. It
// belongs to the [RawReader] and is valid until its next call.
type RawRecord struct {
	Time      int64 // ms, of the completion or the END of what was averaged: since the job's start, or since 1970
	Value     int64 // latency in ns (fio 2: in us); KiB/s or requests/s in bw and iops logs
	Direction Direction
	BlockSize uint64 // bytes; 0 for averages
	Line      int    // 1-based

	// Averaged means that the row has both the mean and the maximum of an interval
	// (log_window_value=both), and Value is the mean. Rows of averages alone look like
	// those of requests: that log_avg_msec was set is in fio's JSON only.
	Averaged bool

	// NewJob marks the first row of the second and each further job in a file of
	// several: the time falls to where the file began.
	NewJob bool
}

const (
	rawStart      = 1000 // ms: a time within it of the file's first is a job's start
	leastRawFalls = 1000 // ms: rows may be a little out of order, jobs are longer
)

// RawReader reads the rows of a log of completions (PREFIX_clat.J.log). It is not safe
// for concurrent use.
type RawReader struct {
	in            lines
	rec           RawRecord
	stats         Stats
	started       bool
	start, newest int64 // the first and the latest time of the job
	err           error
}

// NewRawReader reads the log r. name is for errors.
func NewRawReader(r io.Reader, name string, opts ...Option) *RawReader {
	rd := &RawReader{}
	for _, o := range opts {
		o(&rd.in)
	}
	size := len(rd.in.buf)
	if size == 0 {
		size = defaultBuffer
	}
	rd.in.reset(r, name, size)
	return rd
}

// Stats counts what has been read so far.
func (r *RawReader) Stats() Stats {
	s := r.stats
	s.Bytes = r.in.bytes
	return s
}

// Next is the next row. A [*SyntaxError] is a line that was left out: call again to go
// on behind it. Any other error is final, as with [Reader.Next].
func (r *RawReader) Next() (*RawRecord, error) {
	if r.err == nil && !r.started {
		r.started = true
		r.err = r.in.begin("`fio --inflate-log` makes a text of it")
	}
	for r.err == nil {
		n := parseRawFast(r.in.rest(), &r.rec)
		if n > 0 {
			r.in.consume(n)
			r.accept(&r.rec)
			return &r.rec, nil
		}
		if r.in.needsMore() && r.in.fill() {
			continue
		}
		line, long, err := r.in.next()
		switch {
		case err != nil:
			r.err = err
			continue
		case long && r.stats.Rows == 0 && r.in.bytes > patientBytes:
			r.err = fmt.Errorf("%s: %w: it begins with %s", r.in.name, ErrNotLog, quoted(line))
			continue
		case long:
			got := fmt.Sprintf("more than %d bytes that begin with %s", maxLine, quoted(line))
			return nil, r.leaveOut(fault{1, got, "a row"}, false)
		}
		if isEmpty(line) {
			continue
		}
		whole, text := line[len(line)-1] == '\n', bytes.TrimRight(line, " \t\r\n")
		f, ok := parseRaw(text, &r.rec)
		switch {
		case ok && whole:
			r.accept(&r.rec)
			return &r.rec, nil
		case !whole && (ok || f.column > len(text)):
			// Any number may be the beginning of a longer one.
			return nil, r.leaveOut(fault{len(text) + 1, "the end of the file", "the end of the line"}, true)
		default:
			return nil, r.leaveOut(f, !whole)
		}
	}
	return nil, r.err
}

func (r *RawReader) accept(rec *RawRecord) {
	rec.Line = r.in.line
	if r.stats.Rows == 0 {
		r.start, r.newest = rec.Time, rec.Time
	}
	rec.NewJob = r.newest-rec.Time >= leastRawFalls && rec.Time <= r.start+rawStart
	if rec.NewJob {
		r.start, r.newest = rec.Time, rec.Time
	}
	r.newest = max(r.newest, rec.Time)
	r.stats.Rows++
}

func (r *RawReader) leaveOut(f fault, partial bool) error {
	r.stats.LeftOut++
	if r.stats.Rows == 0 && r.stats.LeftOut == patience {
		r.err = fmt.Errorf("%s: %w: none of its first %d lines is a row", r.in.name, ErrNotLog, patience)
	}
	return &SyntaxError{File: r.in.name, Line: r.in.line, Column: f.column, Got: f.got, Want: f.want, Partial: partial}
}
