package plan

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/align"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// Plan is what is known of an execution of fio before its rows are read. An execution is one call of fio on each of its
// hosts. Its stages ran one after another. In a stage, sections ran side by side, and each has jobs, which did the same.
// For each job the plan has the host, the source of rows, the entry of fio's output, start and end, and how each is known.
//
// It does not change afterwards. Windows, documents and the run document are functions of the plan and of the rows.
type Plan struct {
	Title    string // in messages
	Run      *cbt.Run
	Config   map[string]any // of CBT
	Outputs  []*Output      // what its fios printed
	Entries  []*Entry       // of the jobs in these outputs
	Stages   []Stage        // in the order of time
	Jobs     []*Job         // of all stages, in the order of their logs and reports
	Averages []cbt.Log      // in place of rows
	Levels   []mapping.Level

	moment        // start of the first job, by the weakest evidence of all jobs
	Placed string // how jobs that ran one after another were placed; empty if none did
	Window int64  // milliseconds
	Shift  int64  // the windows begin this long before the run, to follow its rows

	opt Options
}

// At returns the time so many milliseconds after the start.
func (p *Plan) At(ms int64) time.Time { return p.Start.Add(time.Duration(ms) * time.Millisecond) }

// Stage is what ran at the same time, between two stonewalls.
type Stage struct {
	Start    time.Time     // of its first job; zero if unknown
	End      time.Time     // of its last job; zero if unknown
	Error    time.Duration // of Start, plus or minus
	Sections []Section
}

// Section is the jobs of a stage that do the same: of one section of the job file, or of several that do not differ in
// what fio measures.
type Section struct {
	Names    []string    // of the sections in fio's report; none without a report
	Settings mapping.CBT // those that fio's options name; zero is unknown
	Jobs     []*Job
}

// JobKey names a job of a run.
type JobKey struct {
	Host, Volume string
	Number       int // fio's, from 1
}

// Job is one job of fio: where its rows come from, and when it ran.
type Job struct {
	JobKey
	Entry *Entry // nil if no report covers it

	// Where its rows are read from.
	Source Source
	Log    *Log  // the log whose rows are read; without one, it has the report's file
	raw    *Log  // a log of completions; nil if there is none
	Lag    int   // distance of the rows that fio --client adds; 0: none
	damage error // why the histogram log cannot be read at all
	Head
	Unit hist.Unit // of the latencies in a log of completions or averages

	// When it ran.
	moment         // its start
	Interval int64 // milliseconds between rows; 0 if unknown
	Exact    bool  // interval is fio's log_hist_msec, and the log is of this job alone
	Origin   int64 // the time, as written, that counts as the start of the job
	Offset   int64 // start of the job minus start of the run, milliseconds
	Ran      int64 // run time in milliseconds; 0 if no report has it

	writing time.Duration // fio took at most this long to write the job's logs, after the job's end
}

// before returns the time one interval before the first row was due, as written. fio writes a row with the first
// completion after it was due, so the next rows show how late the first one was.
func (j *Job) before() int64 {
	before := j.First - j.Interval
	for _, times := range j.FirstTimes() {
		if len(times) > 0 && j.Interval > 0 {
			_, latest := align.Began(j.Interval, times)
			before = min(before, latest+j.Origin)
		}
	}
	return before
}

// FirstTimes returns the times of the first rows of each direction of a histogram log, since the start of the job.
func (j *Job) FirstTimes() (times [fiolog.Directions][]int64) {
	if j.Source == FromHist {
		for _, rec := range j.Log.Rows {
			times[rec.Direction] = append(times[rec.Direction], rec.Time-j.Origin)
		}
	}
	return times
}

// Source is the kind of file that has the rows of a job.
type Source uint8

// The sources of rows.
const (
	FromNothing Source = iota
	FromHist           // a histogram log
	FromRaw            // a log of all completions
	FromReports        // the periodic reports of fio
)

var sourceNames = [...]string{"nothing", "histogram log", "completions", "periodic reports"}

func (k Source) String() string { return sourceNames[k] }

func (j *Job) ReadsLog() bool { return j.Source == FromHist || j.Source == FromRaw }

func NewJob(l *Log) *Job {
	return &Job{JobKey: KeyOf(l.Log), Log: l}
}

func KeyOf(log cbt.Log) JobKey { return JobKey{log.Host, log.Volume, max(log.Job, 1)} }

// Name returns the name of the job at level Job: volume and number.
func (j *Job) Name() string {
	if j.Volume == "" {
		return fmt.Sprint(j.Number)
	}
	return j.Volume + "." + fmt.Sprint(j.Number)
}

// MaxRun is longer than any run: ten years in milliseconds.
const MaxRun = 10 * 366 * 24 * 3600 * 1000

// CheckTime returns an error for an impossible time, as written.
func (j *Job) CheckTime(t int64) error {
	if at := t - j.Origin; at < 0 || at > MaxRun {
		return fmt.Errorf("time %d is not of a job that began at %d, want at most ten years later", t, j.Origin)
	}
	return nil
}

// Serves reports whether a job may have requests of a direction. Its report has some, or it has no report.
func (j *Job) Serves(d fiolog.Direction) bool {
	return j.Entry == nil || j.Entry.Mixed != nil || served(&j.Entry.Directions[d])
}

// JobOf returns the job that wrote a log, or nil if none did.
func (p *Plan) JobOf(log cbt.Log) *Job {
	for _, j := range p.Jobs {
		if j.JobKey == KeyOf(log) {
			return j
		}
	}
	return nil
}

// Remarks are what a plan has to say.
type Remarks struct {
	Skipped []error // what is missing in the result
	Notes   []error // what else the user should know
}

func (r *Remarks) skip(format string, args ...any) {
	r.Skipped = append(r.Skipped, fmt.Errorf(format, args...))
}

func (r *Remarks) note(format string, args ...any) {
	r.Notes = append(r.Notes, fmt.Errorf(format, args...))
}

// String returns what is known of a job, in one line.
func (j *Job) String() string {
	text := "job " + j.Name()
	if j.Host != "" {
		text += " of " + j.Host
	}
	text += fmt.Sprintf(": rows from %s %s", j.Source, j.File())
	if report := j.Report(); report != "" {
		text += fmt.Sprintf("; report %s, found %s", report, j.Entry.Out.Found)
	}
	if !j.Start.IsZero() {
		text += fmt.Sprintf("; began %s by %s, ±%v", j.Start.UTC().Format("2006-01-02 15:04:05.000"), j.Clock, j.Error)
	}
	if j.Ran > 0 {
		text += fmt.Sprintf(", ran %v", time.Duration(j.Ran)*time.Millisecond)
	}
	return text
}

// File returns the base name of the file with the job's rows. Without rows it is that of its report.
func (j *Job) File() string { return path.Base(j.Log.File.Path) }

// Section returns the name of the job in fio's report, or "" if no report covers it.
func (j *Job) Section() string {
	if j.Entry == nil {
		return ""
	}
	return j.Entry.Name
}

// Report returns the base name of the report that covers the job, or "".
func (j *Job) Report() string {
	if j.Entry == nil {
		return ""
	}
	return path.Base(j.Entry.Out.File.Path)
}

// HostNames returns the hosts of some jobs, in order. A host without a name is "".
func HostNames(jobs []*Job) []string {
	hosts := map[string]bool{}
	for _, j := range jobs {
		hosts[j.Host] = true
	}
	return slices.Sorted(maps.Keys(hosts))
}

// stages divides the jobs of the plan into stages. Jobs of one fio, host and group were started together. Such a group
// begins a stage if all groups before it had ended, within the errors. So groups side by side (new_group) are one stage,
// and so are groups whose ends are not known.
func (p *Plan) stages() (stages []Stage) {
	type key struct {
		out   *Output
		host  string
		group int
	}
	type group struct {
		Stage
		jobs []*Job
	}
	var groups []*group
	at := map[key]*group{}
	for _, j := range p.Jobs {
		k := key{host: j.Host}
		if j.Entry != nil {
			k.out, k.group = j.Entry.Out, j.Entry.GroupID
		}
		// It ended by its run time, or else when its log was last written, because fio writes it then.
		g, end, modified := at[k], time.Time{}, j.Log.File.ModTime
		switch {
		case j.Start.IsZero():
		case j.Ran > 0:
			end = j.Start.Add(time.Duration(j.Ran) * time.Millisecond)
		case j.Entry == nil && modified.After(j.Start):
			end = modified
		}
		if g == nil || k.out == nil {
			g = &group{Stage: Stage{Start: j.Start, End: end}}
			at[k], groups = g, append(groups, g)
		}
		g.jobs = append(g.jobs, j)
		g.Start, g.Error = Earlier(g.Start, j.Start), max(g.Error, j.Error)
		if end.IsZero() || end.After(g.End) && !g.End.IsZero() {
			g.End = end
		}
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return a.Start.Compare(b.Start) })
	var jobs [][]*Job // of each stage
	for _, g := range groups {
		last := len(stages) - 1
		if last >= 0 {
			before := &stages[last]
			length := min(g.End.Sub(g.Start), before.End.Sub(before.Start))
			unsure := min(g.Error+before.Error, length/2)
			if before.End.IsZero() || g.Start.IsZero() || g.Start.Before(before.End.Add(-max(unsure, 0))) {
				before.Error = max(before.Error, g.Error)
				if g.End.IsZero() || g.End.After(before.End) && !before.End.IsZero() {
					before.End = g.End
				}
				jobs[last] = append(jobs[last], g.jobs...)
				continue
			}
		}
		stages, jobs = append(stages, g.Stage), append(jobs, g.jobs)
	}
	for i := range stages {
		stages[i].Sections = p.sections(jobs[i])
	}
	return stages
}

// sections divides jobs by the options that decide what fio measures.
func (p *Plan) sections(jobs []*Job) (sections []Section) {
	at := map[string]int{}
	for _, j := range jobs {
		key := ""
		if j.Entry != nil {
			key = fmt.Sprint(fioargs.Measured(j.Entry.listed(), p.Run.ByCBT())) // Sprint sorts a map
		}
		i, ok := at[key]
		if !ok {
			i, sections = len(sections), append(sections, Section{})
			at[key] = i
			if j.Entry != nil {
				sections[i].Settings = j.Entry.settings()
			}
		}
		s := &sections[i]
		if s.Jobs = append(s.Jobs, j); j.Entry != nil && !slices.Contains(s.Names, j.Entry.Name) {
			s.Names = append(s.Names, j.Entry.Name)
		}
	}
	return sections
}

// Apart returns what is wrong with the times of hosts. Jobs may have begun after all jobs before them had ended, and no
// report has both. The time of the run then includes the gap, so its rates are too low. Else hosts may have begun seconds
// apart: they were started so, or a clock is off. Then it is only a doubt. The text is empty if there is nothing to say.
// last returns the end of a job's rows, in milliseconds since the job's start.
func (p *Plan) Apart(last func(*Job) int64) (text string, isDoubt bool) {
	type span struct { // the time in which the jobs of a host ran; jobs of several reports have spans of their own
		host, volume string
		out          *Output // nil without a report
		start, end   time.Time
	}
	var all []span
	for _, j := range p.Jobs {
		one := span{j.Host, j.Volume, nil, j.Start, j.Start.Add(time.Duration(max(j.Ran, last(j))) * time.Millisecond)}
		if j.Entry != nil {
			one.out = j.Entry.Out
		}
		i := slices.IndexFunc(all, func(s span) bool {
			return s.host == j.Host && s.out == one.out && (one.out != nil || s.volume == j.Volume)
		})
		if i < 0 {
			all = append(all, one)
			continue
		}
		all[i].start = Earlier(all[i].start, one.start)
		if one.end.After(all[i].end) {
			all[i].end = one.end
		}
	}
	slices.SortStableFunc(all, func(a, b span) int { return a.start.Compare(b.start) })

	unsure, before, latest := 2*p.Error, all[0], all[0] // the last to end, and the host that began last
	hosts := map[string]bool{all[0].host: true}
	for _, s := range all[1:] {
		if gap := s.start.Sub(before.end); gap > unsure+time.Second {
			name := fmt.Sprintf("host %q", s.host)
			if s.host == before.host {
				name = fmt.Sprintf("volume %q", s.volume)
			}
			return fmt.Sprintf("its jobs did not run at the same time: %s began %v after the ones before it had ended, so rates of the run "+
				"are too low; keep the files of each run in a folder of their own, or correct a wrong clock with FIO2ES_OFFSET",
				name, gap.Round(100*time.Millisecond)), false
		}
		if s.end.After(before.end) {
			before = s
		}
		if !hosts[s.host] {
			hosts[s.host], latest = true, s
		}
	}
	const usual = 1800 * time.Millisecond // a parallel shell may start fio on its hosts that far apart
	skew := latest.start.Sub(all[0].start)
	if skew <= unsure+usual {
		return "", false
	}
	return fmt.Sprintf("host %q began %.1f s before host %q: if the clock of one of them is off, their windows do not belong together; "+
		"correct it with FIO2ES_OFFSET, such as FIO2ES_OFFSET=%s=%d (milliseconds)", all[0].host, skew.Seconds(), latest.host,
		all[0].host, skew.Round(100*time.Millisecond).Milliseconds()), true
}
