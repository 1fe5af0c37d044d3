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
	problems *Problems
	absent   bool // the start may stay unknown
	live     bool // fio still writes
}

func (p placing) times() (err error) {
	if len(p.jobs) == 0 {
		return errNothing
	}
	for _, out := range p.outputs {
		p.placeOutput(out)
	}
	how, setBack := placeByEpochs(p.jobs, p.live)
	p.placed = cmp.Or(how, p.placed)
	for _, j := range setBack {
		p.problems.note("%s: its rows end after fio's report was written: the clock of its host was set back while fio ran, "+
			"so its rows alone say when it started", j.log.File.Name())
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
		if p.opt.Align != AlignJob {
			j.offset = j.start.Sub(p.start).Milliseconds()
		}
		if j.source == fromReports { // reports come at the same moments for all jobs
			var begun time.Time
			for _, other := range j.entry.out.jobs() {
				begun = earlier(begun, other.start)
			}
			if j.first = j.entry.out.first; !begun.IsZero() {
				j.first -= j.start.Sub(begun).Milliseconds()
			}
		}
	}
	if p.window, err = windowOf(p.jobs, p.opt.Window); err == nil {
		p.shift = shiftOf(p.jobs, p.window)
	}
	return err
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

// hasEpochs reports whether the rows of all jobs of an output have absolute times.
func (o *output) hasEpochs() bool {
	return !slices.ContainsFunc(o.jobs(), func(j *job) bool { return j.hasRows && !isEpoch(j) })
}

func isEpoch(j *job) bool { return j.hasRows && j.source != fromReports && j.first > epochTimes }

// placeByEpochs sets the start of jobs whose rows have absolute times, and returns how jobs that
// began apart were placed. The first row ends an interval that begins with the first request, which
// may come some time after the job's start. Then a report is better evidence, except of the jobs setBack, whose host's
// clock was set back while fio ran: fio reads the clock for its rows when it starts, and for the report when it ends.
func placeByEpochs(jobs []*job, live bool) (how string, setBack []*job) {
	var first time.Time
	for _, j := range jobs {
		if !isEpoch(j) {
			continue
		}
		at := time.UnixMilli(j.before())
		j.origin = at.UnixMilli()
		if isCertain(j) && j.start.Before(at) && at.Sub(j.start) < time.Hour {
			if !live && at.Sub(j.start) > together && j.endsAfterReport() {
				setBack = append(setBack, j)
			} else {
				at = j.start
			}
		}
		j.moment = moment{at, clockEpoch, errorOfEpoch}
		if j.entry != nil && j.entry.several {
			if end, _ := j.entry.out.written(); end.After(at) {
				j.ran = end.Sub(at).Milliseconds() // of all stages in one log
			}
		}
		j.origin = at.UnixMilli()
		if first = earlier(first, at); at.Sub(first).Abs() > time.Duration(max(2*j.interval, 1000))*time.Millisecond {
			how = "each job where the absolute times of its rows put it (log_unix_epoch)"
		}
	}
	return how, setBack
}

// endsAfterReport reports whether rows with absolute times end after the report was written that its start is from.
func (j *job) endsAfterReport() bool {
	if j.clock != clockReport {
		return false
	}
	end, _ := j.entry.out.written()
	return time.UnixMilli(j.origin+j.lastRow()).Sub(end) > together
}

// isCertain reports whether a job's start is known by its report, not only estimated.
func isCertain(j *job) bool {
	if j.start.IsZero() || j.entry == nil {
		return false
	}
	if j.entry.out.reports > 1 || j.clock == clockStart || j.clock == clockMtime {
		return true
	}
	onHost := slices.Clone(j.entry.out.entries)
	return isOneStage(slices.DeleteFunc(onHost, func(e *entry) bool { return e.Host != j.entry.Host }))
}

// placeByOtherClock sets the start of jobs whose rows' times count neither from the job's start nor
// from 1970, but from the machine's start (log_alternate_epoch). They show how far apart the jobs of one
// host began, and the report shows when. It returns how jobs that began apart were placed, and the jobs
// without a report.
func placeByOtherClock(jobs []*job) (how string, without []*job) {
	latest := map[*output]int64{} // end of the last job by the other clock
	for _, j := range jobs {
		if isOtherClock(j) && j.entry != nil {
			latest[j.entry.out] = max(latest[j.entry.out], j.before()+j.ran)
		}
	}
	for _, j := range jobs {
		if !isOtherClock(j) {
			continue
		}
		if j.origin = j.before(); j.entry == nil {
			without = append(without, j)
			continue
		}
		if end, by := j.entry.out.written(); !end.IsZero() {
			before := latest[j.entry.out] - j.origin
			j.moment = moment{end.Add(-time.Duration(before) * time.Millisecond), by, errorOfReport}
			if before > j.ran+1000 {
				how = "each job where the times of its rows put it (log_alternate_epoch)"
			}
		}
	}
	return how, without
}

// isOtherClock reports whether the times of a job's rows count neither from its start nor from
// 1970, by its options or because the first one is long after its end.
func isOtherClock(j *job) bool {
	if !j.hasRows || j.source == fromReports || isEpoch(j) {
		return false
	}
	const late = 600_000 // ms: without a report, a first row as late as this is by another clock
	if j.entry == nil {
		return j.first > late+100*j.interval
	}
	id := j.entry.option("log_alternate_epoch_clock_id")
	if id != "" && id != "0" && j.entry.hasOption("log_alternate_epoch") {
		return true
	}
	return j.ran > 0 && j.first > j.ran+10*max(j.interval, 1000)
}

// setStart finds the run's start, the earliest start of a job. Only evidence precise to some
// milliseconds corrects for hosts that started apart. Jobs without any start with the run.
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
		j.start = j.start.Add(p.opt.Offsets[j.host])
		p.start = earlier(p.start, j.start)
		p.clock, p.error = max(p.clock, j.clock), max(p.error, j.error)
	}
	known := !p.start.IsZero()
	if !known && !p.opt.Start.IsZero() {
		p.start, p.clock = p.opt.Start, clockUser
	}
	later := p.placeByLogs()
	if p.start.IsZero() && !p.absent {
		if err := p.startOfFiles(later); err != nil {
			return err
		}
	}
	p.widenLocal()
	for _, j := range p.jobs { // also if the start of the run is unknown and not needed
		if j.start.IsZero() {
			j.moment = moment{p.start.Add(p.opt.Offsets[j.host] + later[j]), p.clock, p.error}
		}
	}
	first := slices.MinFunc(p.jobs, func(x, y *job) int { return x.start.Compare(y.start) })
	p.start = first.start.UTC().Truncate(time.Millisecond)
	if !p.absent && !isPossible(p.start) {
		return fmt.Errorf("its files put its start in the year %d, which cannot be: give --start TIME", p.start.Year())
	}
	return nil
}

// startOfFiles takes the run's start from the modification times of its logs. It is as good as
// these, and ignores the skew of hosts.
func (p placing) startOfFiles(later map[*job]time.Duration) error {
	starts := make([]time.Time, len(p.jobs))
	p.opt.each(len(p.jobs), func(i int) {
		j := p.jobs[i]
		if modified := j.log.File.ModTime; !modified.IsZero() {
			starts[i] = modified.Add(-time.Duration(j.lastRow())*time.Millisecond - later[j])
		}
	})
	for _, start := range starts {
		p.start, p.clock, p.error = earlier(p.start, start), clockMtime, errorOfCoarse
	}
	if p.start.IsZero() {
		return errors.New("nothing says when the run started: give --start TIME")
	}
	p.problems.note("%s: start taken from the files' modification times, and as reliable as these", p.title())
	return nil
}

// widenLocal widens the error of a start from a zip without Unix times: the time zone of its
// times is unknown.
func (p placing) widenLocal() {
	isLocal := func(j *job) bool { return j.log.File.ModLocal }
	if p.clock != clockMtime || !slices.ContainsFunc(p.jobs, isLocal) {
		return
	}
	p.error = errorOfZone
	for _, j := range p.jobs {
		if j.clock == clockMtime {
			j.error = errorOfZone
		}
	}
	p.problems.note("%s: its zip keeps times without a time zone, so the start may be hours off: give --start TIME", p.title())
}

// windowOf is the length of windows in milliseconds: the wanted one, or the usual one of the
// jobs' rows. It fails if the rows are too long for it.
func windowOf(jobs []*job, wanted time.Duration) (int64, error) {
	rows := int64(0)
	for _, j := range jobs {
		rows = max(rows, j.interval)
	}
	if wanted <= 0 {
		return UsualWindow(rows), nil
	}
	window := max(wanted.Milliseconds(), 1)
	if window < rows-rows/20 {
		return 0, fmt.Errorf("windows of %v are shorter than its rows, which do not show when in %v a request "+
			"completed: give --interval %v or more",
			wanted, time.Duration(rows)*time.Millisecond, time.Duration(rows)*time.Millisecond)
	}
	return window, nil
}

// UsualWindow is the shortest multiple of the time between rows that is a second or more,
// because a window that is cut across rows is an estimate. Periodic reports have any spacing.
func UsualWindow(rows int64) int64 {
	const second = 1000
	if rows <= 0 {
		return second
	}
	return (second + rows - 1) / rows * rows
}

// shiftOf is how long before the run its windows begin, so that they follow the rows: all jobs of the run
// have their rows at the same moments, but not at multiples of the window's length. Periodic reports are
// such rows: the first comes some time after the start. Otherwise it is 0.
func shiftOf(jobs []*job, window int64) int64 {
	phase := int64(-1)
	for _, j := range jobs {
		if !j.hasRows && j.source == fromNothing {
			continue
		}
		if !j.hasRows || j.interval <= 0 || window%j.interval != 0 {
			return 0
		}
		at := ((j.first-j.origin+j.offset)%j.interval + j.interval) % j.interval
		apart := (at - phase + j.interval) % j.interval
		if phase >= 0 && min(apart, j.interval-apart) > j.interval/20 {
			return 0
		}
		if phase < 0 {
			phase = at
		}
	}
	if len(jobs) == 0 || phase <= jobs[0].interval/20 {
		return 0
	}
	return window - phase
}
