package pipeline

import (
	"errors"
	"io"
	"iter"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// rawLog reads the rows of one job in a log of completions (write_lat_log without
// log_avg_msec). It is opened while the run is planned, which needs its first row, and
// read on from there.
type rawLog struct {
	log   cbt.Log
	unit  int64 // nanoseconds of the log's values: 1, or 1000 of fio 2
	file  io.Closer
	in    *fiolog.RawReader
	ahead []rawEvent // read before their turn
	ended bool
}

// rawEvent is a row, or what was wrong where one should be.
type rawEvent struct {
	rec *fiolog.RawRecord
	err error
}

// openRaw opens a log, to be read with buffers of so many bytes, and goes to the rows of
// one of its jobs, from 0. What cannot be opened has an error as its only event.
func openRaw(log cbt.Log, segment, buffer int) *rawLog {
	r := &rawLog{log: log, unit: 1}
	in, err := log.File.Open()
	if err != nil {
		r.ahead, r.ended = []rawEvent{{err: err}}, true
		return r
	}
	r.file, r.in = in, fiolog.NewRawReader(in, log.File.Name(), fiolog.BufferSize(buffer))
	for skip := segment; skip > 0; {
		e, ok := r.read()
		if !ok {
			break
		}
		if e.err == nil && e.rec.NewJob {
			if skip--; skip == 0 {
				first := *e.rec
				first.NewJob = false
				r.ahead = append(r.ahead, rawEvent{rec: &first})
			}
		}
	}
	return r
}

// read is the next event of the file; false at the end.
func (r *rawLog) read() (rawEvent, bool) {
	if r.ended {
		return rawEvent{}, false
	}
	rec, err := r.in.Next()
	switch {
	case err == nil:
		return rawEvent{rec: rec}, true
	case errors.As(err, new(*fiolog.SyntaxError)):
		return rawEvent{err: err}, true
	}
	r.close()
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return rawEvent{}, false
	}
	return rawEvent{err: err}, true
}

// first is the time of the first row, as written; false if there is none.
func (r *rawLog) first() (int64, bool) {
	if len(r.ahead) > 0 && r.ahead[0].err == nil {
		return r.ahead[0].rec.Time, true
	}
	for {
		e, ok := r.read()
		if !ok {
			return 0, false
		}
		if e.err == nil {
			first := *e.rec
			r.ahead = append(r.ahead, rawEvent{rec: &first})
			return first.Time, true
		}
		r.ahead = append(r.ahead, e)
	}
}

// records are the rows, each valid until the next, and what is wrong between them.
func (r *rawLog) records() iter.Seq2[*fiolog.RawRecord, error] {
	return func(yield func(*fiolog.RawRecord, error) bool) {
		defer r.close()
		for {
			var e rawEvent
			if len(r.ahead) > 0 {
				e, r.ahead = r.ahead[0], r.ahead[1:]
			} else {
				var ok bool
				if e, ok = r.read(); !ok {
					return
				}
			}
			if e.err == nil && e.rec.NewJob || !yield(e.rec, e.err) {
				return
			}
		}
	}
}

// close ends reading, at the end or before.
func (r *rawLog) close() {
	r.ended = true
	if r.file != nil {
		r.file.Close()
	}
	r.file, r.in = nil, nil
}

// rawFill puts the requests of a log of completions together. Each is known, so nothing
// is spread: those that completed in a window are one row that fits it, and those in
// flight for longer than a window are rows of their own.
type rawFill struct {
	window   int64 // length, milliseconds
	begins   int64 // of window 0, since the job's start
	spread   bool  // requests in flight for longer than a window are rows of their own
	all      bool  // and so are all others
	current  int64 // the window that is filled
	last     int64 // the latest completion of all
	filling  bool
	bins     [fiolog.Directions]hist.Histogram
	finished []align.Row
}

// newRawFill is for the windows of a plan, in which a job has its place.
func newRawFill(p *plan, j *job) *rawFill {
	return &rawFill{
		window: p.window, begins: -j.offset - p.shift,
		spread: p.opt.Weighting == align.InFlight, all: p.opt.SpreadAll,
	}
}

// rawRows are the rows of a job's log of completions, in milliseconds since the job's
// start. An error is a row that was left out, and the rows behind it follow.
func rawRows(job *job, r *rawLog, fill *rawFill) iter.Seq2[align.Row, error] {
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
		for rec, err := range r.records() {
			if err == nil {
				err = leftOut(job.checkTime(rec.Time), r.log, rec.Line)
			}
			if err != nil {
				if !yield(align.Row{}, err) {
					return
				}
				continue
			}
			fill.add(rec, rec.Time-job.origin, rec.Value*r.unit)
			if len(fill.finished) > 0 && !give() {
				return
			}
		}
		fill.end()
		give()
	}
}

// add puts a request into the window in which it completed, or makes a row of it.
func (f *rawFill) add(rec *fiolog.RawRecord, at, ns int64) {
	if w := (max(at-f.begins, 1) - 1) / f.window; !f.filling || w > f.current {
		f.end()
		f.current, f.filling = w, true
	}
	f.last = max(f.last, at)
	bin := hist.Bin{Index: uint32(hist.Layout{}.Index(ns)), Count: 1}
	if f.spread && (f.all || ns/1e6 >= f.window) {
		f.finished = append(f.finished, align.Row{Start: at, End: at, Direction: rec.Direction, Bins: []hist.Bin{bin}, Total: 1})
		return
	}
	f.bins[rec.Direction].AddAt(int(bin.Index), 1)
}

// end makes rows of the window that was filled.
func (f *rawFill) end() {
	if !f.filling {
		return
	}
	f.filling = false
	for d := range f.bins {
		row := align.Row{
			Start: f.begins + f.current*f.window, End: f.begins + (f.current+1)*f.window, Direction: fiolog.Direction(d),
		}
		for i, n := range f.bins[d].All() {
			row.Bins = append(row.Bins, hist.Bin{Index: uint32(i), Count: uint64(n)})
			row.Total += uint64(n)
		}
		if row.Total > 0 {
			f.finished = append(f.finished, row)
			f.bins[d].Reset()
		}
	}
}
