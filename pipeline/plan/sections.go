package plan

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/fiolog"
)

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

// stages divides the jobs of a plan into stages. Jobs of one fio, host and group were started together. Such a group
// begins a stage if all groups before it had ended, within the errors. So groups side by side (new_group) are one stage,
// and so are groups of which nothing says when they ended.
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
		g, end := at[k], j.ended()
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
				if g.End.IsZero() || before.End.IsZero() || g.End.After(before.End) {
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

// ended returns when a job ended: by its run time, or else when its log was last written, because fio writes it then. It
// is zero if neither is known.
func (j *Job) ended() time.Time {
	switch at := j.Log.File.ModTime; {
	case j.Start.IsZero():
		return time.Time{}
	case j.Ran > 0:
		return j.Start.Add(time.Duration(j.Ran) * time.Millisecond)
	case j.Entry == nil && at.After(j.Start):
		return at
	}
	return time.Time{}
}

// sections divides jobs by the options that decide what fio measures.
func (p *Plan) sections(jobs []*Job) (sections []Section) {
	at := map[string]int{}
	for _, j := range jobs {
		key := ""
		if j.Entry != nil {
			key = fmt.Sprint(fiolog.Measured(j.Entry.listed(), p.Run.ByCBT())) // Sprint sorts a map
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

// listed returns the options that a report lists. Of a group whose sections are not known, those of the listed section
// end with "?".
func (o jobOptions) listed() map[string]string {
	options := maps.Clone(o.global)
	if options == nil {
		options = map[string]string{}
	}
	for name, value := range o.own {
		if o.isGroup {
			value += fiolog.Between + "?"
		}
		options[name] = value
	}
	return options
}

// String returns the plan in lines: the execution, its stages, their sections, and their jobs with their files, their
// times, and the evidence for these.
func (p *Plan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s; windows of %v\n", p.Title(), p.moment, time.Duration(p.Window)*time.Millisecond)
	for i, stage := range p.Stages {
		fmt.Fprintf(&b, "stage %d: %s", i+1, moment{stage.Start, p.Clock, stage.Error})
		if !stage.End.IsZero() {
			fmt.Fprintf(&b, ", took %v", stage.End.Sub(stage.Start))
		}
		b.WriteString("\n")
		for _, section := range stage.Sections {
			fmt.Fprintf(&b, "\tsection %s\n", strings.Join(section.Names, ", "))
			for _, j := range section.Jobs {
				fmt.Fprintf(&b, "\t\t%v\n", j)
			}
		}
	}
	return b.String()
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
		text += "; " + j.moment.String()
	}
	if j.Ran > 0 {
		text += fmt.Sprintf(", ran %v", time.Duration(j.Ran)*time.Millisecond)
	}
	return text
}

func (m moment) String() string {
	if m.Start.IsZero() {
		return "began at an unknown time"
	}
	return fmt.Sprintf("began %s by %s, ±%v", m.Start.UTC().Format("2006-01-02 15:04:05.000"), m.Clock, m.Error)
}

// HasWindows reports whether the requests of a job have times. A log without rows is of a job that ended before the first
// one was due; then the report has them.
func (j *Job) HasWindows() bool {
	if j.Source != FromHist {
		return j.HasRows
	}
	e := j.Entry
	isShort := e != nil && e.Out.HasBins && e.WantsRows() && !j.IsJunk && j.Ran <= 2*j.Interval && RequestsOf(e.Job) > 0
	return j.HasRows && !j.IsZero || !j.HasRows && isShort
}

// NoWindows says why there will be no windows with percentiles, or is empty if there will be some.
func (p *Plan) NoWindows() string {
	if slices.ContainsFunc(p.Jobs, (*Job).HasWindows) {
		return ""
	}
	return p.WhyNoWindows()
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
