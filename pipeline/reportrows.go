package pipeline

import (
	"fmt"
	"io"
	"iter"
	"sync"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// feed reads the periodic reports of one fio (--status-interval) once, for all of its
// jobs: what a report counts more than the one before are the requests between the two.
// Reports are complete to the end, so there is no tail to recover.
type feed struct {
	out *output
	run *reader

	mu    sync.Mutex
	file  io.Closer
	next  func() (*fiolog.Report, error, bool)
	stop  func()
	jobs  []*reportRows
	ended bool
}

// reportRows are the rows of one job of a feed.
type reportRows struct {
	*job
	feed  *feed
	index int // among the report's jobs

	queue []align.Row // under feed.mu
	sofar [fiolog.Directions]*hist.Histogram
	until int64
	ran   int64 // fio's run time at the last report
	base  int64 // what that counts from, since the job's start
	told  int64 // when the last report was written, since the job's start; while fio runs
}

func (r *reportRows) open() {
	r.hasRows, r.first = true, r.feed.out.first
	if !r.entry.began.IsZero() { // reports come at the same moments for all, but count from when it began
		r.first -= r.entry.began.Sub(r.feed.out.start).Milliseconds()
	}
}

func (r *reportRows) measure() int64 { return r.feed.out.spacing }

func (r *reportRows) close() { r.feed.close() }

func (r *reportRows) more() bool {
	f := r.feed
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(r.queue) == 0 && f.advance() {
	}
	for i := range r.queue {
		row := &r.queue[i]
		if row.Total == 0 {
			continue
		}
		r.requests[row.Direction] += row.Total
		r.last = max(r.last, row.End)
		r.splitter.Pass(row.End, row.Direction)
		if r.run.keepSums {
			r.sums[row.Direction].AddBins(row.Layout, row.Bins)
		}
	}
	r.rows, r.queue = r.queue, nil
	return len(r.rows) > 0
}

// advance reads one report and gives each job its rows; false at the end.
func (f *feed) advance() bool {
	if f.ended {
		return false
	}
	if f.next == nil {
		in, err := f.out.File.Open()
		if err != nil {
			f.run.problems.lose(err)
			f.ended = true
			return false
		}
		if f.run.growing != nil {
			in = f.run.growing.reader(in, f.out)
		}
		f.file = in
		f.next, f.stop = iter.Pull2(fiolog.ReadReports(in, f.out.File.Name()))
	}
	for {
		rep, err, ok := f.next()
		switch {
		case !ok:
			f.ended = true
			return false
		case err != nil:
			continue // told when the reports were looked through
		}
		for _, r := range f.jobs {
			if r.index < len(rep.Jobs) {
				r.take(rep, &rep.Jobs[r.index])
			}
		}
		return true
	}
}

// take makes rows of what the job did since the report before.
func (r *reportRows) take(rep *fiolog.Report, j *fiolog.Job) {
	ran := ranFor(j)
	if ran < r.ran && r.idle() { // it waited for others to end, and begins now
		r.base = r.begins(rep, ran)
		r.until = r.base
	}
	r.ran = ran
	end := r.base + ran
	for d := range j.Directions {
		now := j.Directions[d].Clat.Histogram(r.entry.groups())
		row := align.Row{Start: r.until, End: max(end, r.until), Direction: fiolog.Direction(d), Layout: now.Layout()}
		since := now.Clone()
		if before := r.sofar[d]; before != nil && !since.Subtract(before) {
			r.run.problems.lose(fmt.Errorf("%s: job %s: %s: counts fall from one report to the next", r.feed.out.File.Name(), j.Name, row.Direction))
			continue
		}
		r.sofar[d] = now
		for i, n := range since.All() {
			row.Bins = append(row.Bins, hist.Bin{Index: uint32(i), Count: uint64(n)})
			row.Total += uint64(n)
		}
		if row.Total > 0 {
			r.queue = append(r.queue, row)
		}
	}
	r.until = max(end, r.until)
	if r.run.growing != nil {
		r.tell(rep, j)
	}
}

// idle tells whether the job has done nothing so far.
func (r *reportRows) idle() bool {
	for _, h := range r.sofar {
		if h != nil && !h.IsEmpty() {
			return false
		}
	}
	return true
}

// close ends reading when all jobs have ended, or for good.
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
