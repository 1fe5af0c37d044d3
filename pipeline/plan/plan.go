// Package plan decides from evidence what is known of a run before its rows are read. Package assign finds its jobs. The plan says
// when each of them ran, and how surely, which stages and sections they are, and what windows there are. It opens no file: package
// pipeline gathers the evidence and reads the rows afterwards.
//
// Times in a log are milliseconds, of a clock that the plan finds out. Times of jobs are absolute.
package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
)

// New plans a run: the jobs that [assign.New] finds, and when they ran. Faults of single files are added to problems. It fails if
// nothing can be used, or if the start is needed and unknown. The evidence does not change. If it has to have more, New returns needs
// in place of a plan, and has to be called again with the rows of these.
func New(ev *assign.Evidence, opt Options, problems *assign.Remarks) (stages []*Plan, needs map[assign.Need]bool, err error) {
	said, needs := &assign.Remarks{}, map[assign.Need]bool{}
	jobs := assign.New(ev, opt.Options, said, needs)
	p := &planner{&Plan{
		Title: opt.Title, Stage: 1, Stages: 1, Run: ev.Run, Config: ev.Config, Outputs: jobs.Outputs, Entries: jobs.Entries, Averages: jobs.Averages,
		JobsOf: map[*assign.Entry][]*Job{}, opt: opt,
	}, ev, said, needs, map[*assign.Output]bool{}}
	for _, one := range jobs.Jobs {
		j := &Job{Job: *one}
		if p.Jobs = append(p.Jobs, j); j.Entry != nil {
			j.Ran, p.JobsOf[j.Entry] = j.Entry.Ran, append(p.JobsOf[j.Entry], j)
		}
	}
	if stages, err = p.plan(); len(needs) > 0 {
		return nil, needs, nil
	}
	problems.Add(said)
	return stages, nil, err
}

// plan makes the plan of an execution, and divides it into those of its stages.
func (p *planner) plan() ([]*Plan, error) {
	if err := p.place(); err != nil {
		return nil, err
	}
	stages := p.stages()
	for _, stage := range stages {
		s := *p
		s.Plan = stage
		s.doubtTogether()
		if err := s.windows(); err != nil {
			return nil, err
		}
		s.Sections = s.sections()
	}
	return stages, nil
}

// windows chooses the length of windows: the wanted one, or the usual one for the rows of the jobs. It fails if rows are too
// long for the wanted length.
//
// It also chooses when they begin. That is with the run, unless all jobs have their rows at the same moments, which are
// not multiples of the window's length. Then shifted windows follow the rows. Periodic reports are such rows: the first
// one comes some time after the start. If it comes soon, the first window is longer. Reports that were asked for on a grid
// end at its edges on all hosts, so windows follow the grid, and the first one is as long as what is left of its cell.
func (p *planner) windows() error {
	rows := int64(0)
	for _, j := range p.Jobs {
		rows = max(rows, j.Interval)
	}
	if rows == 0 {
		for _, j := range p.Jobs { // logs with so few rows that their length is not known otherwise
			if j.Source == assign.FromHist && j.HasRows {
				rows = max(rows, evidence.Nominal(j.First-j.Origin))
			}
		}
	}
	usual := UsualWindow(rows)
	if !p.ev.Live && rows >= usual && beganApart(p.Jobs, rows) {
		p.Cut = rows
	}
	if p.Window = usual; p.Cut > 0 && p.ran()+rows > enoughWindows*mapping.SureRows*rows { // jobs may end some milliseconds early
		p.Window = mapping.SureRows * rows
	}
	if p.opt.Window > 0 {
		p.Window = max(p.opt.Window.Milliseconds(), 1)
	} else if p.Window > usual {
		shown := func(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
		p.problems.Note("%s: windows of %v, because its hosts or volumes began apart, so that windows of %v would cut the rows of their logs "+
			"(--interval %v has these, with bounds of percentiles)", p.Title, shown(p.Window), shown(usual), shown(usual))
	}
	if length := time.Duration(rows) * time.Millisecond; p.Window < rows-rows/20 {
		return fmt.Errorf("windows of %v are shorter than its rows, which do not show when in %v a request "+
			"completed: give --interval %v or more", p.opt.Window, length, length)
	}
	for _, j := range p.Jobs {
		if j.Source == assign.FromReports && j.Interval > 0 { // most come at the same moments after the start, those of a hang come late
			times, start := j.Entry.Out.Times, j.Start.Add(-p.opt.Offsets[j.Host]).UnixMilli()
			middle := times[len(times)/2]
			var off []int64
			for _, at := range times {
				off = append(off, Modulo(at-middle+j.Interval/2, j.Interval)-j.Interval/2)
			}
			slices.Sort(off)
			j.First = Modulo(middle+off[len(off)/2]-start, j.Interval)
		}
	}
	isOnGrid := func(j *Job) bool { return j.Source == assign.FromReports && j.Entry.Out.Grid > 0 }
	switch phase, ok := PhaseOf(p.Jobs, p.Window); {
	case !p.opt.ByJob && slices.ContainsFunc(p.Jobs, isOnGrid):
		p.Shift = p.Start.UnixMilli() % p.Window
	case !ok || phase == 0:
	case p.Jobs[0].Source == assign.FromReports && phase < p.Window/2:
		p.Shift = -phase
	default:
		p.Shift = p.Window - phase
	}
	return nil
}

// enoughWindows is how many windows a run has at least if these are longer than usual: a minute of rows of a second.
const enoughWindows = 12

// ran returns how long the jobs ran, in milliseconds, as far as reports say it.
func (p *Plan) ran() (ms int64) {
	for _, j := range p.Jobs {
		if j.Ran > 0 {
			ms = max(ms, j.Offset+j.Ran)
		}
	}
	return ms
}

// beganApart reports whether logs of several fios have rows of that length at moments that windows cannot follow.
func beganApart(jobs []*Job, rows int64) bool {
	logs := slices.DeleteFunc(slices.Clone(jobs), func(j *Job) bool { return j.Source != assign.FromHist || !j.HasRows || j.Interval != rows })
	_, canFollow := PhaseOf(logs, rows)
	return !canFollow && slices.ContainsFunc(logs, func(j *Job) bool { return j.Host != logs[0].Host || j.Volume != logs[0].Volume })
}

// Modulo returns the remainder of a division, from 0 to n-1.
func Modulo(x, n int64) int64 { return (x%n + n) % n }

// UsualWindow is the shortest multiple of the time between rows that is a second or more,
// because a window that is cut across rows is an estimate. Periodic reports have any spacing.
func UsualWindow(rows int64) int64 {
	const second = 1000
	if rows <= 0 {
		return second
	}
	return (second + rows - 1) / rows * rows
}

// PhaseOf returns when the rows of all jobs begin, in milliseconds after multiples of their interval. It is 0 if they
// begin a few milliseconds after them, as fio writes rows. It is not ok if windows cannot follow the rows.
func PhaseOf(jobs []*Job, window int64) (phase int64, ok bool) {
	phase, near := int64(-1), int64(0)
	for _, j := range jobs {
		if !j.HasRows && j.Source == assign.FromNothing {
			continue
		}
		if !j.HasRows || j.Interval <= 0 || window%j.Interval != 0 {
			return 0, false
		}
		var clocks []int64 // when that of each direction began, in milliseconds since the job's start, or its first report came
		for _, times := range j.FirstTimes() {
			if len(times) > 0 {
				zero, _ := align.Began(j.Interval, times)
				clocks = append(clocks, zero)
			}
		}
		if len(clocks) == 0 {
			clocks = []int64{j.First - j.Origin}
		}
		for _, began := range clocks {
			at := Modulo(began+j.Offset, j.Interval)
			apart := Modulo(at-phase, j.Interval)
			if near = j.Interval / 20; phase >= 0 && min(apart, j.Interval-apart) > near {
				return 0, false
			}
			if phase < 0 {
				phase = at
			}
		}
	}
	if phase <= near {
		phase = 0
	}
	return phase, true
}

// The largest numbers of hosts, jobs and sections with their own documents. About twenty windows of each are in memory, with 15
// KB of bins in each direction.
const (
	mostHosts    = 256
	mostJobs     = 5000
	mostSections = 1024
)

// LimitLevels returns the levels without those of too many hosts, jobs or sections, for each of which there is an error.
// Level Section is left out where there are no sections, which is an error only if it is the only level.
func (p *Plan) LimitLevels(levels []mapping.Level) (fit []mapping.Level, errs []error) {
	hosts := len(p.Hosts())
	for _, l := range levels {
		n, most := 1, 1
		switch l {
		case mapping.Host:
			n, most = hosts, mostHosts
		case mapping.Job:
			n, most = len(p.Jobs), mostJobs
		case mapping.Section:
			if n, most = len(p.Sections), mostSections; p.HasSections() {
				break
			}
			if len(levels) == 1 {
				errs = append(errs, fmt.Errorf("%s: no sections: its jobs all did the same, or no report says which did what", p.Title))
			}
			continue
		}
		if n <= most {
			fit = append(fit, l)
			continue
		}
		errs = append(errs, fmt.Errorf("%s: %d documents of level %s in each window, want at most %d: use --levels cluster, which has all requests, or ingest the folders of fewer hosts",
			p.Title, n, l, most))
	}
	return fit, errs
}
