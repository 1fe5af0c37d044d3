package plan

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

// chooser decides what the rows of each job are read from. It adds the jobs to the plan.
type chooser struct {
	*Plan
	ev       *Evidence
	problems *Remarks
}

// choose sets the best source of rows for each job. averaged are the logs of averages.
func (c *chooser) choose(jobs []*Job, averaged []*Log) {
	c.setGroups(jobs)
	for _, e := range c.Entries {
		hasRaw := func(j *Job) bool {
			return j.Entry == e && j.raw != nil && j.raw.Kind == fiolog.Clat && (!j.HasRows || j.IsZero)
		}
		if slices.ContainsFunc(jobs, hasRaw) {
			continue // its log of completions has their latencies
		}
		if e.useTotalLatency() {
			c.problems.note("%s: it has no bins of completion latencies: its latencies are counted from submission (lat)",
				e.Describe())
		}
	}
	for _, j := range jobs {
		if !j.isDropped() {
			c.add(j)
		}
	}
	c.fallBack()
	c.useAverages(averaged)
}

// split replaces a combined entry by its parts, because periodic reports have rows of each part. Logs do not.
func (c *chooser) split(e *Entry) []*Entry {
	if len(e.parts) == 0 {
		return []*Entry{e}
	}
	for _, part := range e.parts {
		part.groups = e.groups
	}
	for _, list := range []*Entries{&c.Entries, &e.Out.Entries} {
		if i := slices.Index(*list, e); i >= 0 {
			*list = slices.Replace(slices.Clone(*list), i, i+1, e.parts...)
		}
	}
	return e.parts
}

// add adds a job with logs to the run.
func (c *chooser) add(j *Job) {
	if j.Entry != nil {
		j.Ran = j.Entry.Ran
		j.Entry.Jobs = append(j.Entry.Jobs, j)
	}
	c.Jobs = append(c.Jobs, j)
	if c.opt.Completions && j.raw != nil {
		c.useRaw(j)
		return
	}
	switch why := c.whyNotHist(j); {
	case why == nil, errors.Is(why, errNoRows) && j.raw == nil: // a log without rows still belongs to its report
		c.useHist(j)
	case j.raw != nil:
		wasHist := j.HasHist() || slices.ContainsFunc(c.Run.Logs, func(log cbt.Log) bool { return log.Kind.IsHistogram() })
		if c.useRaw(j) && wasHist {
			c.problems.note("%v: its log of completions is read instead", why)
		}
	default:
		if j.Head = (Head{}); j.Entry != nil && j.Entry.HasPeriodic() {
			c.problems.note("%v: periodic reports are read instead", why)
			return
		}
		c.problems.skip(why)
	}
}

// errNoRows means that a histogram log has no rows.
var errNoRows = errors.New("the histogram log has no rows")

// whyNotHist returns the reason why the histogram log of a job cannot be used, or nil if it can.
func (c *chooser) whyNotHist(j *Job) error {
	switch {
	case !j.HasHist():
		return fmt.Errorf("%s: no histogram log of job %d", c.Title(), j.Number)
	case j.damage != nil:
		return j.damage
	case !j.HasRows:
		return fmt.Errorf("%s: %w", j.Log.File.Name(), errNoRows)
	case j.IsZero && j.raw != nil:
		return fmt.Errorf("%s: its rows have no requests (clat_percentiles=0)", j.Log.File.Name())
	}
	err := j.proveHalf()
	switch {
	case err == nil && j.Entry == nil && looksDoubled(j.Log.Rows):
		return fmt.Errorf("%s: each row has all requests of an earlier one, as fio --client writes them, and no report says how many "+
			"there were: the log is not used; add fio's json+ report", j.Log.File.Name())
	case err != nil || j.Entry == nil || !j.Entry.Out.Client:
		return err
	}
	if j.Lag, err = proveLag(j, c.ev.Reader); j.Lag > 0 {
		c.problems.note("%s: fio --client added earlier rows to later ones: undone, as the bins of %s prove",
			j.Log.File.Name(), j.Entry.Out.File.Name())
	}
	return err
}

func (c *chooser) useHist(j *Job) {
	j.Source = FromHist
	c.checkLayout(j)
	if j.Entry != nil {
		j.Interval = cmp.Or(j.Entry.histMsec(), c.configuredInterval(j.Entry.Out))
	} else {
		j.Interval = c.configuredInterval(nil)
	}
	isGiven := j.Interval > 0
	if !isGiven {
		j.Interval = j.Log.Rows.measure()
	}
	// People choose round intervals. In a log of all jobs, a late row may begin another job.
	j.Exact = j.Interval > 0 && (isGiven || j.Interval%100 == 0) && j.Log.Job > 0
	if isOtherClock(j) || isEpoch(j) {
		j.late = j.Log.Rows.late(j.Interval)
	}
}

// useRaw reads a job's rows from its log of completions. It reports whether it can.
func (c *chooser) useRaw(j *Job) bool {
	ofHist := hist.UnknownUnit
	if j.HasHist() && j.HasRows {
		ofHist = j.Layout.Unit()
	}
	j.Source, j.Log, j.Head = FromRaw, j.raw, j.raw.Head
	if err := c.setUnit(j, j.Log, ofHist); err != nil && j.HasRows {
		c.problems.skip(err)
		j.Source, j.Head = FromNothing, Head{}
		return false
	}
	if j.Unit == hist.Microseconds {
		j.Layout = hist.Fio2(0)
	}
	return true
}

// useReports reads a job's rows from the periodic reports of its entry.
func (c *chooser) useReports(j *Job) {
	out := j.Entry.Out
	j.Source, j.HasRows, j.Interval = FromReports, true, out.Spacing()
	if l, err := hist.NewLayout(out.Fio.Unit, j.Entry.groups, 0); err == nil {
		j.Layout = l
	}
}

// fallBack uses periodic reports for the jobs of an entry if none of them has rows. It also adds a job without rows for
// each entry without a log.
func (c *chooser) fallBack() {
	for _, e := range slices.Clone(c.Entries) {
		if len(e.Jobs) == 0 {
			c.bareJob(e)
		}
		if !e.HasPeriodic() || !c.ev.Live && RequestsOf(e.Job) == 0 || slices.ContainsFunc(e.Jobs, func(j *Job) bool { return j.HasRows }) {
			continue
		}
		first, others := e.Jobs[0], e.Jobs[1:]
		c.Jobs = slices.DeleteFunc(c.Jobs, func(j *Job) bool { return slices.Contains(others, j) })
		if e.Jobs = e.Jobs[:1]; len(e.parts) == 0 {
			c.useReports(first)
			continue
		}
		c.Jobs = slices.DeleteFunc(c.Jobs, func(j *Job) bool { return j == first })
		for _, part := range c.split(e) {
			part.useTotalLatency()
			c.useReports(c.bareJob(part))
		}
	}
}

// HasPeriodic reports whether periodic reports show when the requests of an entry completed. e may be nil.
func (e *Entry) HasPeriodic() bool {
	return e != nil && e.Out.Reports() >= 3 && e.Out.HasBins && !e.IsMixed
}

// bareJob returns a job for an entry of fio's output that has no log.
func (c *chooser) bareJob(e *Entry) *Job {
	host := e.Out.host
	if e.Host != "" {
		host = e.Host
	}
	j := NewJob(&Log{Log: cbt.Log{Host: host, Volume: e.Out.Volume, Job: e.first, File: e.Out.File}, Segment: -1})
	j.Entry, j.Ran = e, e.Ran
	e.Jobs = []*Job{j}
	c.Jobs = append(c.Jobs, j)
	return j
}

// useAverages uses logs of averages in place of rows, if no job has rows.
func (c *chooser) useAverages(averaged []*Log) {
	if slices.ContainsFunc(c.Jobs, func(j *Job) bool { return j.HasRows }) {
		return
	}
	isMax := func(e *Entry) bool {
		return slices.ContainsFunc([]string{"log_max_value", "log_window_value"}, func(name string) bool { // as 3.36 and later call it
			value := e.OptionOfOne(name)
			return value == "1" || strings.HasPrefix(value, "max")
		})
	}
	if i := slices.IndexFunc(c.Entries, isMax); i >= 0 && len(averaged) > 0 {
		c.problems.note("%s: its logs have the highest value of each interval, and no means: run fio without log_max_value", c.Entries[i].Describe())
		return
	}
	for _, log := range averaged {
		j := c.JobOf(log.Log)
		if j == nil {
			j = NewJob(log)
			c.Jobs = append(c.Jobs, j)
		}
		j.Interval = max(j.Interval, j.AveragedOver(log.Rows)) // windows are not shorter
		var err error
		if log.Kind == fiolog.Clat {
			err = c.setUnit(j, log, hist.UnknownUnit)
		}
		if err != nil {
			c.problems.skip(err)
			continue
		}
		c.Averages = append(c.Averages, log.Log)
	}
}

// configuredInterval returns log_hist_msec from the options of an output or of CBT, in milliseconds. It is 0 if not
// set. If jobs differ, it is the shortest. out may be nil.
func (c *chooser) configuredInterval(out *Output) int64 {
	if out != nil {
		if ms := out.histMsec(); ms > 0 {
			return ms
		}
	}
	option, _ := c.Config["cluster.log_hist_msec"].(string)
	shortest := milliseconds(option)
	for _, s := range c.Run.Sections {
		if ms := milliseconds(s.Options["log_hist_msec"]); ms > 0 && (shortest == 0 || ms < shortest) {
			shortest = ms
		}
	}
	return shortest
}

// AveragedOver returns log_avg_msec of a log of averages, in milliseconds.
func (j *Job) AveragedOver(rows FirstRows) int64 {
	if j.Entry != nil {
		if ms := milliseconds(j.Entry.OptionOfOne("log_avg_msec")); ms > 0 {
			return ms
		}
	}
	if len(rows) == 0 {
		return 0
	}
	return cmp.Or(rows.measure(), max(nominal(rows[0].Time), 1))
}
