package pipeline

import (
	"math"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// syncsOf returns the totals of the syncs of some jobs, or nil without any. Only reports have them. They have no IOPS: fio
// counts them apart from the requests that they follow.
func (r *runReader) syncsOf(entries []*plan.Entry, jobs []*plan.Job) *mapping.Totals {
	bins, unbinned := &hist.Histogram{}, int64(0)
	var reported []*fiolog.DirectionStats
	isCounted := true
	for _, e := range entries {
		for _, part := range e.Parts() {
			s := &r.latest(part).Sync
			if s.TotalIOs == 0 && !s.Uncounted {
				continue
			}
			of := part.Histogram(s)
			bins.Merge(of)
			unbinned += max(int64(s.TotalIOs)-int64(of.Total()), 0)
			reported, isCounted = append(reported, s), isCounted && !s.Uncounted
		}
	}
	if len(reported) == 0 {
		return nil
	}
	out := &mapping.Totals{}
	setLatencies(out, bins.Coarser(r.opt.Coarseness), unbinned, reported, !isCounted)
	switch {
	case !isCounted: // those of some jobs do not stand for all
		*out = mapping.Totals{Fio: fioLatency(reported)}
		if len(reported) > 1 && out.Fio != nil { // each counts as many as it has
			out.Fio.Mean, out.Fio.StdDev, out.Bounds = 0, 0, boundsOf(reported)
		}
	case bins.IsEmpty() && out.Fio != nil:
		out.Latency.Mean = out.Fio.Mean
	}
	first, last := int64(math.MaxInt64), int64(0)
	for _, j := range jobs {
		if j.Serves(fiolog.Sync) {
			first, last = min(first, j.Offset), max(last, r.endOf(j))
		}
	}
	out.DurationMS = max(last-first, 0)
	return out
}

// syncStreams returns streams of the syncs of jobs whose other rows are those of logs, if periodic reports have them.
func (r *runReader) syncStreams() (streams []*align.Stream) {
	files := map[*plan.Output]*reportFile{}
	for _, e := range r.Entries {
		if !e.HasPeriodic() || !e.ReadsLogs() {
			continue
		}
		for _, part := range e.Parts() {
			if part.Sync.TotalIOs == 0 {
				continue
			}
			if files[e.Out] == nil {
				files[e.Out] = &reportFile{run: r, out: e.Out}
			}
			of := *e.Jobs[0]
			of.Entry, of.Source, of.Interval = part, plan.FromReports, e.Out.Spacing()
			reports := &reportJob{reportFile: files[e.Out], job: &of, from: fiolog.Sync}
			reports.jobs = append(reports.jobs, reports)
			in := &jobRows{runReader: r, job: &of, split: align.NewSplitter(of.Interval), reports: reports}
			r.syncs = append(r.syncs, in)
			one := &align.Stream{Host: of.Host, Section: r.sectionOf[e.Jobs[0]], Next: r.besideLogs(in)}
			if len(e.Jobs) == 1 { // else nothing shows which job they are of
				one.Job = of.Name()
			}
			streams = append(streams, one)
		}
	}
	return streams
}

// besideLogs returns a function for the rows of periodic reports. Each row is of one window. Windows follow the rows of logs, and
// reports come at other moments: a report counts in the window that ends next to it, which has the times of the report.
func (r *runReader) besideLogs(in *jobRows) func() (align.Row, bool) {
	j, times := in.job, in.reports.out.Times
	usual := times[len(times)/2] + r.opt.Offsets[j.Host].Milliseconds() - j.Start.UnixMilli() + j.Offset + r.Shift
	length := min(j.Interval, r.Window)
	back := plan.Modulo(usual+length/2, length) // to the middle of the time that it counts in
	return func() (align.Row, bool) {
		row, ok := in.next()
		row.Whole, row.At = true, max(row.End-back, 1)
		return row, ok
	}
}

// NotLogged begins the note on syncs that are in no window.
const NotLogged = "fio's logs do not have syncs"

// noteSyncs says that syncs are in no window, and which reports do not have them at all.
func (r *runReader) noteSyncs() {
	isLogged := false
	for _, e := range r.Entries {
		for _, part := range e.Parts() {
			if s := &r.latest(part).Sync; s.Uncounted && s.Clat.Mean == 0 {
				r.problems.note("%s: its job file has it sync, and terse output does not have these latencies: run fio with --output-format=json+", part.Describe())
			}
		}
		isLogged = isLogged || e.Jobs[0].Serves(fiolog.Sync) && e.ReadsLogs() && !e.HasPeriodic()
	}
	if isLogged {
		r.problems.note("%s: "+NotLogged+" (fsync, fdatasync, sync_file_range): they count in the run's totals, and are in "+
			"no window; periodic reports show them over time (--status-interval=1 --output-format=json+)", r.Title)
	}
}
