package pipeline

import (
	"fmt"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// feed reads the periodic reports of one fio (--status-interval) once, for all of its
// jobs: what a report counts more than the one before are the requests between the two.
// Reports are complete to the end, so there is no tail to recover.
type feed struct {
	out    *output
	live   *growing // fio still writes; else nil
	budget *cbt.Budget

	mu    sync.Mutex
	file  io.Closer
	next  func() (*fiolog.Report, error, bool)
	stop  func()
	jobs  []*reportRows
	ended bool
}

// reportRows are the rows of one job of a feed.
type reportRows struct {
	job   *job
	queue []feedEvent
	sofar [fiolog.Directions]*hist.Histogram
	until int64 // end of the last report, since the job's start
	ran   int64 // fio's run time at the last report
	base  int64 // what that counts from, since the job's start
	now   int64 // when the last report was written, since the job's start; while fio runs
	last  *fiolog.Job
}

// feedEvent is a row, or what was wrong where one should be.
type feedEvent struct {
	row align.Row
	err error
}

func newFeed(out *output, live *growing, budget *cbt.Budget) *feed {
	return &feed{out: out, live: live, budget: budget}
}

func (f *feed) add(j *job) { f.jobs = append(f.jobs, &reportRows{job: j}) }

// of are the rows of a job.
func (f *feed) of(j *job) *reportRows {
	for _, r := range f.jobs {
		if r.job == j {
			return r
		}
	}
	return nil
}

// rows are a job's, in milliseconds since its start.
func (f *feed) rows(r *reportRows) iter.Seq2[align.Row, error] {
	return func(yield func(align.Row, error) bool) {
		defer f.close()
		for {
			for _, e := range f.more(r) {
				if !yield(e.row, e.err) {
					return
				}
			}
			if f.isOver(r) {
				return
			}
		}
	}
}

// more are further events of a job, at least one; none at the end.
func (f *feed) more(r *reportRows) []feedEvent {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(r.queue) == 0 && f.advance() {
	}
	queue := r.queue
	r.queue = nil
	return queue
}

func (f *feed) isOver(r *reportRows) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ended && len(r.queue) == 0
}

// advance reads one report and gives each job its rows; false at the end.
func (f *feed) advance() bool {
	if f.ended {
		return false
	}
	if f.next == nil {
		if err := f.open(); err != nil {
			f.ended = true
			f.jobs[0].queue = append(f.jobs[0].queue, feedEvent{err: err})
			return false
		}
	}
	for {
		rep, err, ok := f.next()
		switch {
		case !ok:
			f.ended = true
			return false
		case err != nil:
			continue // said when the reports were looked through
		}
		for _, r := range f.jobs {
			if i := r.job.entry.index; i < len(rep.Jobs) {
				r.take(f, rep, r.job.entry.view(&rep.Jobs[i]))
			}
		}
		return true
	}
}

// open begins to read, behind the reports of earlier executions.
func (f *feed) open() error {
	in, err := f.out.File.Open()
	if err != nil {
		return err
	}
	if f.live != nil {
		in = f.live.reader(in, f.out)
	}
	f.file = in
	f.next, f.stop = iter.Pull2(f.budget.Reports(in, f.out.File))
	for skipped := 0; skipped < f.out.skip; {
		_, err, ok := f.next()
		if !ok {
			return io.ErrUnexpectedEOF
		}
		if err == nil {
			skipped++
		}
	}
	return nil
}

// take makes rows of what the job did since the report before.
func (r *reportRows) take(f *feed, rep *fiolog.Report, j *fiolog.Job) {
	ran := ranFor(j)
	if ran < r.ran && r.idle() { // it waited for others to end, and begins now
		r.base = r.begins(f, rep, ran)
		r.until = r.base
	}
	r.ran, r.last = ran, j
	end := r.base + ran
	for d := range j.Directions {
		now := r.job.entry.histogram(&j.Directions[d])
		row := align.Row{Start: r.until, End: max(end, r.until), Direction: fiolog.Direction(d), Layout: now.Layout()}
		since := now.Clone()
		if before := r.sofar[d]; before != nil && !since.Subtract(before) {
			r.queue = append(r.queue, feedEvent{err: fmt.Errorf("%s: job %s: %s: counts fall from one report to the next", f.out.File.Name(), j.Name, row.Direction)})
			continue
		}
		r.sofar[d] = now
		for i, n := range since.All() {
			row.Bins = append(row.Bins, hist.Bin{Index: uint32(i), Count: uint64(n)})
			row.Total += uint64(n)
		}
		if row.Total > 0 {
			r.queue = append(r.queue, feedEvent{row: row})
		}
	}
	r.until = max(end, r.until)
	if f.live != nil {
		r.pass(f, rep)
	}
}

// idle reports whether the job has done nothing so far.
func (r *reportRows) idle() bool {
	for _, h := range r.sofar {
		if h != nil && !h.IsEmpty() {
			return false
		}
	}
	return true
}

// written is when a report was written, in milliseconds since the job's start.
func (r *reportRows) written(f *feed, rep *fiolog.Report) int64 {
	at := time.UnixMilli(rep.Timestamp).Add(f.live.offsets[r.job.host])
	return at.Sub(r.job.start).Milliseconds()
}

// begins is what the run time of a job counts from that has waited for others, since what
// is taken for its start. While fio runs that is not known beforehand.
func (r *reportRows) begins(f *feed, rep *fiolog.Report, ran int64) int64 {
	if f.live == nil || f.out.begun[r.job.entry.index].waited {
		return 0
	}
	return max(r.written(f, rep)-ran, 0)
}

// pass adds rows of no requests, of each direction that had none since the last report:
// else windows would stay open, as the next row might begin where the last one ended.
func (r *reportRows) pass(f *feed, rep *fiolog.Report) {
	now := max(r.written(f, rep), r.now)
	var has [fiolog.Directions]bool
	for i := range r.queue {
		has[r.queue[i].row.Direction] = true
	}
	row := align.Row{Start: r.now, End: now}
	for d, h := range r.sofar {
		if h == nil {
			continue
		}
		if row.Layout = h.Layout(); !h.IsEmpty() && !has[d] {
			row.Direction, row.Bins = fiolog.Direction(d), []hist.Bin{}
			r.queue = append(r.queue, feedEvent{row: row})
		}
	}
	if len(r.queue) == 0 {
		row.Bins = nil // of no direction
		r.queue = append(r.queue, feedEvent{row: row})
	}
	r.now = now
}

// close ends reading when all jobs have ended.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop != nil && f.ended {
		f.stop()
		f.file.Close()
		f.stop = nil
	}
}

// abort ends reading before its end.
func (f *feed) abort() {
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	f.close()
}
