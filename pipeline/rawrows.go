package pipeline

import (
	"errors"
	"io"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// rawRows makes rows of a log of completions (write_lat_log without log_avg_msec). Each
// request is known, so nothing is spread: those that completed in a window are one row
// that fits it, and those in flight for longer than a window are rows of their own.
type rawRows struct {
	*job
	file  io.Closer
	in    *fiolog.RawReader
	ahead *fiolog.RawRecord
	unit  int64 // nanoseconds of the log's values: 1, or 1000 of fio 2

	window  int64 // that is being filled, in the run's time
	filling bool
	bins    [fiolog.Directions]hist.Histogram
	done    []align.Row
}

func (r *rawRows) open() {
	in, err := r.log.File.Open()
	if err != nil {
		r.end(err)
		return
	}
	r.file = in
	r.in = fiolog.NewRawReader(in, r.log.File.Name(), fiolog.BufferSize(r.run.readers.size))
	if rec, ok := r.read(); ok {
		r.ahead = &rec
		r.hasRows, r.first = true, rec.Time
	}
}

// measure tells nothing: completions have no interval.
func (r *rawRows) measure() int64 { return 0 }

func (r *rawRows) read() (fiolog.RawRecord, bool) {
	if r.ahead != nil {
		rec := *r.ahead
		r.ahead = nil
		return rec, true
	}
	for r.in != nil {
		rec, err := r.in.Next()
		if err == nil {
			return rec, true
		}
		var bad *fiolog.SyntaxError
		if !errors.As(err, &bad) {
			r.end(err)
			break
		}
		r.run.problems.lose(err)
		r.damaged, r.cut = true, r.cut || bad.Partial
	}
	return fiolog.RawRecord{}, false
}

func (r *rawRows) end(err error) {
	if !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		r.run.problems.lose(err)
		r.damaged, r.cut = true, true
	}
	r.close()
}

func (r *rawRows) close() {
	if r.file != nil {
		r.file.Close()
	}
	r.file, r.in = nil, nil
}

func (r *rawRows) more() bool {
	r.done = r.done[:0]
	for len(r.done) == 0 {
		rec, ok := r.read()
		if !ok {
			r.flush()
			break
		}
		if err := r.checkTime(rec.Time); err != nil {
			r.leaveOut(rec.Line, err)
			continue
		}
		r.add(&rec)
	}
	r.rows = append(r.rows[:0], r.done...)
	return len(r.rows) > 0
}

// add puts a request into the window in which it completed, or makes a row of it.
func (r *rawRows) add(rec *fiolog.RawRecord) {
	at := rec.Time - r.origin
	if w := (max(at+r.offset, 1) - 1) / r.run.window; !r.filling || w > r.window {
		r.flush()
		r.window, r.filling = w, true
	}
	ns := rec.Value * r.unit
	r.requests[rec.Direction]++
	r.last = max(r.last, at)
	r.splitter.Pass(at, rec.Direction)
	bin := hist.Bin{Index: uint32(hist.Layout{}.Index(ns)), Count: 1}
	if r.run.keepSums {
		r.sums[rec.Direction].AddBins(hist.Layout{}, []hist.Bin{bin})
	}
	if r.run.opt.Weighting == align.InFlight && (r.run.opt.SpreadAll || ns/1e6 >= r.run.window) {
		r.done = append(r.done, align.Row{Start: at, End: at, Direction: rec.Direction, Bins: []hist.Bin{bin}, Total: 1})
		return
	}
	r.bins[rec.Direction].AddAt(int(bin.Index), 1)
}

// flush makes rows of the window that was filled.
func (r *rawRows) flush() {
	if !r.filling {
		return
	}
	r.filling = false
	for d := range r.bins {
		row := align.Row{
			Start: r.window*r.run.window - r.offset, End: (r.window+1)*r.run.window - r.offset, Direction: fiolog.Direction(d),
		}
		for i, n := range r.bins[d].All() {
			row.Bins = append(row.Bins, hist.Bin{Index: uint32(i), Count: uint64(n)})
			row.Total += uint64(n)
		}
		if row.Total > 0 {
			r.done = append(r.done, row)
			r.bins[d].Reset()
		}
	}
}
