package pipeline

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// histRows are the rows of a histogram log.
type histRows struct {
	*job
	file     io.Closer
	in       *fiolog.Reader
	ahead    []ahead // read before their turn
	skipping bool    // rows of other jobs in the same file
	gap      bool    // rows were left out before the last one that was read
}

// ahead is a row that was read before its turn.
type ahead struct {
	*fiolog.Record
	gap bool
}

func (h *histRows) open() {
	in, err := h.log.File.Open()
	if err != nil {
		h.end(err)
		return
	}
	h.file = in
	h.in = h.run.readers.open(in, h.log.File.Name(), h.hint())
	h.skipping = h.segment > 0
	for skip := h.segment; ; {
		rec := h.read()
		if rec == nil {
			return
		}
		if rec.NewJob {
			skip--
		}
		if h.skipping = skip > 0; !h.skipping {
			rec = rec.Clone()
			rec.NewJob = false
			h.ahead = append(h.ahead, ahead{rec, h.gap})
			h.hasRows, h.first = true, rec.Time
			h.checkLayout(rec.Layout)
			return
		}
	}
}

// measure takes the middle one of the times between the first few rows of a direction.
func (h *histRows) measure() int64 {
	const few = 16
	for len(h.ahead) > 0 && len(h.ahead) < few {
		rec := h.read()
		if rec == nil {
			break
		}
		h.ahead = append(h.ahead, ahead{rec.Clone(), h.gap})
		if rec.NewJob {
			break
		}
	}
	var steps []int64
	var last [fiolog.Directions]int64
	for _, rec := range h.ahead {
		if rec.NewJob {
			break
		}
		if last[rec.Direction] > 0 {
			steps = append(steps, rec.Time-last[rec.Direction])
		}
		last[rec.Direction] = rec.Time
	}
	if len(steps) == 0 {
		return 0
	}
	slices.Sort(steps)
	const unit = 10 // nobody logs at odd milliseconds, but rows come some late
	return max((steps[len(steps)/2]+unit/2)/unit*unit, 1)
}

// read is the next good row of the log, nil at the end. Others are problems, and leave
// a gap before it.
func (h *histRows) read() *fiolog.Record {
	h.gap = false
	for h.in != nil {
		rec, err := h.in.Next()
		if err == nil {
			return rec
		}
		var bad *fiolog.SyntaxError
		if !errors.As(err, &bad) {
			h.end(err)
			return nil
		}
		if h.skipping { // the job whose row it is tells
			continue
		}
		h.run.problems.lose(err)
		h.damaged, h.cut, h.gap = true, h.cut || bad.Partial, true
	}
	return nil
}

// end closes the log; err is io.EOF when all is well.
func (h *histRows) end(err error) {
	if !errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		h.run.problems.lose(err)
		h.damaged, h.cut = true, true
	}
	h.close()
}

func (h *histRows) close() {
	if h.file != nil {
		h.file.Close()
	}
	h.run.readers.done(h.in)
	h.file, h.in = nil, nil
}

func (h *histRows) more() bool {
	for {
		var rec *fiolog.Record
		if len(h.ahead) > 0 {
			rec, h.gap = h.ahead[0].Record, h.ahead[0].gap
			h.ahead = h.ahead[1:]
		} else {
			rec = h.read()
		}
		if h.gap {
			h.splitter.Lose()
		}
		if rec == nil || rec.NewJob {
			return false
		}
		if h.add(rec) {
			return true
		}
	}
}

// add makes rows of a row of the log; false if there is nothing in it, or too much.
func (h *histRows) add(rec *fiolog.Record) bool {
	err := h.checkTime(rec.Time)
	if rec.Total > hist.MaxCount {
		err = fmt.Errorf("%d requests in a row: %w", rec.Total, hist.ErrTooLarge)
	}
	if err != nil {
		h.leaveOut(rec.Line, err)
		h.splitter.Lose()
		return false
	}
	if len(rec.Bins) == 0 {
		return false
	}
	if h.run.keepSums {
		h.sums[rec.Direction].AddBins(rec.Layout, rec.Bins)
	}
	h.requests[rec.Direction] += rec.Total
	at := rec.Time - h.origin
	h.last = max(h.last, at)
	h.rows = h.splitter.Split(at, rec.Direction, rec.Layout, rec.Bins, rec.Total)
	return true
}
