package pipeline

import (
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Source is what windows are made of, where a run has several.
type Source string

// The sources; the zero value is SourceHist.
const (
	SourceHist Source = "hist" // histogram logs or, if not coarser, periodic reports; else completions
	SourceRaw  Source = "raw"  // logs of all completions
)

// choose makes the run's jobs from the best of its sources.
func (r *reader) choose() {
	raw, averaged := r.rawLogs()
	periodic := r.periodic()
	switch {
	case r.opt.Source == SourceRaw && len(raw) > 0:
		r.addRaw(raw)
	case periodic != nil && r.notCoarser(periodic):
		r.addReports(periodic)
	case len(r.run.Logs) > 0:
		for _, log := range r.run.Logs {
			r.addLog(log)
		}
	case len(raw) > 0:
		r.addRaw(raw)
	default:
		r.averages = averaged
		r.addBare()
		for _, log := range averaged {
			r.jobOf(log)
		}
	}
}

// rawLogs are the logs of single completions, and those of averages (log_avg_msec), of
// latency, rate and bandwidth, which have no block size and no use for percentiles.
func (r *reader) rawLogs() (raw, averaged []cbt.Log) {
	if len(r.run.Logs) > 0 && r.opt.Source != SourceRaw {
		return nil, nil // not wanted, so not looked at
	}
	for _, log := range r.run.Others {
		switch {
		case log.Stored || log.Kind != fiolog.Clat && log.Kind != fiolog.IOPS && log.Kind != fiolog.BW:
		case isAveraged(log):
			averaged = append(averaged, log)
		case log.Kind == fiolog.Clat:
			raw = append(raw, log)
		}
	}
	return raw, averaged
}

// isAveraged looks at the log's first row. A log that has none counts as one of
// completions: then it is told what is wrong with it.
func isAveraged(log cbt.Log) bool {
	in, err := log.File.Open()
	if err != nil {
		return false
	}
	defer in.Close()
	rec, err := fiolog.NewRawReader(in, log.File.Name(), fiolog.BufferSize(0)).Next()
	return err == nil && (rec.BlockSize == 0 || rec.Averaged)
}

// periodic are outputs with several reports, if all hosts and volumes have such.
func (r *reader) periodic() []*output {
	var all []*output
	for _, out := range r.outputs {
		if out.reports >= 3 && out.hasBins {
			all = append(all, out)
		}
	}
	if len(all) == 0 || len(all) < len(r.outputs) {
		return nil
	}
	return all
}

// notCoarser tells whether the reports follow one another no more slowly than the rows
// of the histogram logs; a few milliseconds do not count.
func (r *reader) notCoarser(reports []*output) bool {
	if len(r.run.Logs) == 0 {
		return true
	}
	slowest := int64(0)
	for _, out := range reports {
		slowest = max(slowest, out.spacing)
	}
	interval := r.configuredInterval(reports[0])
	return interval > 0 && slowest <= interval+interval/20
}

// fromRaw tells whether the run is read from logs of completions.
func (r *reader) fromRaw() bool {
	if len(r.jobs) == 0 {
		return false
	}
	_, ok := r.jobs[0].source.(*rawRows)
	return ok
}

func (r *reader) addRaw(logs []cbt.Log) {
	for _, log := range logs {
		j := &job{run: r, log: log, segment: -1}
		j.source = &rawRows{job: j, unit: 1}
		r.jobs = append(r.jobs, j)
	}
}

// addReports makes a job of each that a report has.
func (r *reader) addReports(outputs []*output) {
	for _, out := range outputs {
		f := &feed{out: out, run: r}
		r.feeds = append(r.feeds, f)
		for i := range out.fio.Jobs {
			j := r.bare(out, i)
			rows := &reportRows{job: j, feed: f, index: i}
			j.source = rows
			f.jobs = append(f.jobs, rows)
		}
	}
}

// addBare makes jobs without rows, of a run that has nothing but reports.
func (r *reader) addBare() {
	for _, out := range r.outputs {
		for i := range out.fio.Jobs {
			r.bare(out, i)
		}
	}
}

// bare is the job of an entry of fio's output.
func (r *reader) bare(out *output, i int) *job {
	j := &job{run: r, segment: -1, log: cbt.Log{Host: out.Host, Volume: out.Volume, Job: i + 1, File: out.File}}
	j.entry = out.entry(i)
	j.entry.logs = []*job{j}
	r.jobs = append(r.jobs, j)
	r.entries = append(r.entries, j.entry)
	return j
}
