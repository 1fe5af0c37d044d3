package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// errNothing means that a run has no usable log or report.
var errNothing = errors.New("no rows in any of its logs, and no report that can be used")

// times finds out when each job began and how long the windows are.
func (p *planner) times() (err error) {
	if len(p.Jobs) == 0 {
		return errNothing
	}
	const bytesPerMS = 5000 // fio writes logs when their job ends, at 6 MB/s on a busy machine and up to ten times as fast
	for _, j := range p.Jobs {
		j.writing = time.Duration(p.ev.Written[j.JobKey]/bytesPerMS) * time.Millisecond
	}
	for _, out := range p.Outputs {
		p.placeOutput(out)
	}
	how, contradicted := p.placeByEpochs()
	p.Placed = cmp.Or(how, p.Placed)
	for _, j := range contradicted {
		p.problems.note("%s: its rows end after the job, by fio's report: the clock of its host was set back while fio ran, or the report is "+
			"of another run; its rows alone say when it started", j.Log.File.Name())
	}
	how, without := placeByOtherClock(p.Jobs)
	p.Placed = cmp.Or(how, p.Placed)
	for _, j := range without {
		p.problems.note("%s: its times count from %d ms before its first row: that is used as the job's start",
			j.Log.File.Name(), j.First)
	}
	if err := p.setStart(); err != nil {
		return err
	}
	for _, j := range p.Jobs {
		if !p.opt.ByJob {
			j.Offset = j.Start.Sub(p.Start).Milliseconds()
		}
		if j.Source == FromReports { // reports come at the same moments for all jobs
			j.First = j.Entry.Out.phase(j.Interval, j.Start.Add(-p.opt.Offsets[j.Host]))
		}
	}
	if p.Window, err = windowOf(p.Jobs, p.opt.Window); err == nil {
		p.Shift = shiftOf(p.Jobs, p.Window)
	}
	return err
}

// placeOutput sets the start of each job that a report covers, by the report and the files
// beside it.
func (p *planner) placeOutput(out *Output) {
	p.dropImpossible(out)
	for _, entries := range by(func(e *Entry) string { return e.Host }, out.Entries) {
		at := Place(out, entries)
		for e, start := range at.Starts {
			for _, j := range e.Jobs {
				j.moment = start
			}
		}
		p.Placed = cmp.Or(at.how, p.Placed)
		if at.contradiction != "" {
			p.problems.note("%s", at.contradiction)
		}
		if at.doubt == "" && slices.ContainsFunc(entries, func(e *Entry) bool { return e.mayWait(p.sectionsOf(e)) }) {
			at.doubt = groupDoubt(out)
		}
		if at.doubt != "" && slices.ContainsFunc(out.jobs(), func(j *Job) bool { return RequestsOf(j.Entry.Job) > 0 && !isEpoch(j) }) {
			p.problems.skip(errors.New(at.doubt))
		}
	}
}

// setStart sets the run's start: the earliest start of a job. Starts of hosts differ only if the evidence is precise to
// some milliseconds. Jobs without evidence start with the run.
func (p *planner) setStart() error {
	for _, j := range p.Jobs {
		if j.Start.IsZero() {
			continue
		}
		if !isPossible(j.Start) {
			p.problems.skip(fmt.Errorf("%s: %s puts its start in the year %d, which cannot be: not used",
				j.Log.File.Name(), j.Clock, j.Start.Year()))
			j.moment = moment{}
			continue
		}
		j.Start = j.Start.Add(p.opt.Offsets[j.Host])
		p.Start = Earlier(p.Start, j.Start)
		p.Clock, p.Error = max(p.Clock, j.Clock), max(p.Error, j.Error)
	}
	known := !p.Start.IsZero()
	if !known && !p.opt.Start.IsZero() {
		p.Start, p.Clock = p.opt.Start, clockUser
	}
	later := p.placeByLogs()
	if p.Start.IsZero() {
		if err := p.startOfFiles(later); err != nil && !p.opt.Absent {
			return err
		}
	}
	isUndated := func(j *Job) bool { return j.Entry == nil || j.Entry.Out.Fio.Timestamp == 0 } // fio before 2.2.5
	if p.Clock == clockMtime && slices.ContainsFunc(p.Jobs, isUndated) {
		p.problems.note("%s: start taken from the files' modification times, and as reliable as these", p.Title())
	}
	p.widenLocal()
	for _, j := range p.Jobs { // also if the start of the run is unknown and not needed
		if j.Start.IsZero() {
			j.moment = moment{p.Start.Add(p.opt.Offsets[j.Host] + later[j]), p.Clock, p.Error}
		}
	}
	first := slices.MinFunc(p.Jobs, func(x, y *Job) int { return x.Start.Compare(y.Start) })
	p.Start = first.Start.UTC().Truncate(time.Millisecond)
	if !p.opt.Absent && !isPossible(p.Start) {
		return fmt.Errorf("its files put its start in the year %d, which cannot be: set FIO2ES_START=TIME", p.Start.Year())
	}
	return nil
}

// startOfFiles takes the run's start from the modification times of its logs. It is as good as
// these, and ignores the skew of hosts. A job may have run for up to an interval after its last row, or without any. The
// length of a single row is at most its time, and that of no rows is unknown.
func (p *planner) startOfFiles(later map[*Job]time.Duration) error {
	starts, errs := make([]time.Time, len(p.Jobs)), make([]time.Duration, len(p.Jobs))
	var dated []*Job
	rows := time.Duration(0)
	for _, j := range p.Jobs {
		rows = max(rows, time.Duration(j.Interval)*time.Millisecond)
		if !j.Log.File.ModTime.IsZero() {
			dated = append(dated, j)
		}
	}
	for i, last := range p.ev.lastRows(dated) {
		j, modified := dated[i], dated[i].Log.File.ModTime
		starts[i] = modified.Add(-time.Duration(last)*time.Millisecond - later[j])
		if j.Source == FromHist || j.Source == FromNothing { // of averages
			row := cmp.Or(time.Duration(j.Interval)*time.Millisecond, time.Duration(last)*time.Millisecond, rows, errorOfNoRow)
			errs[i] = row + step(j.Log.File) + j.writing.Truncate(errorOfReport)
		}
	}
	var first time.Time
	for _, start := range starts {
		first = Earlier(first, start)
	}
	if first.IsZero() || p.opt.Absent && !isPossible(first) {
		return errors.New("nothing says when the run started: set FIO2ES_START=TIME")
	}
	p.Start, p.Clock, p.Error = first, clockMtime, max(ErrorOfCoarse, slices.Max(errs))
	return nil
}

// widenLocal widens the error of a start from a zip without Unix times: the time zone of its
// times is unknown. Where a report has its own time, only differences between its files are used.
func (p *planner) widenLocal() {
	isLocal := func(j *Job) bool {
		if j.Entry == nil {
			return j.Log.File.ModLocal
		}
		_, by := j.Entry.Out.written()
		return by == clockMtime && j.Entry.Out.File.ModLocal
	}
	if p.Clock != clockMtime || !slices.ContainsFunc(p.Jobs, isLocal) {
		return
	}
	p.Error = ErrorOfZone
	for _, j := range p.Jobs {
		if j.Clock == clockMtime {
			j.Error = ErrorOfZone
		}
	}
	p.problems.note("%s: its zip keeps times without a time zone, so the start may be hours off, and jobs an hour if summer time "+
		"began or ended during the run: set FIO2ES_START=TIME", p.Title())
}

// dropImpossible removes impossible times of a report, so other evidence is used instead of a damaged number.
func (p *planner) dropImpossible(out *Output) {
	drop := func(what string, ms *int64) {
		if at := time.UnixMilli(*ms); !isPossible(at) {
			p.problems.skip(fmt.Errorf("%s: %s %d is in the year %d, which cannot be: not used",
				out.File.Name(), what, *ms, at.Year()))
			*ms = 0
		}
	}
	for _, e := range out.Entries {
		drop("job_start", &e.Start)
	}
	drop("timestamp_ms", &out.Fio.Timestamp)
}

// lastRows returns the time of the last row of each job in milliseconds since the start of the job.
func (ev *Evidence) lastRows(jobs []*Job) []int64 {
	times := make([]int64, len(jobs))
	var read []*Job // the logs of these
	var places []int
	for i, j := range jobs {
		if times[i] = j.Ran; j.ReadsLog() || j.Entry == nil {
			read, places = append(read, j), append(places, i)
		}
	}
	if len(read) == 0 {
		return times
	}
	for i, last := range ev.Reader.Last(read) {
		times[places[i]] = max(last-read[i].Origin, 0)
	}
	return times
}

func isEpoch(j *Job) bool { return j.HasRows && j.Source != FromReports && j.First > EpochTimes }

// placeByEpochs sets the start of jobs whose rows have absolute times. how says how jobs that began apart were placed.
// The first row ends an interval that begins with the first request, and this may come some time after the job's start.
// So other evidence is used if it is precise and earlier, and if the rows end with the job, by its run time. It is not
// used for the jobs contradicted: the clock of their host was set back while fio ran, or their files are not of one run.
func (p *planner) placeByEpochs() (how string, contradicted []*Job) {
	var first time.Time
	for _, j := range p.Jobs {
		if !isEpoch(j) {
			continue
		}
		at := moment{time.UnixMilli(j.before()), clockEpoch, max(errorOfEpoch, j.untilFirst())}
		if j.Interval == 0 {
			at.Error = errorOfOneRow
		}
		j.Origin = at.Start.UnixMilli()
		isCertain := j.Entry != nil && !j.Start.IsZero() && j.Error <= together // by its report or the times of its files
		if idle := at.Start.Sub(j.Start); isCertain && idle > 0 && idle < time.Hour {
			switch {
			case !p.ev.Live && idle > together && j.Entry.Ran > 0 &&
				time.UnixMilli(j.Origin+p.ev.lastRows([]*Job{j})[0]).Sub(j.Start.Add(j.Entry.ranFor())) > together:
				contradicted = append(contradicted, j)
			case j.Error <= at.Error || idle > j.Error+at.Error:
				at.Start, at.Error = j.Start, j.Error
			}
		}
		j.moment = at
		if j.Entry != nil && j.Entry.Several {
			if end, _ := j.Entry.Out.written(); end.After(at.Start) {
				j.Ran = end.Sub(at.Start).Milliseconds() // the log has all stages
			}
		}
		j.Origin = at.Start.UnixMilli()
		if first = Earlier(first, at.Start); at.Start.Sub(first).Abs() > time.Duration(max(2*j.Interval, 1000))*time.Millisecond {
			how = "each job where the absolute times of its rows put it (log_unix_epoch)"
		}
	}
	return how, contradicted
}

// untilFirst is how long after the start of a job its first request may have completed, by its first row: after the
// slowest latency, and three times the usual time between requests.
func (j *Job) untilFirst() time.Duration {
	if j.Source != FromHist || len(j.Log.Rows) == 0 || len(j.Log.Rows[0].Bins) == 0 {
		return 0
	}
	row := j.Log.Rows[0]
	_, slowest := row.Layout.Bounds(int(row.Bins[len(row.Bins)-1].Index))
	return min(time.Duration(slowest), time.Minute) + 3*time.Duration(j.Interval)*time.Millisecond/time.Duration(row.Total)
}

// placeByOtherClock sets the start of jobs whose rows count from the start of the machine (log_alternate_epoch). Such
// times are neither since the job's start nor since 1970. They show how far apart the jobs of one host began. The
// report shows when. how says how jobs that began apart were placed. without has the jobs without a report.
func placeByOtherClock(jobs []*Job) (how string, without []*Job) {
	latest := map[*Output]int64{} // end of the last job, by the other clock
	for _, j := range jobs {
		if isOtherClock(j) && j.Entry != nil {
			latest[j.Entry.Out] = max(latest[j.Entry.Out], j.before()+j.Ran)
		}
	}
	for _, j := range jobs {
		if !isOtherClock(j) {
			continue
		}
		if j.Origin = j.before(); j.Entry == nil {
			without = append(without, j)
			continue
		}
		if end, by := j.Entry.Out.written(); !end.IsZero() {
			before := latest[j.Entry.Out] - j.Origin
			j.moment = moment{end.Add(-time.Duration(before) * time.Millisecond), by, errorOfReport}
			if before > j.Ran+1000 {
				how = "each job where the times of its rows put it (log_alternate_epoch)"
			}
		}
	}
	return how, without
}

// isOtherClock reports whether the times of a job's rows count neither from its start nor from 1970. Its options say
// this, or the first row comes long after the job's end.
func isOtherClock(j *Job) bool {
	if !j.HasRows || j.Source == FromReports || isEpoch(j) {
		return false
	}
	const late = 600_000 // ms; without a report, a first row this late is by another clock
	if j.Entry == nil {
		return j.First > late+100*j.Interval
	}
	id := j.Entry.option("log_alternate_epoch_clock_id")
	if id != "" && id != "0" && j.Entry.HasOption("log_alternate_epoch") {
		return true
	}
	return j.Ran > 0 && j.First > j.Ran+10*max(j.Interval, 1000)
}

// placeByLogs places jobs without reports by the modification times of their logs. It returns how much later than the
// first job of its host each job began. Files that were copied have the time of the copy. So it places only logs that
// follow one another.
func (p *planner) placeByLogs() map[*Job]time.Duration {
	later := map[*Job]time.Duration{}
	byHost := map[string][]*Job{}
	for _, j := range p.Jobs {
		if j.Start.IsZero() && j.HasRows && !j.Log.File.ModTime.IsZero() {
			byHost[j.Host] = append(byHost[j.Host], j)
		}
	}
	for _, jobs := range byHost {
		if len(jobs) > 1 && mayFollow(jobs) {
			p.placeChain(jobs, later)
		}
	}
	return later
}

// mayFollow reports whether some jobs may have run after others. The times of the logs must be at least as far apart as
// the shortest log is long.
func mayFollow(jobs []*Job) bool {
	first, last := jobs[0].Log.File.ModTime, jobs[0].Log.File.ModTime
	shortest := time.Duration(1<<62 - 1)
	for _, j := range jobs {
		at := j.Log.File.ModTime
		first = Earlier(first, at)
		if at.After(last) {
			last = at
		}
		least := int64(0) // rows of each direction, by the size of the log
		if j.HasRows && j.Log.File.Size > 0 && j.Log.Segment < 0 {
			const longest = 6 // bytes for each bin, as an average over a row: most bins are "0, "
			least = j.Log.File.Size / (longest * int64(j.Layout.Len())) / fiolog.Directions
		}
		shortest = min(shortest, time.Duration(least*max(j.Interval, 1))*time.Millisecond)
	}
	return last.Sub(first) > max(shortest, time.Second)
}

// placeChain places the jobs of one host, if each began when the one before had ended.
func (p *planner) placeChain(jobs []*Job, later map[*Job]time.Duration) {
	type span struct {
		*Job
		start, end time.Time
	}
	spans := make([]span, len(jobs))
	for i, last := range p.ev.lastRows(jobs) {
		end := jobs[i].Log.File.ModTime
		spans[i] = span{jobs[i], end.Add(-time.Duration(last) * time.Millisecond), end}
	}
	slices.SortFunc(spans, func(x, y span) int { return cmp.Or(x.start.Compare(y.start), cmp.Compare(x.Number, y.Number)) })
	first := spans[0].start
	slack := func(s span) time.Duration { return time.Duration(max(s.Interval, 1000)) * time.Millisecond * 3 / 2 }
	apart := false
	for _, s := range spans {
		if s.start.Sub(first) > slack(s) {
			apart = true
			if !slices.ContainsFunc(spans, func(o span) bool { return s.start.Sub(o.end).Abs() < slack(o)+time.Second }) {
				p.problems.skip(fmt.Errorf("%s: its jobs are shown as if they began together: the times of the logs are those of several runs in "+
					"one folder, of copies, or of a clock that was changed (summer time), and nothing else shows when each began; keep "+
					"the files of each run in a folder of their own, pass fio's JSON report, or use --log_unix_epoch=1", p.Title()))
				return
			}
		}
	}
	if !apart {
		return
	}
	for _, s := range spans {
		if by := s.start.Sub(first); by > slack(s) {
			later[s.Job] = by
		}
	}
	p.Placed = "each job by when its log was last written, less the time of its last row"
	p.problems.note("%s: its jobs ran one after another, by the modification times of their logs: their starts are as "+
		"reliable as these", p.Title())
}
