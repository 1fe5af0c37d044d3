package assign

import (
	"path"
	"time"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// New finds the jobs of a run: which report covers which log, and what the rows of each job are read from. Faults of single files
// are added to said. The evidence does not change. What it lacks is added to needs: then the jobs are not known yet, and New has to
// be called again.
func New(ev *Evidence, opt Options, said *Remarks, needs map[Need]bool) *Assignment {
	p := &assigner{&Assignment{Outputs: cloned(ev.Outputs)}, ev, opt, said, needs}
	p.completeText()
	jobs, averaged := p.findJobs()
	p.Entries = p.attribute(jobs)
	p.choose(jobs, averaged)
	for _, j := range p.Jobs {
		const bytesPerMS = 5000 // fio writes logs when their job ends, at 6 MB/s on a busy machine and up to ten times as fast
		j.Writing = time.Duration(ev.Written[j.JobKey]/bytesPerMS) * time.Millisecond
		if j.Entry != nil && j == j.Entry.Jobs[0] {
			j.Stands = 1 + j.Entry.withoutLogs()
		}
	}
	return p.Assignment
}

// cloned returns copies of outputs, to which an assignment adds what it finds out.
func cloned(outputs []*Output) (all []*Output) {
	of := map[*Output]*Output{}
	for _, out := range outputs {
		one := new(*out)
		one.First, one.Fio = of[out.First], new(*out.Fio)
		of[out] = one
		all = append(all, one)
	}
	return all
}

// findJobs returns the jobs of all logs: of histograms, and of single completions, which belong to the jobs that wrote them
// or are the only logs of a job. Without logs of completion latency, those of total latency count. averaged has the logs of
// averages (log_avg_msec) of latency, rate and bandwidth, which have no percentiles.
func (p *assigner) findJobs() (jobs []*Job, averaged []*JobLog) {
	for _, log := range p.ev.Logs {
		j := NewJob(log)
		j.Head, j.Damage = log.Head, log.Damage
		jobs = append(jobs, j)
	}
	if !p.ev.NeedsOthers(p.opt.Completions) {
		return jobs, nil
	}
	var raw, total []*JobLog
	for _, log := range p.ev.Others {
		switch {
		case log.Stored || log.Kind == fiolog.Slat:
		case log.Kind == fiolog.IOPS || log.Kind == fiolog.BW || log.IsAveraged():
			if log.Segment <= 0 {
				averaged = append(averaged, log)
			}
		case log.Kind == fiolog.Clat:
			raw = append(raw, log)
		case log.Kind == fiolog.Lat:
			total = append(total, log)
		}
	}
	if len(raw) == 0 && len(total) > 0 {
		p.noteTotalLatency()
		raw = total
	}
	for _, log := range raw {
		// The job that wrote it has the same prefix, or is the only one of that number: prefixes may differ by the kind of log.
		var j *Job
		var same []*Job
		for _, other := range jobs {
			if other.JobKey != KeyOf(log.Log) || other.Log.Segment >= 0 || log.Segment >= 0 || other.Raw != nil {
				continue
			}
			if other.Log.Prefix == log.Prefix && path.Dir(other.Log.File.Path) == path.Dir(log.File.Path) {
				j = other
				break
			}
			same = append(same, other)
		}
		if j == nil && len(same) == 1 {
			j = same[0]
		}
		if j == nil {
			j = NewJob(log)
			jobs = append(jobs, j)
		}
		j.Raw = log
	}
	return jobs, averaged
}
