package pipeline

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// histLog reads the rows of one job in a histogram log. It is opened while the run is
// planned, which needs its first rows, and read on from there.
type histLog struct {
	log     cbt.Log
	segment int // which job of a log of several (per_job_logs=0), from 0
	hint    hist.Hint
	readers *logReaders
	file    io.Closer
	in      *fiolog.Reader
	ahead   []histEvent // read before their turn
	ended   bool
}

// histEvent is a row, or what was wrong where one should be.
type histEvent struct {
	*fiolog.Record
	err error
}

// openHist opens a log and goes to the rows of one of its jobs. What cannot be opened has
// an error as its only event.
func openHist(log cbt.Log, segment int, hint hist.Hint, readers *logReaders) *histLog {
	h := &histLog{log: log, segment: max(segment, 0), hint: hint, readers: readers}
	in, err := log.File.Open()
	if err != nil {
		h.ahead, h.ended = []histEvent{{err: err}}, true
		return h
	}
	h.file, h.in = in, readers.open(in, log.File.Name(), hint)
	for skip := h.segment; skip > 0; {
		e, ok := h.read()
		switch {
		case !ok:
			return h
		case e.err == nil && e.NewJob:
			if skip--; skip == 0 {
				first := e.Clone()
				first.NewJob = false
				h.ahead = append(h.ahead, histEvent{Record: first})
			}
		}
	}
	return h
}

// read is the next event of the file; false at the end.
func (h *histLog) read() (histEvent, bool) {
	if h.ended {
		return histEvent{}, false
	}
	rec, err := h.in.Next()
	switch {
	case err == nil:
		return histEvent{Record: rec}, true
	case errors.As(err, new(*fiolog.SyntaxError)):
		return histEvent{err: err}, true
	}
	h.close()
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return histEvent{}, false
	}
	return histEvent{err: err}, true
}

// look reads until there are n rows ahead, or the job ends.
func (h *histLog) look(n int) []histEvent {
	rows := 0
	for _, e := range h.ahead {
		if e.err == nil {
			rows++
		}
	}
	for rows < n {
		e, ok := h.read()
		if !ok {
			break
		}
		if e.err == nil {
			e.Record = e.Clone()
			rows++
		}
		h.ahead = append(h.ahead, e)
		if e.err == nil && e.NewJob {
			break
		}
	}
	return h.ahead
}

// head is what the first rows of a log say.
type head struct {
	hasRows bool
	layout  hist.Layout
	first   int64 // time of the first row, as written
	err     error // why the log cannot be read at all; nil where it is only damaged
}

// head looks at the first row.
func (h *histLog) head() head {
	var out head
	for _, e := range h.look(1) {
		switch {
		case e.err == nil && !e.NewJob:
			return head{hasRows: true, first: e.Time, layout: e.Layout}
		case e.err != nil && !errors.As(e.err, new(*fiolog.SyntaxError)):
			out.err = e.err
		}
	}
	return out
}

// few is how many rows tell a log's interval and when its rows are due.
const few = 16

// late is by how many milliseconds the first row came later than the next ones. Rows are due
// at multiples of the interval, and none comes early: one that waits for a slow request
// comes late. Most do not, so that the middle row is least late of all after when they were due.
func (h *histLog) late(interval int64) int64 {
	if interval <= 0 {
		return 0
	}
	var at []int64 // times after the first row, modulo the interval
	first := int64(-1)
	for _, e := range h.look(few) {
		if e.err != nil {
			continue
		}
		if e.NewJob {
			break
		}
		if first < 0 {
			first = e.Time
		}
		at = append(at, ((e.Time-first)%interval+interval)%interval)
	}
	due, least := int64(0), interval/4 // beyond it, rows come at all times
	for _, r := range at {
		behind := make([]int64, len(at))
		for i, t := range at {
			behind[i] = (t - r + interval) % interval
		}
		slices.Sort(behind)
		if middle := behind[len(behind)/2]; middle < least {
			due, least = r, middle
		}
	}
	if due < interval/4 { // the first row came a little before most
		return 0
	}
	return interval - due
}

// measure is the middle one of the times between the first few rows of a direction: the
// log's interval in milliseconds, where nothing else says it; 0 if there are too few rows.
func (h *histLog) measure() int64 {
	var steps []int64
	var last [fiolog.Directions]int64
	for _, e := range h.look(few) {
		if e.err != nil {
			continue
		}
		if e.NewJob {
			break
		}
		if last[e.Direction] > 0 {
			steps = append(steps, e.Time-last[e.Direction])
		}
		last[e.Direction] = e.Time
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	const unit = 10 // intervals are multiples of it, and rows come a little late
	return max((steps[len(steps)/2]+unit/2)/unit*unit, 1)
}

// records are the job's rows as they are written, each valid until the next, and what is
// wrong between them.
func (h *histLog) records() iter.Seq2[*fiolog.Record, error] {
	return func(yield func(*fiolog.Record, error) bool) {
		defer h.close()
		for {
			var e histEvent
			if len(h.ahead) > 0 {
				e, h.ahead = h.ahead[0], h.ahead[1:]
			} else {
				var ok bool
				if e, ok = h.read(); !ok {
					return
				}
			}
			if e.err == nil && e.NewJob || !yield(e.Record, e.err) {
				return
			}
		}
	}
}

// close ends reading, at the end or before.
func (h *histLog) close() {
	h.ended = true
	if h.file != nil {
		h.file.Close()
		h.readers.done(h.in)
	}
	h.file, h.in = nil, nil
}

// histRows are the rows of a job's histogram log, in milliseconds since the job's start.
// An error is a row that was left out, and the rows behind it follow.
func histRows(job *job, h *histLog, split *align.Splitter) iter.Seq2[align.Row, error] {
	return func(yield func(align.Row, error) bool) {
		undo := newUndoubler(job.lag)
		for rec, err := range h.records() {
			if err == nil {
				err = job.check(rec)
			}
			if err == nil {
				err = undo.row(rec)
			}
			if err != nil {
				split.Lose()
				if !yield(align.Row{}, at(err, h.log, rec)) {
					return
				}
				continue
			}
			if len(rec.Bins) == 0 {
				continue
			}
			for _, row := range split.Split(rec.Time-job.origin, rec.Direction, rec.Layout, rec.Bins, rec.Total) {
				if !yield(row, nil) {
					return
				}
			}
		}
	}
}

// check is what is wrong with a row that is well written but cannot be true.
func (j *job) check(rec *fiolog.Record) error {
	if rec.Total > hist.MaxCount {
		return fmt.Errorf("%d requests in a row: %w", rec.Total, hist.ErrTooLarge)
	}
	return j.checkTime(rec.Time)
}

// at adds the place of a row to what is wrong with it.
func at(err error, log cbt.Log, rec *fiolog.Record) error {
	if rec == nil {
		return err
	}
	return leftOut(err, log, rec.Line)
}

// leftOut adds the place of a row to what is wrong with it; nil stays nil.
func leftOut(err error, log cbt.Log, line int) error {
	if err == nil {
		return nil
	}
	return rowError{fmt.Errorf("%s:%d:1: %w", log.File.Name(), line, err)}
}

// rowError is a row that is well written but cannot be true.
type rowError struct{ error }

// Unwrap gives what is wrong.
func (e rowError) Unwrap() error { return e.error }
