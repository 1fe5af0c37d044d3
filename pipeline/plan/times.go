package plan

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Timing is when a run was.
type Timing struct {
	moment        // start of the first job, by the weakest evidence of all jobs
	Placed string // how jobs that ran one after another were placed; empty if none did
	Window int64  // milliseconds
	Shift  int64  // the windows begin this long before the run, to follow its rows
}

// placing finds out when each job of a plan began and how long the windows are.
type placing struct {
	*Plan
	ev       *Evidence
	problems *Remarks
}

func (p placing) times() (err error) {
	if len(p.Jobs) == 0 {
		return errNothing
	}
	p.setWriting()
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

// setWriting sets how long fio may have taken to write the logs of each job. It writes them when the job ends, at 6 MB/s on
// a busy machine and up to ten times as fast.
func (p placing) setWriting() {
	const bytesPerMS = 5000
	for _, j := range p.Jobs {
		j.writing = time.Duration(p.ev.Written[j.JobKey]/bytesPerMS) * time.Millisecond
	}
}

// placeOutput sets the start of each job that a report covers, by the report and the files
// beside it.
func (p placing) placeOutput(out *Output) {
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
		if at.doubt != "" && !out.hasEpochs() {
			p.problems.skip(errors.New(at.doubt))
		}
	}
}

// by are the entries that have a key in common, in the order of the first of each.
func by[K comparable](keyOf func(*Entry) K, entries []*Entry) (all [][]*Entry) {
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

func (o *Output) jobs() (all []*Job) {
	for _, e := range o.Entries {
		all = append(all, e.Jobs...)
	}
	return all
}

// setStart sets the run's start: the earliest start of a job. Starts of hosts differ only if the evidence is precise to
// some milliseconds. Jobs without evidence start with the run.
func (p placing) setStart() error {
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
func (p placing) startOfFiles(later map[*Job]time.Duration) error {
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
func (p placing) widenLocal() {
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

func (t Timing) At(ms int64) time.Time { return t.Start.Add(time.Duration(ms) * time.Millisecond) }
