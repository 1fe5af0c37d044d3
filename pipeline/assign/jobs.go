package assign

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/evidence"
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

// choose decides what the rows of each job are read from, and adds the jobs. averaged are the logs of averages.
func (p *assigner) choose(jobs []*Job, averaged []*JobLog) {
	for _, e := range p.Entries { // the number of groups of bins of its fio; 0 if unknown
		e.groups = cmp.Or(p.opt.Bins.Groups, e.groups)
	}
	for _, j := range jobs {
		if j.Entry != nil && j.HasRows {
			j.Entry.groups = j.Layout.Groups()
		}
	}
	for _, e := range p.Entries {
		hasRaw := func(j *Job) bool {
			return j.Entry == e && j.Raw != nil && j.Raw.Kind == fiolog.Clat && (!j.HasRows || j.IsZero)
		}
		if slices.ContainsFunc(jobs, hasRaw) {
			continue // its log of completions has their latencies
		}
		if e.useTotalLatency() {
			p.problems.Note("%s: it has no percentiles of completion latencies: its latencies are counted from submission (lat)",
				e.Describe())
		}
	}
	for _, j := range jobs {
		if j.dropped {
			continue
		}
		if p.Jobs = append(p.Jobs, j); j.Entry != nil {
			j.Entry.Jobs = append(j.Entry.Jobs, j)
		}
		if p.opt.Completions && j.Raw != nil {
			p.useRaw(j)
			continue
		}
		if p.prefersReports(j) {
			j.Head = evidence.Head{}
			continue
		}
		switch why := p.whyNotHist(j); {
		case why == nil, errors.Is(why, errNoRows) && j.Raw == nil: // a log without rows still belongs to its report
			p.useHist(j)
		case j.Raw != nil:
			wasHist := j.Log.Kind.IsHistogram() || slices.ContainsFunc(p.ev.Run.Logs, func(log Log) bool { return log.Kind.IsHistogram() })
			if p.useRaw(j) && wasHist {
				p.problems.Note("%v: its log of completions is read instead", why)
			}
		default:
			if j.Head = (evidence.Head{}); j.Entry.HasPeriodic() {
				p.problems.Note("%v: periodic reports are read instead", why)
			} else {
				p.problems.lack(j, "%w", why)
			}
		}
	}
	p.fallBack()
	p.useAverages(averaged)
}

// prefersReports reports whether the periodic reports of a job are better than its histogram log: all fios wrote them at the
// same moments, and at least as often as rows. Rows begin with the first completion of each job and direction, so they are cut
// by the edges of windows. Reports have a group of jobs in one entry.
func (p *assigner) prefersReports(j *Job) bool {
	if !j.Entry.HasPeriodic() || p.opt.Jobs && j.Entry.Size > 1 {
		return false
	}
	grid := j.Entry.Out.Grid
	return grid > 0 && grid <= number(j.Entry.Option("log_hist_msec"))
}

// errNoRows means that a histogram log has no rows.
var errNoRows = errors.New("the histogram log has no rows")

// whyNotHist returns the reason why the histogram log of a job cannot be used, or nil if it can.
func (p *assigner) whyNotHist(j *Job) error {
	switch {
	case !j.Log.Kind.IsHistogram():
		of := ""
		if j.Host != "" {
			of = " of " + j.Host
		}
		return fmt.Errorf("%s: no histogram log of job %s%s", p.opt.Title, j.Name(), of)
	case j.Damage != nil:
		return j.Damage
	case !j.HasRows:
		return fmt.Errorf("%s: %w", j.Log.File.Name(), errNoRows)
	case j.IsZero && j.Raw != nil:
		return fmt.Errorf("%s: its rows have no requests (clat_percentiles=0)", j.Log.File.Name())
	}
	if j.Log.Hint.Half {
		if least, _ := j.Layout.Bounds(j.Layout.Half()); j.Entry == nil || j.Entry.exceeds(least) {
			return fmt.Errorf("%s: fio 3.6 to 3.16 write memory in place of counts at latencies of %v or more, and the report shows "+
				"such latencies: the log is not used; run a newer fio, or this one with --status-interval=1 --output-format=json+",
				j.Log.File.Name(), time.Duration(least))
		}
	}
	if j.Entry == nil && (j.Log.Client || slices.ContainsFunc(p.Outputs, func(o *Output) bool { return o.Client })) {
		return fmt.Errorf("%s: fio --client names logs like this one and adds earlier rows to later ones, and no report proves how: the "+
			"log is not used; add fio's json+ report", j.Log.File.Name())
	}
	return nil
}

// useHist reads a job's rows from its histogram log: what its bins are, how far apart its rows should be, and how late the
// first one is.
func (p *assigner) useHist(j *Job) {
	j.Source = FromHist
	if usual, err := hist.Resolve(j.Layout.Len(), hist.Hint{}); j.HasRows && err == nil && usual != j.Layout {
		p.problems.Note("%s: %d bins are usually %s, but are read as %s: fio's report, or FIO2ES_GROUPS and FIO2ES_UNIT, say %s",
			j.Log.File.Name(), j.Layout.Len(), usual, j.Layout, j.Log.Hint)
	}
	// log_hist_msec is an option of the entry, of its output, or of CBT. If jobs differ, the shortest counts.
	option, _ := p.ev.Config["cluster.log_hist_msec"].(string)
	ofEntry, ofOutput, ofCBT := []int64{0}, []int64{0}, []int64{number(option)}
	if j.Entry != nil {
		ofEntry[0] = number(j.Entry.Option("log_hist_msec"))
		for _, other := range j.Entry.Out.Entries {
			ofOutput = append(ofOutput, number(other.Option("log_hist_msec")))
		}
	}
	for _, s := range p.ev.Run.Sections {
		o, _ := s.Get("log_hist_msec")
		ofCBT = append(ofCBT, number(o.Value))
	}
	isGiven := false
	for _, set := range [][]int64{ofEntry, ofOutput, ofCBT} {
		if set = slices.DeleteFunc(set, func(ms int64) bool { return ms == 0 }); len(set) > 0 {
			j.Interval, isGiven = slices.Min(set), true
			break
		}
	}
	if !isGiven {
		j.Interval = j.Log.Rows.Measure(2)
	}
	// People choose round intervals. In a log of all jobs, a late row may begin another job.
	j.Exact = j.Interval > 0 && (isGiven || j.Interval%100 == 0) && j.Log.Job > 0
}

// useRaw reads a job's rows from its log of completions. It reports whether it can.
func (p *assigner) useRaw(j *Job) bool {
	ofHist := hist.UnknownUnit
	if j.Log.Kind.IsHistogram() && j.HasRows {
		ofHist = j.Layout.Unit()
	}
	j.Source, j.Log, j.Head = FromRaw, j.Raw, j.Raw.Head
	if err := p.setUnit(j, j.Log, ofHist); err != nil && j.HasRows {
		p.problems.lack(j, "%w", err)
		j.Source, j.Head = FromNothing, evidence.Head{}
		return false
	}
	if j.Unit == hist.Microseconds {
		j.Layout = hist.Fio2(0)
	}
	return true
}

// fallBack uses periodic reports for the jobs of an entry if none of them has rows. It also adds a job without rows for
// each entry without a log. A combined entry is divided again, because reports have the rows of each part.
func (p *assigner) fallBack() {
	for _, e := range slices.Clone(p.Entries) {
		if len(e.Jobs) == 0 {
			p.bareJob(e)
		}
		if !e.HasPeriodic() || !p.ev.Live && e.Job.Requests() == 0 || slices.ContainsFunc(e.Jobs, func(j *Job) bool { return j.HasRows }) {
			continue
		}
		entries, without := []*Entry{e}, e.Jobs[1:]
		if e.Jobs = e.Jobs[:1]; len(e.parts) > 0 {
			entries, without = e.parts, append(without, e.Jobs[0])
		}
		p.Jobs = slices.DeleteFunc(p.Jobs, func(j *Job) bool { return slices.Contains(without, j) })
		for _, list := range []*[]*Entry{&p.Entries, &e.Out.Entries} {
			if i := slices.Index(*list, e); i >= 0 {
				*list = slices.Replace(slices.Clone(*list), i, i+1, entries...)
			}
		}
		for _, part := range entries {
			if part != e {
				part.groups = e.groups
				part.useTotalLatency()
				p.bareJob(part)
			}
			j := part.Jobs[0]
			j.Source, j.HasRows, j.Interval = FromReports, true, e.Out.Spacing()
			if l, err := hist.NewLayout(e.Out.Fio.Unit, part.groups, 0); err == nil {
				j.Layout = l
			}
		}
	}
}

// bareJob adds a job for an entry of fio's output that has no log.
func (p *assigner) bareJob(e *Entry) {
	j := NewJob(&JobLog{Log: Log{Host: cmp.Or(e.Host, e.Out.host), Volume: e.Out.Volume, Job: e.first, File: e.Out.File}, Segment: -1})
	j.Entry = e
	e.Jobs = []*Job{j}
	p.Jobs = append(p.Jobs, j)
}

// useAverages uses logs of averages in place of rows, if no job has rows, nor bins of a run that was too short for one.
func (p *assigner) useAverages(averaged []*JobLog) {
	if slices.ContainsFunc(p.Jobs, func(j *Job) bool {
		return j.HasRows || j.Source == FromHist && j.Entry != nil && j.Entry.Out.HasBins && j.Entry.Ran > 0 && j.Entry.Ran <= 2*j.Interval
	}) {
		return
	}
	isMax := func(e *Entry) bool {
		return slices.ContainsFunc([]string{"log_max_value", "log_window_value"}, func(name string) bool { // as 3.36 and later call it
			value := e.OptionOfOne(name)
			return value == "1" || strings.HasPrefix(value, "max")
		})
	}
	if i := slices.IndexFunc(p.Entries, isMax); i >= 0 && len(averaged) > 0 {
		p.problems.Note("%s: its logs have the highest value of each interval, and no means: run fio without log_max_value", p.Entries[i].Describe())
		return
	}
	isOf := func(kind fiolog.Kind) func(*JobLog) bool { return func(log *JobLog) bool { return log.Kind == kind } }
	if slices.ContainsFunc(averaged, isOf(fiolog.Clat)) {
		averaged = slices.DeleteFunc(averaged, isOf(fiolog.Lat))
	} else if slices.ContainsFunc(averaged, isOf(fiolog.Lat)) {
		p.noteTotalLatency()
	}
	for _, log := range averaged {
		var j *Job
		if i := slices.IndexFunc(p.Jobs, func(j *Job) bool { return j.JobKey == KeyOf(log.Log) }); i >= 0 {
			j = p.Jobs[i]
		} else {
			j = NewJob(log)
			p.Jobs = append(p.Jobs, j)
			groups := without(p.Entries, func(e *Entry) bool { // whose first job is there already
				first := e.Jobs[0]
				return first.Host != j.Host || first.Volume != j.Volume || j.Number <= e.first || j.Number >= e.first+e.Size
			})
			if len(groups) == 1 {
				j.Entry = groups[0]
				j.Entry.Jobs = append(j.Entry.Jobs, j)
			}
		}
		j.Interval = max(j.Interval, j.AveragedOver(log.Rows)) // windows are not shorter
		var err error
		if log.Kind == fiolog.Clat || log.Kind == fiolog.Lat {
			err = p.setUnit(j, log, hist.UnknownUnit)
		}
		if err != nil {
			p.problems.Skip("%w", err)
			continue
		}
		p.Averages = append(p.Averages, log.Log)
	}
}

// AveragedOver returns log_avg_msec of a log of averages, in milliseconds.
func (j *Job) AveragedOver(rows evidence.FirstRows) int64 {
	if j.Entry != nil {
		if ms := number(j.Entry.OptionOfOne("log_avg_msec")); ms > 0 {
			return ms
		}
	}
	if len(rows) == 0 {
		return 0
	}
	const lowerQuartile = 4 // because fio writes no row of averages for an interval without requests
	return cmp.Or(rows.Measure(lowerQuartile), max(evidence.Nominal(rows[0].Time), 1))
}

// setUnit sets the unit of the latencies in a log of completions or averages, and returns an error if nothing shows it.
// fio 2 wrote microseconds, and fio 3 writes nanoseconds. What the user says comes first, then the report, then the
// job's histogram log, then the columns.
func (p *assigner) setUnit(j *Job, l *JobLog, ofHist hist.Unit) error {
	reported := hist.UnknownUnit
	if j.Entry != nil {
		reported = j.Entry.Out.Fio.Unit
	}
	said := p.opt.Bins.Unit
	if said != hist.UnknownUnit && reported != hist.UnknownUnit && said != reported {
		p.problems.Note("%s: read in %s, as FIO2ES_UNIT says, although %s of its report writes %s",
			l.File.Name(), said, j.Entry.Out.Fio.Version, reported)
	}
	j.Unit = cmp.Or(said, reported, p.ev.HintFor(l.Log, p.opt.Bins).Unit, ofHist)
	switch {
	case j.Unit != hist.UnknownUnit:
	case len(l.Rows) > 0 && !slices.ContainsFunc(l.Rows, func(rec *fiolog.Record) bool { return !rec.IsFio3 }):
		j.Unit = hist.Nanoseconds
	default:
		return fmt.Errorf("%s: nothing says whether its latencies are ns (fio 3) or us (fio 2), so it is not used: "+
			"set FIO2ES_UNIT=ns or FIO2ES_UNIT=us, or put fio's JSON report beside it", l.File.Name())
	}
	return nil
}

// noteTotalLatency says that logs of total latency stand for those of completion latency, which are not there.
func (p *assigner) noteTotalLatency() {
	p.problems.Note("%s: no logs of completion latency: those of total latency (_lat) are used, which begins with "+
		"submission", p.opt.Title)
}
