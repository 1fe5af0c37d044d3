package pipeline

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// growing is how files are read that fio still writes.
type growing struct {
	ctx   context.Context // what ends with it has ended
	quiet time.Duration   // a file that has not grown for so long has ended
}

// reader waits at the end of a file for more.
func (g *growing) reader(in io.ReadCloser, out *output) io.ReadCloser {
	const missed = 3 // reports
	return &tailReader{in, g.ctx, max(g.quiet, missed*time.Duration(out.spacing)*time.Millisecond)}
}

// tailReader is a reader of a file that grows.
type tailReader struct {
	io.ReadCloser
	ctx   context.Context
	quiet time.Duration
}

// Read implements [io.Reader].
func (t *tailReader) Read(p []byte) (int, error) {
	const look = 200 * time.Millisecond
	for waited := time.Duration(0); ; waited += look {
		n, err := t.ReadCloser.Read(p)
		switch {
		case n > 0:
			return n, nil
		case err != io.EOF || waited >= t.quiet:
			return 0, err
		}
		select {
		case <-time.After(look):
		case <-t.ctx.Done():
			return 0, io.EOF
		}
	}
}

// isGrowing tells whether an error only says that fio has not written the end yet.
func (r *reader) isGrowing(err error) bool {
	var cut *fiolog.SyntaxError
	return r.growing != nil && errors.As(err, &cut) && cut.Partial
}

// written is when a report was written, in milliseconds since the job's start.
func (r *reportRows) written(rep *fiolog.Report) int64 {
	at := time.UnixMilli(rep.Timestamp).Add(r.run.opt.Offsets[r.log.Host])
	return at.Sub(r.start).Milliseconds()
}

// begins is what the run time of a job counts from that has waited for others, since what
// is taken for its start. While fio runs that is not known beforehand.
func (r *reportRows) begins(rep *fiolog.Report, ran int64) int64 {
	if r.run.growing == nil || !r.entry.began.IsZero() {
		return 0
	}
	return max(r.written(rep)-ran, 0)
}

// tell adds rows of no requests, of each direction that had none since the last report:
// else windows would stay open, as the next row might begin where the last one ended.
func (r *reportRows) tell(rep *fiolog.Report, j *fiolog.Job) {
	r.entry.Job = j // totals are those of the latest report
	now := max(r.written(rep), r.told)
	var has [fiolog.Directions]bool
	for i := range r.queue {
		has[r.queue[i].Direction] = true
	}
	row := align.Row{Start: r.told, End: now}
	for d, h := range r.sofar {
		if h == nil {
			continue
		}
		if row.Layout = h.Layout(); !h.IsEmpty() && !has[d] {
			row.Direction, row.Bins = fiolog.Direction(d), []hist.Bin{}
			r.queue = append(r.queue, row)
		}
	}
	if len(r.queue) == 0 {
		row.Bins = nil // of no direction, really
		r.queue = append(r.queue, row)
	}
	r.told = now
}
