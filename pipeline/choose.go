package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// Source is what windows are made of, if a run has several.
type Source string

// The sources. The zero value is SourceHist.
const (
	SourceHist Source = "hist" // histogram logs or, if not coarser, periodic reports; else completions
	SourceRaw  Source = "raw"  // logs of all completions
)

// choose sets the best source of rows for each job.
func (b *planner) choose(jobs []*job) {
	periodic := b.periodic(jobs)
	for _, j := range jobs {
		if j.isDropped() || j.entry != nil && periodic[j.entry.out] {
			j.close()
			continue
		}
		b.add(j)
	}
	for _, e := range b.entries {
		if periodic[e.out] {
			b.useReports(b.bareJob(e))
		}
	}
}

// periodic are the outputs whose periodic reports are read in place of all logs of their
// jobs: they are complete to the end, and no coarser than the logs.
func (b *planner) periodic(jobs []*job) map[*output]bool {
	use := map[*output]bool{}
	for _, out := range b.outputs {
		has := func(is func(*job) bool) bool {
			return slices.ContainsFunc(jobs, func(j *job) bool { return j.entry != nil && j.entry.out == out && is(j) })
		}
		hasRaw := func() bool { return has(func(j *job) bool { return j.raw.File != nil }) }
		if out.reports < 3 || !out.hasBins || b.opt.Source == SourceRaw && hasRaw() || !b.separable(out) {
			continue
		}
		use[out] = !has(func(j *job) bool { return j.hasRows }) || b.notCoarser(out)
	}
	return use
}

// separable reports whether the run has entries of an output, and all have directions.
func (b *planner) separable(out *output) bool {
	found := false
	for _, e := range b.entries {
		if e.out == out {
			if found = true; e.mixed {
				return false
			}
		}
	}
	return found
}

// notCoarser reports whether the reports are at most as far apart as the rows of the
// histogram logs, to within a few milliseconds.
func (b *planner) notCoarser(out *output) bool {
	interval := b.configuredInterval(out)
	return interval > 0 && out.spacing <= interval+interval/20
}

// add adds a job with logs to the run.
func (b *planner) add(j *job) {
	if j.entry != nil {
		j.section, j.ran = j.entry.Name, j.entry.ran
		j.entry.jobs = append(j.entry.jobs, j)
	}
	b.jobs = append(b.jobs, j)
	if b.opt.Source == SourceRaw && j.raw.File != nil {
		b.useRaw(j)
		return
	}
	switch why := b.whyNotHist(j); {
	case why == nil, errors.Is(why, errNoRows) && j.raw.File == nil: // without rows there is still the report
		b.useHist(j)
	case j.raw.File != nil:
		wasHist := j.hasHist()
		if b.useRaw(j); wasHist {
			b.note("%v: its log of completions is read instead", why)
		}
	default:
		j.close()
		j.head = head{}
		b.skip(why)
	}
}

// errNoRows is a histogram log without any row.
var errNoRows = errors.New("the histogram log has no rows")

// whyNotHist is why the histogram log of a job cannot be used; nil if it can.
func (b *planner) whyNotHist(j *job) error {
	switch {
	case !j.hasHist():
		return fmt.Errorf("%s: no histogram log of job %d", b.title, j.number)
	case j.damage != nil:
		return j.damage
	case !j.hasRows:
		return fmt.Errorf("%s: %w", j.log.File.Name(), errNoRows)
	case j.entry == nil || !j.entry.out.client:
		return nil
	}
	lag, err := proveLag(j)
	if j.lag = lag; lag > 0 {
		b.note("%s: fio --client added earlier rows to later ones: undone, as the bins of %s prove",
			j.log.File.Name(), j.entry.out.File.Name())
	}
	return err
}

func (b *planner) useHist(j *job) {
	j.source = fromHist
	b.checkLayout(j)
	j.interval = b.histInterval(j)
	if j.interval == 0 {
		j.interval = j.file.measure()
	}
	if isOtherClock(j) {
		j.late = j.file.late(j.interval)
	}
}

func (b *planner) useRaw(j *job) {
	j.close()
	j.source, j.log, j.hint = fromRaw, j.raw, hist.Hint{}
	j.file = j.open()
	j.head, _ = j.file.head()
}

// useReports reads a job's rows from the periodic reports of its entry.
func (b *planner) useReports(j *job) {
	out := j.entry.out
	f := b.reports[out]
	if f == nil {
		f = &reportFile{out: out, tailing: b.tailing, budget: b.run.Budget}
		b.reports[out] = f
	}
	j.source, j.hasRows, j.interval = fromReports, true, out.spacing
	if l, err := hist.NewLayout(out.fio.Unit, j.entry.groups, 0); err == nil {
		j.layout = l
	}
	j.reports = f.add(j)
}

// fallBack uses periodic reports for jobs whose logs have no rows, and adds a job without
// rows for each entry that has no log.
func (b *planner) fallBack() {
	for _, e := range b.entries {
		if len(e.jobs) == 0 {
			b.bareJob(e)
		}
		j := e.jobs[0]
		if len(e.jobs) > 1 || j.hasRows || e.mixed || e.out.reports < 3 || requestsOf(e.Job) == 0 || !e.out.hasBins {
			continue
		}
		j.close()
		b.useReports(j)
	}
}

// bareJob is the job of an entry of fio's output, without any log.
func (b *planner) bareJob(e *entry) *job {
	host := e.out.Host
	if e.Host != "" {
		host = e.Host
	}
	j := newJob(cbt.Log{Host: host, Volume: e.out.Volume, Job: e.first, File: e.out.File})
	j.section, j.entry, j.ran = e.Name, e, e.ran
	e.jobs = []*job{j}
	b.jobs = append(b.jobs, j)
	return j
}

// useAverages returns the logs of averages to use in place of rows, if no job has rows.
func (b *planner) useAverages(averaged []cbt.Log) []cbt.Log {
	for _, j := range b.jobs {
		if j.hasRows {
			return nil
		}
	}
	for _, log := range averaged {
		b.jobOf(log)
	}
	return averaged
}

// jobOf is the job that wrote a log, made if no report has it.
func (b *planner) jobOf(log cbt.Log) *job {
	if j := b.plan.jobOf(log); j != nil {
		return j
	}
	j := newJob(log)
	b.jobs = append(b.jobs, j)
	return j
}

// jobOf is the job that wrote a log; nil if there is none.
func (p *plan) jobOf(log cbt.Log) *job {
	for _, j := range p.jobs {
		if j.jobKey == keyOf(log) {
			return j
		}
	}
	return nil
}

// histInterval is a job's log_hist_msec by its options or CBT's, or 0.
func (b *planner) histInterval(j *job) int64 {
	if j.entry == nil {
		return b.configuredInterval(nil)
	}
	if ms := milliseconds(j.entry.option("log_hist_msec")); ms > 0 {
		return ms
	}
	return b.configuredInterval(j.entry.out)
}

// configuredInterval is log_hist_msec by fio's options or CBT's, or 0. If jobs differ it is
// the shortest.
func (b *planner) configuredInterval(out *output) int64 {
	if out != nil {
		if ms := out.histMsec(); ms > 0 {
			return ms
		}
	}
	option, _ := b.config["cluster.log_hist_msec"].(string)
	return milliseconds(cmp.Or(option, b.run.JobOptions["log_hist_msec"]))
}
