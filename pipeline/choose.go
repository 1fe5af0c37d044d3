package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Source selects the kind of logs that windows are made of, if a run has several.
type Source string

// The sources. The zero value is SourceHist.
const (
	SourceHist Source = "hist" // histogram logs, else completions, else periodic reports
	SourceRaw  Source = "raw"  // logs of all completions
)

// chooser decides what the rows of each job are read from. It adds the jobs to the plan.
type chooser struct {
	*plan
	problems *Problems
	tailing  *tailing // not nil while fio still writes the files of the run
	reports  map[*output]*reportFile
}

// choose sets the best source of rows for each job. averaged are the logs of averages.
func (c *chooser) choose(jobs []*job, averaged []cbt.Log) {
	c.setGroups(jobs)
	for _, e := range c.entries {
		hasRaw := func(j *job) bool {
			return j.entry == e && j.raw.File != nil && j.raw.Kind == fiolog.Clat && (!j.hasRows || j.isZero)
		}
		if slices.ContainsFunc(jobs, hasRaw) {
			continue // its log of completions has their latencies
		}
		if e.useTotalLatency() {
			c.problems.note("%s: it has no bins of completion latencies: its latencies are counted from submission (lat)",
				e.describe())
		}
	}
	for _, j := range jobs {
		if j.isDropped() {
			j.close()
			continue
		}
		c.add(j)
	}
	c.fallBack()
	c.useAverages(averaged)
}

// split replaces a combined entry by its parts, because periodic reports have rows of each part. Logs do not.
func (c *chooser) split(e *entry) []*entry {
	if len(e.parts) == 0 {
		return []*entry{e}
	}
	for _, part := range e.parts {
		part.groups = e.groups
	}
	for _, list := range []*entryList{&c.entries, &e.out.entries} {
		if i := slices.Index(*list, e); i >= 0 {
			*list = slices.Replace(slices.Clone(*list), i, i+1, e.parts...)
		}
	}
	return e.parts
}

// add adds a job with logs to the run.
func (c *chooser) add(j *job) {
	if j.entry != nil {
		j.ran = j.entry.ran
		j.entry.jobs = append(j.entry.jobs, j)
	}
	c.jobs = append(c.jobs, j)
	if c.opt.Source == SourceRaw && j.raw.File != nil {
		c.useRaw(j)
		return
	}
	switch why := c.whyNotHist(j); {
	case why == nil, errors.Is(why, errNoRows) && j.raw.File == nil: // a log without rows still belongs to its report
		c.useHist(j)
	case j.raw.File != nil:
		wasHist := j.hasHist() || slices.ContainsFunc(c.run.Logs, func(log cbt.Log) bool { return log.Kind.IsHistogram() })
		if c.useRaw(j) && wasHist {
			c.problems.note("%v: its log of completions is read instead", why)
		}
	default:
		j.close()
		if j.head = (head{}); j.entry != nil && j.entry.hasPeriodic() {
			c.problems.note("%v: periodic reports are read instead", why)
			return
		}
		c.problems.skip(why)
	}
}

// errNoRows means that a histogram log has no rows.
var errNoRows = errors.New("the histogram log has no rows")

// whyNotHist returns the reason why the histogram log of a job cannot be used, or nil if it can.
func (c *chooser) whyNotHist(j *job) error {
	switch {
	case !j.hasHist():
		return fmt.Errorf("%s: no histogram log of job %d", c.title(), j.number)
	case j.damage != nil:
		return j.damage
	case !j.hasRows:
		return fmt.Errorf("%s: %w", j.log.File.Name(), errNoRows)
	case j.isZero && j.raw.File != nil:
		return fmt.Errorf("%s: its rows have no requests (clat_percentiles=0)", j.log.File.Name())
	}
	err := j.proveHalf()
	switch {
	case err == nil && j.entry == nil && looksDoubled(j.file.firstRows()):
		return fmt.Errorf("%s: each row has all requests of an earlier one, as fio --client writes them, and no report says how many "+
			"there were: the log is not used; add fio's json+ report", j.log.File.Name())
	case err != nil || j.entry == nil || !j.entry.out.client:
		return err
	}
	if j.lag, err = proveLag(j); j.lag > 0 {
		c.problems.note("%s: fio --client added earlier rows to later ones: undone, as the bins of %s prove",
			j.log.File.Name(), j.entry.out.File.Name())
	}
	return err
}

func (c *chooser) useHist(j *job) {
	j.source = fromHist
	c.checkLayout(j)
	if j.entry != nil {
		j.interval = cmp.Or(j.entry.histMsec(), c.configuredInterval(j.entry.out))
	} else {
		j.interval = c.configuredInterval(nil)
	}
	isGiven := j.interval > 0
	if !isGiven {
		j.interval = j.file.measure()
	}
	// People choose round intervals. In a log of all jobs, a late row may begin another job.
	j.exact = j.interval > 0 && (isGiven || j.interval%100 == 0) && j.log.Job > 0
	if isOtherClock(j) || isEpoch(j) {
		j.late = j.file.late(j.interval)
	}
}

// useRaw reads a job's rows from its log of completions. It reports whether it can.
func (c *chooser) useRaw(j *job) bool {
	ofHist := hist.UnknownUnit
	if j.hasHist() && j.hasRows {
		ofHist = j.layout.Unit()
	}
	j.close()
	j.source, j.log, j.hint = fromRaw, j.raw, hist.Hint{}
	j.file = j.open()
	j.head, _ = j.file.head()
	if err := c.setUnit(j, j.file, ofHist); err != nil && j.hasRows {
		c.problems.skip(err)
		j.close()
		j.source, j.head = fromNothing, head{}
		return false
	}
	if j.unit == hist.Microseconds {
		j.layout = hist.Fio2(0)
	}
	return true
}

// useReports reads a job's rows from the periodic reports of its entry.
func (c *chooser) useReports(j *job) {
	out := j.entry.out
	f := c.reports[out]
	if f == nil {
		f = &reportFile{out: out, tailing: c.tailing, offsets: c.opt.Offsets}
		c.reports[out] = f
	}
	j.source, j.hasRows, j.interval = fromReports, true, out.spacing()
	if l, err := hist.NewLayout(out.fio.Unit, j.entry.groups, 0); err == nil {
		j.layout = l
	}
	j.reports = f.add(j)
}

// fallBack uses periodic reports for the jobs of an entry if none of them has rows. It also adds a job without rows for
// each entry without a log.
func (c *chooser) fallBack() {
	for _, e := range slices.Clone(c.entries) {
		if len(e.jobs) == 0 {
			c.bareJob(e)
		}
		if !e.hasPeriodic() || c.tailing == nil && requestsOf(e.Job) == 0 || slices.ContainsFunc(e.jobs, func(j *job) bool { return j.hasRows }) {
			continue
		}
		first, others := e.jobs[0], e.jobs[1:]
		closeAll(e.jobs)
		c.jobs = slices.DeleteFunc(c.jobs, func(j *job) bool { return slices.Contains(others, j) })
		if e.jobs = e.jobs[:1]; len(e.parts) == 0 {
			c.useReports(first)
			continue
		}
		c.jobs = slices.DeleteFunc(c.jobs, func(j *job) bool { return j == first })
		for _, part := range c.split(e) {
			part.useTotalLatency()
			c.useReports(c.bareJob(part))
		}
	}
}

// hasPeriodic reports whether periodic reports show when the requests of an entry completed.
func (e *entry) hasPeriodic() bool {
	return e.out.reports() >= 3 && e.out.hasBins && !e.mixed
}

// bareJob returns a job for an entry of fio's output that has no log.
func (c *chooser) bareJob(e *entry) *job {
	host := e.out.host
	if e.Host != "" {
		host = e.Host
	}
	j := newJob(cbt.Log{Host: host, Volume: e.out.Volume, Job: e.first, File: e.out.File})
	j.entry, j.ran = e, e.ran
	e.jobs = []*job{j}
	c.jobs = append(c.jobs, j)
	return j
}

// useAverages uses logs of averages in place of rows, if no job has rows.
func (c *chooser) useAverages(averaged []cbt.Log) {
	if slices.ContainsFunc(c.jobs, func(j *job) bool { return j.hasRows }) {
		return
	}
	isMax := func(e *entry) bool {
		return slices.ContainsFunc([]string{"log_max_value", "log_window_value"}, func(name string) bool { // as 3.36 and later call it
			value := e.optionOfOne(name)
			return value == "1" || strings.HasPrefix(value, "max")
		})
	}
	if i := slices.IndexFunc(c.entries, isMax); i >= 0 && len(averaged) > 0 {
		c.problems.note("%s: its logs have the highest value of each interval, and no means: run fio without log_max_value", c.entries[i].describe())
		return
	}
	for _, log := range averaged {
		j := c.jobOf(log)
		if j == nil {
			j = newJob(log)
			c.jobs = append(c.jobs, j)
		}
		l := openLog(log, 0, hist.Hint{})
		j.interval = max(j.interval, j.averagedOver(l)) // windows are not shorter
		var err error
		if log.Kind == fiolog.Clat {
			err = c.setUnit(j, l, hist.UnknownUnit)
		}
		if l.close(); err != nil {
			c.problems.skip(err)
			continue
		}
		c.averages = append(c.averages, log)
	}
}

// configuredInterval returns log_hist_msec from the options of an output or of CBT, in milliseconds. It is 0 if not
// set. If jobs differ, it is the shortest. out may be nil.
func (c *chooser) configuredInterval(out *output) int64 {
	if out != nil {
		if ms := out.histMsec(); ms > 0 {
			return ms
		}
	}
	option, _ := c.config["cluster.log_hist_msec"].(string)
	shortest := milliseconds(option)
	for _, s := range c.run.Sections {
		if ms := milliseconds(s.Options["log_hist_msec"]); ms > 0 && (shortest == 0 || ms < shortest) {
			shortest = ms
		}
	}
	return shortest
}
