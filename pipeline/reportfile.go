package pipeline

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// reportFile reads the periodic reports of one fio (--status-interval) once, for all of its jobs. Reports are sums since
// the start, so the difference of two reports has the requests between them. A report has the counts of the moment at
// which it was written: fio waits for a job that hangs before it writes one, also for the other jobs. The last report is
// written at the end, so there is no tail to recover.
type reportFile struct {
	out     *assign.Output
	live    *liveFiles               // nil unless fio still writes
	asLive  bool                     // it is read as while fio wrote it, so that windows are those of then
	offsets map[string]time.Duration // of the clocks of hosts
	follows bool                     // all rows of the run are of this file, so that windows follow these

	mu    sync.Mutex
	next  func() (*fiolog.Report, error, bool) // nil before the first
	stop  func()
	skip  int // reports of earlier executions
	taken int // reports of this one
	jobs  []*reportJob
	size  int64 // number of jobs of fio that they stand for
	ended bool

	later   []int // jobs of later stages in a report: the stage is over when one of them has requests, if fio still writes
	isOver  bool  // a report has shown that
	hasNext bool  // and another one, from which on it is known when the next stage began

	ready *fiolog.Report // the next one whose rows are not made yet, or nil
	took  int64          // the moment of the counts of the last one whose rows were made, milliseconds since 1970
	late  bool           // they end with a report of a grid that came late, and was not the last one
	apart bool           // the rows that are made now do not end with cells of a grid
}

// reportJob are the rows of a job in periodic reports.
type reportJob struct {
	file  *reportFile
	job   *plan.Job
	from  fiolog.Direction // the first that has rows here: Sync if logs have the others
	queue []align.Row
	errs  []error // in place of rows
	sofar [fiolog.WithSync]*hist.Histogram
	until int64 // when the last report was written, or the job's end, since the job's start
	ran   int64 // fio's run time at the last report
	// counts have the latest report, and when the last one was written in which the job had run on or served requests. That is
	// the job's end, while reports about other jobs may follow.
	counts *account.Counts
}

// liveFiles are files that fio still writes.
type liveFiles struct {
	ctx   context.Context // when it ends, the files have ended
	quiet time.Duration   // a file that has not grown for so long has ended
}

// tailReader reads a file that grows.
type tailReader struct {
	io.ReadCloser
	liveFiles
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
			return t.ReadCloser.Read(p) // what was written in the meantime
		}
	}
}

func (r *reportJob) close() { r.file.close() }

// next returns the next rows of the job.
func (r *reportJob) next() ([]align.Row, error, bool) {
	r.file.mu.Lock()
	defer r.file.mu.Unlock()
	for len(r.queue)+len(r.errs) == 0 && r.file.advance() {
	}
	if len(r.errs) > 0 {
		err := r.errs[0]
		r.errs = r.errs[1:]
		return nil, err, true
	}
	queue := r.queue
	r.queue = nil
	return queue, nil, len(queue) > 0
}

// advance reads one report and makes the rows of all jobs from the report before, or at once while fio writes and the next
// one comes late. It returns false at the end.
func (f *reportFile) advance() bool {
	if f.ended {
		return false
	}
	if f.isOver {
		rep, _, _ := f.next()
		f.hasNext, f.ended = rep != nil, true
		return false
	}
	if f.next == nil {
		in, err := f.out.File.Open()
		if err != nil {
			f.ended = true
			f.jobs[0].errs = append(f.jobs[0].errs, err)
			return false
		}
		if live := f.live; live != nil {
			const missed = 3 // reports
			quiet := max(live.quiet, missed*time.Duration(f.out.Spacing())*time.Millisecond)
			in = &tailReader{in, liveFiles{live.ctx, quiet}}
		}
		next, stop := iter.Pull2(f.out.File.Reports(in))
		f.next, f.skip, f.stop = next, f.out.Skip, func() { stop(); in.Close() }
	}
	rep, err, ok := f.next()
	if f.ended = !ok; ok && err != nil { // what is wrong with a report was said when the plan was made
		return true
	}
	if f.skip--; f.skip >= 0 {
		if !ok {
			f.jobs[0].errs = append(f.jobs[0].errs, io.ErrUnexpectedEOF)
		}
		return ok
	}
	f.isOver = f.live != nil && ok && slices.ContainsFunc(f.later, func(i int) bool {
		return i < len(rep.Jobs) && rep.Jobs[i].Requests() > 0
	})
	if f.taken++; f.live == nil && f.taken > len(f.out.Times) { // of the next call of fio in the file
		rep, ok = nil, false
		f.ended = true
	}
	take := f.ready
	f.ready = rep
	if grid := f.out.Grid; grid > 0 {
		return f.advanceOnGrid(grid, take, ok)
	}
	if f.live != nil && ok && (f.isOver || rep.Timestamp-f.took >= f.out.Spacing()/2) {
		take, f.ready = rep, nil
	}
	if take == nil {
		return ok
	}
	if next := f.ready; next != nil && take.Timestamp > 0 {
		// There are no rows of a report if another one follows shortly: one on time after one that was late, or fio's last one,
		// which may come some milliseconds after the one before.
		near := f.out.Spacing() / 2
		if next.Timestamp == f.out.Times[len(f.out.Times)-1] {
			near /= 10
		}
		if next.Timestamp-take.Timestamp < near {
			return ok
		}
	}
	f.rowsOf(take, take.Timestamp)
	return ok
}

// advanceOnGrid makes the rows of a report that was asked for at an edge of a grid. It comes some milliseconds later, and its counts are
// those of the edge. fio waits for each of its jobs before it writes a report, and longer for one that hangs or sleeps: a report that is
// later than its jobs explain, or that comes after edges without one, has the counts of its own time. The reports of the edges that fio
// missed come at once, so one that comes shortly after another has no rows, except at the end of the file, where it is the one that fio
// wrote when its jobs had ended. before is the report before if it has no rows so far. hasMore reports whether there is another one now.
func (f *reportFile) advanceOnGrid(grid int64, before *fiolog.Report, hasMore bool) bool {
	if !hasMore {
		if before != nil {
			f.rowsOf(before, before.Timestamp)
		}
		return false
	}
	const msPerJob = 6 // with 64 jobs on a busy machine, reports came up to 383 ms late
	at := f.ready.Timestamp
	late, most := at%grid, grid/20
	if f.took == 0 || at-late-f.took <= grid*3/2 {
		most = min(most+msPerJob*f.size, grid/2)
	}
	if late <= most {
		at -= late
	}
	if at-f.took >= grid/2 || f.isOver {
		f.rowsOf(f.ready, at)
		f.ready = nil
	}
	return true
}

// rowsOf makes the rows of a report whose counts are those of a moment, in milliseconds since 1970.
func (f *reportFile) rowsOf(rep *fiolog.Report, at int64) {
	grid := f.out.Grid
	isOff := grid == 0 || at%grid > 0
	f.apart = isOff || f.took%grid > 0
	f.late = grid > 0 && isOff && f.live == nil && rep.Timestamp < f.out.Times[len(f.out.Times)-1]
	f.took = at
	for _, r := range f.jobs {
		if i := r.job.Entry.Index; i < len(rep.Jobs) {
			r.take(rep, at, r.job.Entry.View(&rep.Jobs[i]))
		}
	}
}

// take makes rows of the job's requests since the report before. at is the moment of the counts, in milliseconds since 1970.
func (r *reportJob) take(rep *fiolog.Report, at int64, j *fiolog.Job) {
	ran, before := r.job.Entry.RanIn(j), r.ran
	end := r.endOf(rep, at, ran)
	from := r.until
	if ran > before {
		r.counts.Last = end
		r.counts.Late = max(r.counts.Late, rep.Timestamp-at)
	}
	r.counts.Report, r.until = j, end
	isLate := end-from > r.job.Interval*3/2 // because a job hung
	whole := r.file.follows && r.file.apart || isLate
	for d := r.from; d < fiolog.WithSync; d++ {
		now := r.job.Entry.Histogram(j.Of(d))
		since := now.Clone()
		if before := r.sofar[d]; before != nil && !since.Subtract(before) {
			r.errs = append(r.errs, fmt.Errorf("%s: job %s: %s: counts fall from one report to the next", r.file.out.File.Name(), j.Name, d))
			continue
		}
		r.sofar[d] = now
		row := align.NewRow(from, end, d, since)
		row.Whole = whole
		switch {
		case row.Total > 0:
			r.counts.Last = end
			if isLate || r.file.late && end-from > r.job.Interval {
				r.counts.Longest = max(r.counts.Longest, end-from)
			}
			r.queue = append(r.queue, row)
		case r.file.live != nil && !now.IsEmpty() && end > from: // otherwise windows stay open, because the next row may begin here
			row.Bins = []hist.Bin{}
			r.queue = append(r.queue, row)
		}
	}
	if r.file.live != nil && end > from && len(r.queue)+len(r.errs) == 0 { // a row without a direction
		r.queue = append(r.queue, align.Row{Start: from, End: end, Whole: whole, Layout: r.job.Layout})
	}
}

// endOf returns the moment of the counts of a report, in milliseconds since the job's start, and at most when the job ended. ran is
// the run time of the job in the report. Only a report without a time is placed by it, because in a hang it lags behind.
// It falls when a job that waited for others begins. While fio still writes, this moment is the start of the first row.
func (r *reportJob) endOf(rep *fiolog.Report, at, ran int64) (end int64) {
	grown := ran - r.ran
	begins := grown < 0 && !slices.ContainsFunc(r.sofar[:], func(h *hist.Histogram) bool { return h != nil && !h.IsEmpty() })
	r.ran = ran
	if rep.Timestamp == 0 || r.file.out.Client { // the timestamp of a client is its start
		if begins {
			r.until, grown = 0, ran
		}
		return r.until + max(grown, 0)
	}
	start, grid := r.job.Start, r.file.out.Grid
	isOnGrid := grid > 0 && at%grid == 0
	if isOnGrid { // the edges of windows are in whole milliseconds
		start = start.Truncate(time.Millisecond)
	}
	isLive := r.file.live != nil || r.file.asLive // then it is not known which report is the last one
	end = time.UnixMilli(at).Add(r.file.offsets[r.job.Host]).Sub(start).Milliseconds()
	switch {
	case begins && isLive:
		r.until = max(end-ran, r.until)
	case r.file.isOver: // it had ended before the next stage began
		end = min(end, r.until+max(grown, 0))
	case !isLive && grown == 0 && ran == r.job.Ran: // it had ended before the last report
		end = r.until
	case end-ran <= r.job.Interval/10 && !isOnGrid, // fio writes some milliseconds after the job's end
		!isLive && ran == r.job.Ran && end-ran <= r.job.Interval*3/2: // the job ended before others
		end = min(end, ran)
	}
	return max(end, r.until)
}

// add adds a job whose rows of directions from one on are in the file.
func (f *reportFile) add(j *plan.Job, from fiolog.Direction, counts *account.Counts) *reportJob {
	if n := len(f.jobs); n == 0 || f.jobs[n-1].job.Entry != j.Entry {
		f.size += int64(j.Entry.Size)
	}
	f.jobs = append(f.jobs, &reportJob{file: f, job: j, from: from, counts: counts})
	return f.jobs[len(f.jobs)-1]
}

// close ends reading, at the end or before.
func (f *reportFile) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	if f.stop != nil {
		f.stop()
		f.stop = nil
	}
}
