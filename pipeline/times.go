package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// setTimes finds when each job began and how long the windows are.
func (b *planner) setTimes() error {
	b.placeOutputs()
	b.setEpochs()
	b.setOtherClocks()
	if err := b.setStart(); err != nil {
		return err
	}
	for _, j := range b.jobs {
		if b.opt.Align != AlignJob {
			j.offset = j.start.Sub(b.start).Milliseconds()
		}
		if j.source == fromReports { // reports come at the same moments for all jobs
			j.first = j.entry.out.first
			if at := b.firstOf(j.entry.out); !at.IsZero() {
				j.first -= j.start.Sub(at).Milliseconds()
			}
		}
	}
	return b.setWindow()
}

// firstOf is when the first job of an output began.
func (b *planner) firstOf(out *output) (first time.Time) {
	for _, j := range b.jobs {
		if j.entry != nil && j.entry.out == out {
			first = earlier(first, j.start)
		}
	}
	return first
}

// placeOutputs sets the start of each job that a report covers, by the report and the files
// beside it.
func (b *planner) placeOutputs() {
	for _, out := range b.outputs {
		byHost := map[string][]*entry{}
		var hosts []string
		for _, e := range b.entries {
			if e.out != out {
				continue
			}
			if byHost[e.Host] == nil {
				hosts = append(hosts, e.Host)
			}
			byHost[e.Host] = append(byHost[e.Host], e)
		}
		b.dropImpossible(out)
		for _, host := range hosts {
			p := place(out, byHost[host])
			for e, at := range p.starts {
				for _, j := range e.jobs {
					j.moment = at
				}
			}
			if p.how != "" {
				b.placed = p.how
			}
			if p.doubt != "" && !b.hasEpochs(out) {
				b.skip(errors.New(p.doubt))
			}
		}
	}
}

// hasEpochs reports whether the rows of all jobs of an output have absolute times.
func (b *planner) hasEpochs(out *output) bool {
	for _, j := range b.jobs {
		if j.entry != nil && j.entry.out == out && j.hasRows && !isEpoch(j) {
			return false
		}
	}
	return true
}

func isEpoch(j *job) bool { return j.hasRows && j.source != fromReports && j.first > epochTimes }

// setEpochs uses rows with absolute times. The first row ends an interval that begins with the
// first request, which may come some time after the job's start. Then a report is better
// evidence. Jobs that ran one after another have a start each.
func (b *planner) setEpochs() {
	var first time.Time
	for _, j := range b.jobs {
		if !isEpoch(j) {
			continue
		}
		at := time.UnixMilli(j.before())
		if b.certain(j) && j.start.Before(at) && at.Sub(j.start) < time.Hour {
			at = j.start
		}
		j.moment = moment{at, clockEpoch, errorOfEpoch}
		if end, _ := writtenOf(j); j.entry != nil && j.entry.several && end.After(at) {
			j.ran = end.Sub(at).Milliseconds() // of all stages in one log
		}
		j.origin = at.UnixMilli()
		if first = earlier(first, at); at.Sub(first).Abs() > time.Duration(max(2*j.interval, 1000))*time.Millisecond {
			b.placed = "each job where the absolute times of its rows put it (log_unix_epoch)"
		}
	}
}

// writtenOf is when the report of a job was written.
func writtenOf(j *job) (time.Time, clock) {
	if j.entry == nil {
		return time.Time{}, clockNone
	}
	return j.entry.out.written()
}

// certain reports whether a job's start is known by its report, not only estimated.
func (b *planner) certain(j *job) bool {
	return !j.start.IsZero() && j.entry != nil &&
		(isOneStage(b.entriesOf(j)) || j.entry.out.reports > 1 || j.clock == clockStart || j.clock == clockMtime)
}

// entriesOf are all entries of a job's output on its host.
func (b *planner) entriesOf(j *job) []*entry {
	var all []*entry
	for _, e := range b.entries {
		if e.out == j.entry.out && e.Host == j.entry.Host {
			all = append(all, e)
		}
	}
	return all
}

// setOtherClocks is for rows whose times count neither from the job's start nor from 1970, but
// from the machine's start (log_alternate_epoch). They show how far apart the jobs of one host
// began, and the report shows when.
func (b *planner) setOtherClocks() {
	latest := map[*output]int64{} // end of the last job by the other clock
	for _, j := range b.jobs {
		if isOtherClock(j) && j.entry != nil {
			latest[j.entry.out] = max(latest[j.entry.out], j.before()+j.ran)
		}
	}
	for _, j := range b.jobs {
		if !isOtherClock(j) {
			continue
		}
		j.origin = j.before()
		if j.entry == nil {
			b.note("%s: its times count from %d ms before its first row: that is used as the job's start",
				j.log.File.Name(), j.first)
			continue
		}
		if end, by := j.entry.out.written(); !end.IsZero() {
			j.start = end.Add(-time.Duration(latest[j.entry.out]-j.origin) * time.Millisecond)
			j.clock, j.error = by, errorOfReport
			if latest[j.entry.out]-j.origin > j.ran+1000 {
				b.placed = "each job where the times of its rows put it (log_alternate_epoch)"
			}
		}
	}
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
func (b *planner) setStart() error {
	for _, j := range b.jobs {
		if j.start.IsZero() {
			continue
		}
		if !isPossible(j.start) {
			b.skip(fmt.Errorf("%s: %s puts its start in the year %d, which cannot be: not used",
				j.log.File.Name(), j.clock, j.start.Year()))
			j.moment = moment{}
			continue
		}
		j.start = j.start.Add(b.opt.Offsets[j.host])
		b.start = earlier(b.start, j.start)
		b.clock, b.error = max(b.clock, j.clock), max(b.error, j.error)
	}
	known := !b.start.IsZero()
	if !known && !b.opt.Start.IsZero() {
		b.start, b.clock = b.opt.Start, clockUser
	}
	later := b.placeByLogs()
	if b.start.IsZero() && !b.absent {
		if err := b.startOfFiles(later); err != nil {
			return err
		}
	}
	b.widenLocal()
	for _, j := range b.jobs { // also if the start of the run is unknown and not needed
		if j.start.IsZero() {
			j.moment = moment{b.start.Add(b.opt.Offsets[j.host] + later[j]), b.clock, b.error}
		}
	}
	first := slices.MinFunc(b.jobs, func(x, y *job) int { return x.start.Compare(y.start) })
	b.start = first.start.UTC().Truncate(time.Millisecond)
	if !b.absent && !isPossible(b.start) {
		return fmt.Errorf("its files put its start in the year %d, which cannot be: give --start TIME", b.start.Year())
	}
	return nil
}

// startOfFiles takes the run's start from the modification times of its logs. It is as good as
// these, and ignores the skew of hosts.
func (b *planner) startOfFiles(later map[*job]time.Duration) error {
	starts := make([]time.Time, len(b.jobs))
	b.each(len(b.jobs), func(i int) {
		j := b.jobs[i]
		if modified := j.log.File.ModTime; !modified.IsZero() {
			starts[i] = modified.Add(-time.Duration(b.lastRow(j))*time.Millisecond - later[j])
		}
	})
	for _, start := range starts {
		b.start, b.clock, b.error = earlier(b.start, start), clockMtime, errorOfCoarse
	}
	if b.start.IsZero() {
		return errors.New("nothing says when the run started: give --start TIME")
	}
	b.note("%s: start taken from the files' modification times, and as reliable as these", b.title)
	return nil
}

// widenLocal widens the error of a start from a zip without Unix times: the time zone of its
// times is unknown.
func (b *planner) widenLocal() {
	isLocal := func(j *job) bool { return j.log.File.ModLocal }
	if b.clock != clockMtime || !slices.ContainsFunc(b.jobs, isLocal) {
		return
	}
	b.error = errorOfZone
	for _, j := range b.jobs {
		if j.clock == clockMtime {
			j.error = errorOfZone
		}
	}
	b.note("%s: its zip keeps times without a time zone, so the start may be hours off: give --start TIME", b.title)
}

// setWindow finds the length of the windows.
func (b *planner) setWindow() error {
	rows := int64(0)
	for _, j := range b.jobs {
		rows = max(rows, j.interval)
	}
	b.window = usualWindow(rows)
	if b.opt.Window > 0 {
		b.window = max(b.opt.Window.Milliseconds(), 1)
		if b.window < rows-rows/20 {
			return fmt.Errorf("windows of %v are shorter than its rows, which do not show when in %v a request "+
				"completed: give --interval %v or more",
				b.opt.Window, time.Duration(rows)*time.Millisecond, time.Duration(rows)*time.Millisecond)
		}
	}
	b.setShift()
	return nil
}

// usualWindow is the shortest multiple of the time between rows that is a second or more,
// because a window that is cut across rows is an estimate. Periodic reports have any spacing.
func usualWindow(rows int64) int64 {
	const second = 1000
	if rows <= 0 {
		return second
	}
	return (second + rows - 1) / rows * rows
}

// setShift aligns the windows with the rows if all jobs of the run have their rows at the same
// moments, but not at multiples of the window's length. Periodic reports are such rows: the
// first comes some time after the start.
func (b *planner) setShift() {
	phase := int64(-1)
	for _, j := range b.jobs {
		if !j.hasRows && j.source == fromNothing {
			continue
		}
		if !j.hasRows || j.interval <= 0 || b.window%j.interval != 0 {
			return
		}
		at := ((j.first-j.origin+j.offset)%j.interval + j.interval) % j.interval
		apart := (at - phase + j.interval) % j.interval
		if phase >= 0 && min(apart, j.interval-apart) > j.interval/20 {
			return
		}
		if phase < 0 {
			phase = at
		}
	}
	if len(b.jobs) > 0 && phase > b.jobs[0].interval/20 {
		b.shift = b.window - phase
	}
}
