package pipeline

import (
	"path"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

func newJob(log cbt.Log) *job {
	return &job{jobKey: keyOf(log), segment: -1, jobRows: jobRows{log: log}}
}

func keyOf(log cbt.Log) jobKey { return jobKey{log.Host, log.Volume, max(log.Job, 1)} }

func (j *job) folder() string { return path.Dir(j.log.File.Path) }

// jobLogs finds the jobs of a run by its logs.
type jobLogs struct {
	run      *cbt.Run
	opt      Options
	outputs  []*output
	problems *Problems
}

// find returns the jobs of all logs and opens their histogram logs. averaged has the logs of averages.
func (l jobLogs) find() (jobs []*job, averaged []cbt.Log) {
	jobs = l.hist()
	l.opt.each(len(jobs), func(i int) {
		jobs[i].file = jobs[i].open()
		jobs[i].head, jobs[i].damage = jobs[i].file.head()
	})
	if l.needsRaw(jobs) {
		var raw []cbt.Log
		raw, averaged = l.raw()
		jobs = addRaw(jobs, raw)
	}
	return jobs, averaged
}

// hist returns the jobs of the histogram logs.
func (l jobLogs) hist() (jobs []*job) {
	for _, log := range l.run.Logs {
		hint := l.hintFor(log)
		if log.Job > 0 {
			j := newJob(log)
			j.hint = hint
			jobs = append(jobs, j)
			continue
		}
		for i, sums := range segments(log, hint) {
			j := newJob(log)
			j.hint, j.sums, j.segment, j.number = hint, sums, i, i+1
			jobs = append(jobs, j)
		}
	}
	return jobs
}

func (j *job) open() *logFile { return openLog(j.log, max(j.segment, 0), j.hint) }

// needsRaw reports whether logs of completions may be needed. That is so if the user wants them, or if a job has no
// histogram log with rows. Then find looks at each of them.
func (l jobLogs) needsRaw(jobs []*job) bool {
	if l.opt.Source == SourceRaw || len(jobs) == 0 {
		return true
	}
	have := map[jobKey]bool{}
	for _, j := range jobs {
		if !j.hasRows || j.isZero {
			return true
		}
		have[j.jobKey] = true
	}
	return slices.ContainsFunc(l.run.Others, func(log cbt.Log) bool { return log.Kind == fiolog.Clat && !have[keyOf(log)] })
}

// addRaw adds logs of completions to the jobs that wrote them, and the jobs that have only
// such logs.
func addRaw(jobs []*job, logs []cbt.Log) []*job {
	for _, log := range logs {
		if j := writerOf(jobs, log); j != nil {
			j.raw = log
			continue
		}
		n := 1
		if log.Job == 0 {
			n = len(segments(log, hist.Hint{}))
		}
		for i := range n {
			j := newJob(log)
			j.raw = log
			if n > 1 {
				j.segment, j.number = i, i+1
			}
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// writerOf returns the job that wrote a log of completions. It has the same prefix. Otherwise it is the only job of
// that number, because prefixes may differ by the kind of log.
func writerOf(jobs []*job, log cbt.Log) *job {
	var same []*job
	for _, j := range jobs {
		if j.jobKey != keyOf(log) || j.segment >= 0 || j.raw.File != nil {
			continue
		}
		if j.log.Prefix == log.Prefix && j.folder() == path.Dir(log.File.Path) {
			return j
		}
		same = append(same, j)
	}
	if len(same) == 1 {
		return same[0]
	}
	return nil
}

// segments returns the sums of the rows of each job in a log of several jobs (per_job_logs=0). A new job begins where
// times start again. There is at least one job.
func segments(log cbt.Log, hint hist.Hint) []*rowSums {
	jobs := []*rowSums{{}}
	for rec, err := range openLog(log, 0, hint).all() {
		switch {
		case err != nil:
			continue
		case rec.NewJob:
			jobs = append(jobs, &rowSums{})
		}
		jobs[len(jobs)-1].add(rec)
	}
	return jobs
}

// raw returns the logs of single completions, and the logs of averages (log_avg_msec) of latency, rate and bandwidth,
// which have no percentiles. Without logs of completion latency it returns those of total latency.
func (l jobLogs) raw() (raw, averaged []cbt.Log) {
	var total []cbt.Log
	for _, log := range l.run.Others {
		switch {
		case log.Stored || log.Kind == fiolog.Slat:
		case log.Kind == fiolog.IOPS || log.Kind == fiolog.BW || isAveraged(log):
			if log.Kind != fiolog.Lat {
				averaged = append(averaged, log)
			}
		case log.Kind == fiolog.Clat:
			raw = append(raw, log)
		case log.Kind == fiolog.Lat:
			total = append(total, log)
		}
	}
	if len(raw) == 0 && len(total) > 0 {
		l.problems.note("%s: no logs of completion latency: those of total latency (_lat) are used, which begins with "+
			"submission", l.opt.title(l.run))
		raw = total
	}
	return raw, averaged
}

// isAveraged looks at the first row of a log. A log without rows counts as one of completions. Reading it then reports
// what is wrong.
func isAveraged(log cbt.Log) bool {
	for rec, err := range openLog(log, 0, hist.Hint{}).all() {
		return err == nil && (rec.BlockSize == 0 || rec.Averaged)
	}
	return false
}
