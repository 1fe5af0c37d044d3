package pipeline

import (
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// reportFile reads the periodic reports of one fio (--status-interval) once, for all of its jobs. Reports are sums since
// the start, so the difference of two reports has the requests between them. The last report is written at the end, so
// there is no tail to recover.
type reportFile struct {
	out     *output
	tailing *tailing // fio still writes; else nil
	budget  *cbt.Budget

	mu    sync.Mutex
	next  func() (*fiolog.Report, error, bool)
	stop  func()
	jobs  []*reportJob
	ended bool
}

// reportJob has the rows of one job of a reportFile.
type reportJob struct {
	*reportFile
	job   *job
	queue []item[align.Row]
	sofar [fiolog.Directions]*hist.Histogram
	until int64 // end of the last report, since the job's start
	ran   int64 // fio's run time at the last report
	base  int64 // the time from which ran counts, since the job's start
	now   int64 // when the last report was written, since the job's start; while fio runs
	last  *fiolog.Job
}

func (f *reportFile) add(j *job) *reportJob {
	r := &reportJob{reportFile: f, job: j}
	f.jobs = append(f.jobs, r)
	return r
}

// rows iterates over the rows of the job, in milliseconds since its start.
func (r *reportJob) rows() iter.Seq2[align.Row, error] {
	return func(yield func(align.Row, error) bool) {
		defer r.close()
		for {
			queue := r.more()
			for _, e := range queue {
				if !yield(e.value, e.err) {
					return
				}
			}
			if len(queue) == 0 {
				return
			}
		}
	}
}

// more returns the next rows of the job: at least one, or none at the end.
func (r *reportJob) more() []item[align.Row] {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.queue) == 0 && r.advance() {
	}
	queue := r.queue
	r.queue = nil
	return queue
}

// advance reads one report and adds its rows to each job; false at the end.
func (f *reportFile) advance() bool {
	if f.ended {
		return false
	}
	if f.next == nil {
		f.next, f.stop = iter.Pull2(f.reports)
	}
	rep, err, ok := f.next()
	switch {
	case !ok:
		f.ended = true
	case err != nil:
		f.jobs[0].queue = append(f.jobs[0].queue, item[align.Row]{err: err})
	default:
		for _, r := range f.jobs {
			if i := r.job.entry.index; i < len(rep.Jobs) {
				r.take(rep, r.job.entry.view(&rep.Jobs[i]))
			}
		}
	}
	return ok
}

// reports iterates over the reports of the last execution. What is wrong with others was reported
// when the plan was made.
func (f *reportFile) reports(yield func(*fiolog.Report, error) bool) {
	in, err := f.out.File.Open()
	if err != nil {
		yield(nil, err)
		return
	}
	defer in.Close()
	if f.tailing != nil {
		const missed = 3 // reports
		quiet := max(f.tailing.quiet, missed*time.Duration(f.out.spacing())*time.Millisecond)
		in = &tailReader{in, f.tailing.ctx, quiet}
	}
	skip := f.out.skip
	for rep, err := range f.budget.Reports(in, f.out.File) {
		if err != nil {
			continue
		}
		if skip--; skip < 0 && !yield(rep, nil) {
			return
		}
	}
	if skip > 0 {
		yield(nil, io.ErrUnexpectedEOF)
	}
}

// take makes rows of the job's requests since the report before.
func (r *reportJob) take(rep *fiolog.Report, j *fiolog.Job) {
	ran := r.job.entry.ranIn(j)
	if ran < r.ran && !slices.ContainsFunc(r.sofar[:], isUsed) { // it waited for others to end, and begins now
		r.base = r.begins(rep, ran)
		r.until = r.base
	}
	r.ran, r.last = ran, j
	end := max(r.base+ran, r.until)
	for d := range fiolog.Direction(fiolog.Directions) {
		now := r.job.entry.histogram(&j.Directions[d])
		since := now.Clone()
		if before := r.sofar[d]; before != nil && !since.Subtract(before) {
			r.queue = append(r.queue, item[align.Row]{err: fmt.Errorf("%s: job %s: %s: counts fall from one "+
				"report to the next", r.out.File.Name(), j.Name, d)})
			continue
		}
		r.sofar[d] = now
		if row := align.NewRow(r.until, end, d, since); row.Total > 0 {
			r.queue = append(r.queue, item[align.Row]{value: row})
		}
	}
	r.until = end
	if r.tailing != nil {
		r.pass(rep)
	}
}

func isUsed(h *hist.Histogram) bool { return h != nil && !h.IsEmpty() }

// written is when a report was written, in milliseconds since the job's start.
func (r *reportJob) written(rep *fiolog.Report) int64 {
	at := time.UnixMilli(rep.Timestamp).Add(r.tailing.offsets[r.job.host])
	return at.Sub(r.job.start).Milliseconds()
}

// begins returns the moment from which fio counts the run time of a job that waited for others, since the job's assumed
// start. While fio runs, that moment is not known before it comes.
func (r *reportJob) begins(rep *fiolog.Report, ran int64) int64 {
	if r.tailing == nil || r.out.begun[r.job.entry.index].waited {
		return 0
	}
	return max(r.written(rep)-ran, 0)
}

// pass adds a row without requests for each direction that had none since the last report.
// Without them windows would stay open, because the next row might begin where the last
// one ended.
func (r *reportJob) pass(rep *fiolog.Report) {
	now := max(r.written(rep), r.now)
	var has [fiolog.Directions]bool
	for i := range r.queue {
		has[r.queue[i].value.Direction] = true
	}
	row := align.Row{Start: r.now, End: now}
	for d, h := range r.sofar {
		if h == nil {
			continue
		}
		if row.Layout = h.Layout(); !h.IsEmpty() && !has[d] {
			row.Direction, row.Bins = fiolog.Direction(d), []hist.Bin{}
			r.queue = append(r.queue, item[align.Row]{value: row})
		}
	}
	if len(r.queue) == 0 {
		row.Bins = nil // the row has no direction
		r.queue = append(r.queue, item[align.Row]{value: row})
	}
	r.now = now
}

func (f *reportFile) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stop != nil && f.ended {
		f.stop()
		f.stop = nil
	}
}

// abort ends reading before its end.
func (f *reportFile) abort() {
	f.mu.Lock()
	f.ended = true
	f.mu.Unlock()
	f.close()
}
