package pipeline

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// timing is when a run was.
type timing struct {
	moment        // start of the first job, by the weakest evidence of all jobs
	placed string // how jobs that ran one after another were placed; empty if none did
	window int64  // milliseconds
	shift  int64  // the windows begin this long before the run, to follow its rows
}

// placing finds out when each job of a plan began and how long the windows are.
type placing struct {
	*plan
	ev       *evidence
	problems *Problems
}

func (p placing) times() (err error) {
	if len(p.jobs) == 0 {
		return errNothing
	}
	p.setWriting()
	for _, out := range p.outputs {
		p.placeOutput(out)
	}
	how, contradicted := p.placeByEpochs()
	p.placed = cmp.Or(how, p.placed)
	for _, j := range contradicted {
		p.problems.note("%s: its rows end after the job, by fio's report: the clock of its host was set back while fio ran, or the report is "+
			"of another run; its rows alone say when it started", j.log.File.Name())
	}
	how, without := placeByOtherClock(p.jobs)
	p.placed = cmp.Or(how, p.placed)
	for _, j := range without {
		p.problems.note("%s: its times count from %d ms before its first row: that is used as the job's start",
			j.log.File.Name(), j.first)
	}
	if err := p.setStart(); err != nil {
		return err
	}
	for _, j := range p.jobs {
		if !p.opt.byJob {
			j.offset = j.start.Sub(p.start).Milliseconds()
		}
		if j.source == fromReports { // reports come at the same moments for all jobs
			j.first = j.entry.out.phase(j.interval, j.start.Add(-p.opt.offsets[j.host]))
		}
	}
	if p.window, err = windowOf(p.jobs, p.opt.window); err == nil {
		p.shift = shiftOf(p.jobs, p.window)
	}
	return err
}

// setWriting sets how long fio may have taken to write the logs of each job. It writes them when the job ends, at 6 MB/s on
// a busy machine and up to ten times as fast.
func (p placing) setWriting() {
	const bytesPerMS = 5000
	for _, j := range p.jobs {
		j.writing = time.Duration(p.ev.written[j.jobKey]/bytesPerMS) * time.Millisecond
	}
}

// placeOutput sets the start of each job that a report covers, by the report and the files
// beside it.
func (p placing) placeOutput(out *output) {
	p.dropImpossible(out)
	for _, entries := range by(func(e *entry) string { return e.Host }, out.entries) {
		at := place(out, entries)
		for e, start := range at.starts {
			for _, j := range e.jobs {
				j.moment = start
			}
		}
		p.placed = cmp.Or(at.how, p.placed)
		if at.contradiction != "" {
			p.problems.note("%s", at.contradiction)
		}
		if at.doubt == "" && slices.ContainsFunc(entries, func(e *entry) bool { return e.mayWait(p.sectionsOf(e)) }) {
			at.doubt = groupDoubt(out)
		}
		if at.doubt != "" && !out.hasEpochs() {
			p.problems.skip(errors.New(at.doubt))
		}
	}
}

// by are the entries that have a key in common, in the order of the first of each.
func by[K comparable](keyOf func(*entry) K, entries []*entry) (all [][]*entry) {
	at := map[K]int{}
	for _, e := range entries {
		i, ok := at[keyOf(e)]
		if !ok {
			i, all = len(all), append(all, nil)
			at[keyOf(e)] = i
		}
		all[i] = append(all[i], e)
	}
	return all
}

func (o *output) jobs() (all []*job) {
	for _, e := range o.entries {
		all = append(all, e.jobs...)
	}
	return all
}

// setStart sets the run's start: the earliest start of a job. Starts of hosts differ only if the evidence is precise to
// some milliseconds. Jobs without evidence start with the run.
func (p placing) setStart() error {
	for _, j := range p.jobs {
		if j.start.IsZero() {
			continue
		}
		if !isPossible(j.start) {
			p.problems.skip(fmt.Errorf("%s: %s puts its start in the year %d, which cannot be: not used",
				j.log.File.Name(), j.clock, j.start.Year()))
			j.moment = moment{}
			continue
		}
		j.start = j.start.Add(p.opt.offsets[j.host])
		p.start = earlier(p.start, j.start)
		p.clock, p.error = max(p.clock, j.clock), max(p.error, j.error)
	}
	known := !p.start.IsZero()
	if !known && !p.opt.start.IsZero() {
		p.start, p.clock = p.opt.start, clockUser
	}
	later := p.placeByLogs()
	if p.start.IsZero() {
		if err := p.startOfFiles(later); err != nil && !p.opt.absent {
			return err
		}
	}
	isUndated := func(j *job) bool { return j.entry == nil || j.entry.out.fio.Timestamp == 0 } // fio before 2.2.5
	if p.clock == clockMtime && slices.ContainsFunc(p.jobs, isUndated) {
		p.problems.note("%s: start taken from the files' modification times, and as reliable as these", p.title())
	}
	p.widenLocal()
	for _, j := range p.jobs { // also if the start of the run is unknown and not needed
		if j.start.IsZero() {
			j.moment = moment{p.start.Add(p.opt.offsets[j.host] + later[j]), p.clock, p.error}
		}
	}
	first := slices.MinFunc(p.jobs, func(x, y *job) int { return x.start.Compare(y.start) })
	p.start = first.start.UTC().Truncate(time.Millisecond)
	if !p.opt.absent && !isPossible(p.start) {
		return fmt.Errorf("its files put its start in the year %d, which cannot be: give --start TIME", p.start.Year())
	}
	return nil
}

// startOfFiles takes the run's start from the modification times of its logs. It is as good as
// these, and ignores the skew of hosts. A job may have run for up to an interval after its last row.
func (p placing) startOfFiles(later map[*job]time.Duration) error {
	starts, errs := make([]time.Time, len(p.jobs)), make([]time.Duration, len(p.jobs))
	var dated []*job
	for _, j := range p.jobs {
		if !j.log.File.ModTime.IsZero() {
			dated = append(dated, j)
		}
	}
	for i, last := range p.ev.lastRows(dated) {
		j, modified := dated[i], dated[i].log.File.ModTime
		starts[i] = modified.Add(-time.Duration(last)*time.Millisecond - later[j])
		if j.source == fromHist || j.source == fromNothing { // of averages
			errs[i] = time.Duration(cmp.Or(j.interval, last))*time.Millisecond + step(j.log.File) + j.writing.Truncate(errorOfReport)
		}
	}
	var first time.Time
	for _, start := range starts {
		first = earlier(first, start)
	}
	if first.IsZero() || p.opt.absent && !isPossible(first) {
		return errors.New("nothing says when the run started: give --start TIME")
	}
	p.start, p.clock, p.error = first, clockMtime, max(errorOfCoarse, slices.Max(errs))
	return nil
}

// widenLocal widens the error of a start from a zip without Unix times: the time zone of its
// times is unknown. Where a report has its own time, only differences between its files are used.
func (p placing) widenLocal() {
	isLocal := func(j *job) bool {
		if j.entry == nil {
			return j.log.File.ModLocal
		}
		_, by := j.entry.out.written()
		return by == clockMtime && j.entry.out.File.ModLocal
	}
	if p.clock != clockMtime || !slices.ContainsFunc(p.jobs, isLocal) {
		return
	}
	p.error = errorOfZone
	for _, j := range p.jobs {
		if j.clock == clockMtime {
			j.error = errorOfZone
		}
	}
	p.problems.note("%s: its zip keeps times without a time zone, so the start may be hours off, and jobs an hour if summer time "+
		"began or ended during the run: give --start TIME", p.title())
}
