package pipeline

import (
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

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
			counts := &account.Counts{}
			reports := &reportJob{reportFile: files[e.Out], job: &of, counts: counts, from: fiolog.Sync}
			reports.jobs = append(reports.jobs, reports)
			in := &jobRows{runReader: r, job: &of, counts: counts, split: align.NewSplitter(of.Interval), reports: reports}
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
