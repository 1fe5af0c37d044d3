package plan

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/group"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
)

// errNothing means that a run has no usable log or report.
var errNothing = errors.New("no rows in any of its logs, and no report that can be used")

// place finds out when each job began: by the reports, then by rows with times of their own, and else by the times of
// files. The starts of the jobs give that of the run.
func (p *planner) place() error {
	if len(p.Jobs) == 0 {
		return errNothing
	}
	starts := map[*assign.Entry]moment{}
	for _, out := range p.Outputs {
		drop := func(what string, ms *int64) { // so that other evidence is used instead of a damaged number
			if at := time.UnixMilli(*ms); !isPossible(at) {
				p.problems.Note("%s: %s %d is in the year %d, which cannot be: not used",
					out.File.Name(), what, *ms, at.Year())
				*ms = 0
			}
		}
		for _, e := range out.Entries {
			drop("job_start", &e.Start)
		}
		drop("timestamp_ms", &out.Fio.Timestamp)
		at := Place(out, out.Entries)
		maps.Copy(starts, at.Starts)
		p.Placed = cmp.Or(at.how, p.Placed)
		if out.Fio.IsLocal && !out.HasZone {
			p.problems.Note("%s: fio's normal output has a time without its zone, and the file was written at another time, as copies are: "+
				"so the start may be hours off: set FIO2ES_START=TIME", out.File.Name())
		}
		if at.contradiction != "" {
			p.problems.Note("%s", at.contradiction)
		}
		if at.doubt == "" && slices.ContainsFunc(out.Entries, func(e *assign.Entry) bool { return mayWait(e, p.Run.SectionsOf(e)) || p.begunApart(e) }) {
			at.doubt = fmt.Sprintf(groupDoubt, out.File.Name())
		}
		needsStart := func(e *assign.Entry) bool {
			return hasRun([]*assign.Entry{e}) && slices.ContainsFunc(p.JobsOf[e], func(j *Job) bool { return j.rowClock() != unixClock })
		}
		if at.doubt != "" && slices.ContainsFunc(out.Entries, needsStart) {
			say := p.problems.Skip
			if len(p.Averages) == 0 && !slices.ContainsFunc(p.Jobs, func(j *Job) bool { return j.Source != assign.FromNothing }) {
				say = p.problems.Note // a report alone lacks nothing
			}
			say("%s", at.doubt)
			p.doubted[out] = true
		}
	}
	for _, j := range p.Jobs {
		if start, ok := starts[j.Entry]; ok {
			j.moment = start
		}
	}
	p.placeByRows()
	return p.setStart()
}

// begunApart reports whether the logs of a group were written at times that do not fit their rows if its jobs began together.
// Which sections the group has is unknown, so these may have options that the report does not list.
func (p *planner) begunApart(e *assign.Entry) bool {
	jobs := p.JobsOf[e]
	if !e.IsGroup || len(p.Run.SectionsOf(e)) > 0 || len(jobs) < 2 || !e.Out.TrustsTimes() || jobs[0].rowClock() != sinceStart {
		return false
	}
	var first, last time.Time
	slack := step(e.Out.File) + evidence.Apart/2
	for i, row := range p.lastRows(jobs) {
		j := jobs[i]
		if !j.HasRows || j.Log.File.ModTime.IsZero() {
			return false
		}
		began := j.Log.File.ModTime.Add(-time.Duration(row) * time.Millisecond)
		slack = max(slack, time.Duration(j.Interval)*time.Millisecond*3/2)
		if first = evidence.Earlier(first, began); began.After(last) {
			last = began
		}
	}
	return last.Sub(first) > slack
}

// placeByRows sets the start of jobs whose rows do not count from it.
//
// Of rows with absolute times, the first one ends an interval that begins with the first request, and this may come some
// time after the job's start. So other evidence is used if it is precise and earlier, and if the rows end with the job, by
// its run time. If they do not, the clock of the host was set back while fio ran, or the files are not of one run.
//
// Times of another clock show how far apart the jobs of one host began. The report shows when.
func (p *planner) placeByRows() {
	var first time.Time
	latest := map[*assign.Output]int64{} // end of the last job, by the other clock
	for _, j := range p.Jobs {
		if j.rowClock() == otherClock && j.Entry != nil {
			latest[j.Entry.Out] = max(latest[j.Entry.Out], j.before()+j.Ran)
		}
	}
	for _, j := range p.Jobs {
		switch j.rowClock() {
		case unixClock:
			// The first request completed after the slowest latency in its row, and three times the usual time between requests.
			at := moment{time.UnixMilli(j.before()), clockEpoch, errorOfEpoch}
			if rows := j.Log.Rows; j.Source == assign.FromHist && len(rows) > 0 && len(rows[0].Bins) > 0 {
				_, slowest := rows[0].Layout.Bounds(int(rows[0].Bins[len(rows[0].Bins)-1].Index))
				usual := time.Duration(j.Interval) * time.Millisecond / time.Duration(rows[0].Total)
				at.Error = max(at.Error, min(time.Duration(slowest), time.Minute)+3*usual)
			}
			if j.Interval == 0 {
				at.Error = errorOfOneRow
			}
			j.Origin = at.Start.UnixMilli()
			mayWait := j.Entry != nil && mayWait(j.Entry, p.Run.SectionsOf(j.Entry))
			isCertain := j.Entry != nil && !j.Start.IsZero() && j.Error <= max(evidence.Together, at.Error) && !mayWait // by its report or the times of its files
			if idle := at.Start.Sub(j.Start); isCertain && idle > 0 && idle < time.Hour {
				switch {
				case !p.ev.Live && idle > evidence.Together && j.Entry.Ran > 0 &&
					time.UnixMilli(j.Origin+p.lastRows([]*Job{j})[0]).Sub(j.Start.Add(j.Entry.RanFor())) > evidence.Together:
					if !j.Entry.IsGroup { // sections of a group may have waited
						p.problems.Note("%s: its rows end after the job, by fio's report: the clock of its host was set back while fio ran, or the "+
							"report is of another run; its rows alone say when it started", j.Log.File.Name())
					}
				case j.Error <= at.Error || idle > j.Error+at.Error:
					at.Start, at.Error = j.Start, j.Error
				}
			}
			j.moment, j.Origin = at, at.Start.UnixMilli()
			if j.Entry != nil && (j.Entry.Several || mayWait) {
				if end, _ := writtenAt(j.Entry.Out); end.After(at.Start) {
					ran := end.Sub(at.Start).Milliseconds()
					if j.Ran = min(j.Ran, ran); j.Entry.Several {
						j.Ran = ran // the log has all stages
					}
				}
			}
			if first = evidence.Earlier(first, at.Start); at.Start.Sub(first).Abs() > time.Duration(max(2*j.Interval, 1000))*time.Millisecond {
				p.Placed = "each job is placed where the absolute times of its rows put it (log_unix_epoch)"
			}
		case otherClock:
			if j.Origin = j.before(); j.Entry == nil {
				p.problems.Note("%s: its times count from %d ms before its first row: that is used as the job's start",
					j.Log.File.Name(), j.First)
				continue
			}
			if end, by := writtenAt(j.Entry.Out); !end.IsZero() {
				before := latest[j.Entry.Out] - j.Origin
				j.moment = moment{end.Add(-time.Duration(before) * time.Millisecond), by, errorOfReport}
				if before > j.Ran+1000 {
					p.Placed = "each job is placed where the times of its rows put it (log_alternate_epoch)"
				}
			}
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
			p.problems.Note("%s: %s puts its start in the year %d, which cannot be: not used",
				j.Log.File.Name(), j.Clock, j.Start.Year())
			j.moment = moment{}
			continue
		}
		j.Start = j.Start.Add(p.opt.Offsets[j.Host])
		p.Start = evidence.Earlier(p.Start, j.Start)
		p.Clock, p.Error = max(p.Clock, j.Clock), max(p.Error, j.Error)
	}
	if p.Start.IsZero() && !p.opt.Start.IsZero() {
		p.Start, p.Clock = p.opt.Start, clockUser
	}
	if p.Start.IsZero() {
		p.placeByLogs()
	}
	if p.Start.IsZero() && !p.opt.Absent {
		return errors.New("nothing says when the run started: set FIO2ES_START=TIME")
	}
	isUndated := func(j *Job) bool { return j.Entry == nil || j.Entry.Out.Fio.Timestamp == 0 } // fio before 2.2.5
	if p.Clock == clockMtime && slices.ContainsFunc(p.Jobs, isUndated) {
		p.problems.Note("%s: start taken from the files' modification times, and as reliable as these", p.Title)
	}
	// A zip without Unix times does not say their zone. Where a report has its own time, only differences between its files
	// are used.
	isLocal := func(j *Job) bool {
		if j.Entry == nil {
			return j.Log.File.ModLocal
		}
		_, by := writtenAt(j.Entry.Out)
		return by == clockMtime && j.Entry.Out.File.ModLocal
	}
	if p.Clock == clockMtime && slices.ContainsFunc(p.Jobs, isLocal) {
		p.Error = ErrorOfZone
		for _, j := range p.Jobs {
			if j.Clock == clockMtime {
				j.Error = ErrorOfZone
			}
		}
		p.problems.Note("%s: its zip keeps times without a time zone, so the start may be hours off, and jobs an hour if summer time "+
			"began or ended during the run: set FIO2ES_START=TIME", p.Title)
	}
	for _, j := range p.Jobs { // also if the start of the run is unknown and not needed
		if j.Start.IsZero() {
			j.moment = moment{p.Start.Add(p.opt.Offsets[j.Host]), p.Clock, p.Error}
		}
	}
	first := slices.MinFunc(p.Jobs, func(x, y *Job) int { return x.Start.Compare(y.Start) })
	p.Start = first.Start.UTC().Truncate(time.Millisecond)
	if !p.opt.Absent && !isPossible(p.Start) {
		return fmt.Errorf("its files put its start in the year %d, which cannot be: set FIO2ES_START=TIME", p.Start.Year())
	}
	if p.opt.ByJob {
		p.Placed = mapping.PlacedByJob
	}
	for _, j := range p.Jobs {
		if !p.opt.ByJob {
			j.Offset = j.Start.Sub(p.Start).Milliseconds()
		}
	}
	return nil
}

// placeByLogs places jobs if nothing else shows when the run started. Jobs whose logs ended together began together: with the earliest of
// them, less the time of its last row. That is as good as the times of files, and ignores the skew of hosts.
//
// A job may have run for up to an interval after its last row, or without any. The length of a single row is at most its
// time, and that of no rows is unknown.
func (p *planner) placeByLogs() {
	var batches [][]*Job // of all hosts
	for _, jobs := range group.By(p.Jobs, func(j *Job) string { return j.Host }) {
		for i, of := range p.endedTogether(jobs) {
			if i == len(batches) {
				batches = append(batches, nil)
			}
			batches[i] = append(batches[i], of...)
		}
	}
	rows := time.Duration(0)
	for _, j := range p.Jobs {
		rows = max(rows, time.Duration(j.Interval)*time.Millisecond)
	}
	for _, jobs := range batches {
		at := moment{Clock: clockMtime, Error: ErrorOfCoarse}
		for i, last := range p.lastRows(jobs) {
			j, ran := jobs[i], time.Duration(last)*time.Millisecond
			if j.Log.File.ModTime.IsZero() {
				continue
			}
			at.Start = evidence.Earlier(at.Start, j.Log.File.ModTime.Add(-ran))
			if j.Source == assign.FromHist || j.Source == assign.FromNothing { // of averages
				row := cmp.Or(time.Duration(j.Interval)*time.Millisecond, ran, rows, errorOfNoRow)
				at.Error = max(at.Error, row+step(j.Log.File)+j.Writing.Truncate(errorOfReport))
			}
		}
		if at.Start.IsZero() || p.opt.Absent && !isPossible(at.Start) {
			continue
		}
		for _, j := range jobs {
			j.moment = at
			j.Start = j.Start.Add(p.opt.Offsets[j.Host])
		}
		p.Start, p.Clock, p.Error = evidence.Earlier(p.Start, at.Start), clockMtime, max(p.Error, at.Error)
	}
}

// endedTogether divides jobs without a report by when their logs were last written, which is when they ended. Those that ended together
// ran together, and nothing shows that others did. In CBT's archives names show it.
func (p *planner) endedTogether(jobs []*Job) (batches [][]*Job) {
	if p.Run.ByCBT() {
		return [][]*Job{jobs}
	}
	written := func(j *Job) time.Time { return j.Log.File.ModTime }
	jobs = slices.SortedStableFunc(slices.Values(jobs), func(a, b *Job) int { return written(a).Compare(written(b)) })
	for i, j := range jobs {
		if i == 0 || written(j).Sub(written(jobs[i-1])) > evidence.Apart {
			batches = append(batches, nil)
		}
		batches[len(batches)-1] = append(batches[len(batches)-1], j)
	}
	return batches
}

// lastRows returns the time of the last row of each job in milliseconds since the start of the job.
func (p *planner) lastRows(jobs []*Job) []int64 {
	times := make([]int64, len(jobs))
	for i, j := range jobs {
		if times[i] = j.Ran; j.ReadsLog() || j.Entry == nil {
			times[i] = max(p.ev.Know(assign.Need{Log: j.Log, What: assign.LastRow}, p.needs).Last-j.Origin, 0)
		}
	}
	return times
}
