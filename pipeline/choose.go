package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// Source is what windows are made of, where a run has several.
type Source string

// The sources; the zero value is SourceHist.
const (
	SourceHist Source = "hist" // histogram logs or, if not coarser, periodic reports; else completions
	SourceRaw  Source = "raw"  // logs of all completions
)

// choose makes the run's jobs, each from the best source that it has.
func (b *planner) choose(slots []*slot) {
	periodic := b.periodic(slots)
	for _, s := range slots {
		switch {
		case s.isDropped():
		case s.entry != nil && periodic[s.entry.out]:
		default:
			b.addSlot(s)
			continue
		}
		s.close()
	}
	for _, out := range b.outputs {
		if periodic[out] {
			b.addReports(out)
		}
	}
}

func (s *slot) close() {
	if s.cursor != nil {
		s.cursor.close()
	}
}

// periodic are the outputs whose periodic reports are read in place of all logs of their
// jobs: they are complete to the end, and no coarser than the logs.
func (b *planner) periodic(slots []*slot) map[*output]bool {
	use := map[*output]bool{}
	for _, out := range b.outputs {
		if out.reports < 3 || !out.hasBins || b.opt.Source == SourceRaw && hasRaw(slots, out) || !b.separable(out) {
			continue
		}
		use[out] = !hasHist(slots, out) || b.notCoarser(out)
	}
	return use
}

// separable reports whether the run has the entries of an output, each with directions.
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

func hasHist(slots []*slot, out *output) bool {
	for _, s := range slots {
		if s.entry != nil && s.entry.out == out && s.head.hasRows {
			return true
		}
	}
	return false
}

func hasRaw(slots []*slot, out *output) bool {
	for _, s := range slots {
		if s.entry != nil && s.entry.out == out && s.raw.File != nil {
			return true
		}
	}
	return false
}

// notCoarser reports whether the reports follow one another no more slowly than the rows
// of the histogram logs; a few milliseconds do not count.
func (b *planner) notCoarser(out *output) bool {
	interval := b.configuredInterval(out)
	return interval > 0 && out.spacing <= interval+interval/20
}

// addSlot makes the job of a slot.
func (b *planner) addSlot(s *slot) {
	j := &job{host: s.host, volume: s.volume, number: s.number, segment: s.segment, entry: s.entry, log: s.log()}
	if s.entry != nil {
		j.section, j.ran = s.entry.Name, s.entry.ran
		s.entry.jobs = append(s.entry.jobs, j)
	}
	b.jobs = append(b.jobs, j)
	if b.opt.Source == SourceRaw && s.raw.File != nil {
		s.close()
		b.useRaw(j, s)
		return
	}
	why := b.whyNotHist(j, s)
	switch {
	case why == nil:
		b.useHist(j, s)
		return
	case s.raw.File != nil:
		b.useRaw(j, s)
		if s.hist.File != nil {
			b.note("%v: its log of completions is read instead", why)
		}
	case errors.Is(why, errNoRows):
		b.useHist(j, s) // of no rows: the report may still say what happened
		return
	default:
		b.lose(why)
	}
	s.close()
}

// errNoRows is a histogram log without any row.
var errNoRows = errors.New("the histogram log has no rows")

// whyNotHist is why the histogram log of a slot cannot be used; nil if it can.
func (b *planner) whyNotHist(j *job, s *slot) error {
	switch {
	case s.hist.File == nil:
		return fmt.Errorf("%s: no histogram log of job %d", b.title, s.number)
	case s.head.err != nil:
		return s.head.err
	case !s.head.hasRows:
		return fmt.Errorf("%s: %w", s.hist.File.Name(), errNoRows)
	case s.entry == nil || !s.entry.out.client:
		return nil
	}
	lag, err := proveLag(s, b.readers, []*entry{s.entry})
	if j.lag = lag; lag > 0 {
		b.note("%s: fio --client added earlier rows to later ones: undone, as the bins of %s prove", s.hist.File.Name(), s.entry.out.File.Name())
	}
	return err
}

func (b *planner) useHist(j *job, s *slot) {
	j.source, j.log, j.hasRows, j.first = fromHist, s.hist, s.head.hasRows, s.head.first
	j.layout, j.hint = s.head.layout, s.hint
	b.checkLayout(j)
	j.interval = b.histInterval(j)
	if j.interval == 0 {
		j.interval = s.cursor.measure()
	}
	if isOtherClock(j) {
		j.late = s.cursor.late(j.interval)
	}
	b.cursors.hist[j] = s.cursor
}

func (b *planner) useRaw(j *job, s *slot) {
	r := openRaw(s.raw, max(s.segment, 0), b.readers.size)
	if j.entry != nil && strings.HasPrefix(j.entry.out.fio.Version, "fio-2") {
		r.unit = 1000
	}
	j.source, j.log = fromRaw, s.raw
	j.first, j.hasRows = r.first()
	b.cursors.raw[j] = r
}

// addReports makes a job of each entry of an output with periodic reports.
func (b *planner) addReports(out *output) {
	for _, e := range b.entries {
		if e.out == out {
			b.useReports(b.bareJob(e))
		}
	}
}

// useReports reads a job's rows from the periodic reports of its entry.
func (b *planner) useReports(j *job) {
	out := j.entry.out
	f := b.feeds[out]
	if f == nil {
		f = newFeed(out, b.cursors.live, b.run.Budget)
		b.feeds[out] = f
	}
	j.source, j.hasRows, j.interval = fromReports, true, out.spacing
	if l, err := hist.NewLayout(out.fio.Unit, j.entry.groups, 0); err == nil {
		j.layout = l
	}
	b.cursors.feeds[j] = f
	f.add(j)
}

// fallBack reads the jobs whose logs have no rows from periodic reports, where there are
// some, and makes jobs without rows of the entries that no log is of.
func (b *planner) fallBack() {
	for _, e := range b.entries {
		if len(e.jobs) == 0 {
			b.bareJob(e)
		}
		j := e.jobs[0]
		if len(e.jobs) > 1 || j.hasRows || e.mixed || e.out.reports < 3 || requestsOf(e.Job) == 0 || !e.out.hasBins {
			continue
		}
		if h := b.cursors.hist[j]; h != nil {
			h.close()
			delete(b.cursors.hist, j)
		}
		b.useReports(j)
	}
}

// bareJob is the job of an entry of fio's output, without any log.
func (b *planner) bareJob(e *entry) *job {
	host := e.out.Host
	if e.Host != "" {
		host = e.Host
	}
	j := &job{
		host: host, volume: e.out.Volume, number: e.first, section: e.Name, segment: -1, entry: e, ran: e.ran,
		log: cbt.Log{Host: host, Volume: e.out.Volume, Job: e.first, File: e.out.File},
	}
	e.jobs = []*job{j}
	b.jobs = append(b.jobs, j)
	return j
}

// useAverages are the logs of means that stand in for rows, if no job has any.
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
	j := &job{host: log.Host, volume: log.Volume, number: max(log.Job, 1), segment: -1, log: log}
	b.jobs = append(b.jobs, j)
	return j
}

// jobOf is the job that wrote a log; nil if there is none.
func (p *plan) jobOf(log cbt.Log) *job {
	for _, j := range p.jobs {
		if j.host == log.Host && j.volume == log.Volume && j.number == max(log.Job, 1) {
			return j
		}
	}
	return nil
}

// histInterval is a job's log_hist_msec as its options or CBT's have it; else 0.
func (b *planner) histInterval(j *job) int64 {
	if j.entry == nil {
		return b.configuredInterval(nil)
	}
	if ms := milliseconds(j.entry.out.option(j.entry.index, "log_hist_msec")); ms > 0 {
		return ms
	}
	return b.configuredInterval(j.entry.out)
}

// configuredInterval is log_hist_msec as fio's options or CBT's have it, or 0; the
// shortest where jobs differ.
func (b *planner) configuredInterval(out *output) int64 {
	if out != nil {
		if ms := out.histMsec(); ms > 0 {
			return ms
		}
	}
	option, _ := b.config["cluster.log_hist_msec"].(string)
	return milliseconds(cmp.Or(option, b.run.JobOptions["log_hist_msec"]))
}
