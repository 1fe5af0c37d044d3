package plan

import (
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
)

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
