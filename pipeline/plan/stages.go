package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/group"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
)

// stages divides an execution into its stages, in the order of time. One fio runs its stages one after another. On other
// hosts, other fios run the same stages, so stages of the same sections are one. While fio still runs, jobs without requests
// are taken for ones that wait: see [Plan.HasBegun].
func (p *planner) stages() []*Plan {
	type fio struct {
		out  *assign.Output
		host string
	}
	ofFio := func(j *Job) fio {
		if j.Entry == nil {
			return fio{nil, j.Host}
		}
		return fio{j.Entry.Out, j.Entry.Host} // fio --client has several hosts in one report
	}
	var fios [][]batch
	indexOf := map[fio]int{} // in fios
	isDivided := false
	for _, jobs := range group.By(p.Jobs, ofFio) {
		turns := p.turns(jobs)
		isDivided = isDivided || len(turns) > 1
		if e := jobs[0].Entry; e != nil { // a file may have the reports of several calls of fio
			of := fio{cmp.Or(e.Out.First, e.Out), e.Host}
			if i, ok := indexOf[of]; ok {
				fios[i], isDivided = append(fios[i], turns...), true
				continue
			}
			indexOf[of] = len(fios)
		}
		fios = append(fios, turns)
	}
	if !isDivided {
		return []*Plan{p.Plan}
	}
	type key struct {
		sections string
		n        int // of the stages of these sections
	}
	var stages []batch
	at := map[key]int{}
	for _, turns := range fios {
		count := map[string]int{}
		for _, turn := range turns {
			names := strings.Join(p.sectionNames(turn.jobs), "\n")
			k := key{names, count[names]}
			count[names]++
			if i, ok := at[k]; ok {
				stages[i].add(turn)
				continue
			}
			at[k] = len(stages)
			stages = append(stages, turn)
		}
	}
	slices.SortStableFunc(stages, func(a, b batch) int { return a.start.Compare(b.start) })
	var plans []*Plan
	used := map[string]bool{}
	for i, of := range stages {
		s := p.stage(of.jobs)
		s.Stage, s.Stages = i+1, len(stages)
		s.Name = unusedName(used, JoinNames(p.sectionNames(s.Jobs)), "-")
		s.Title += "/" + s.Name
		plans = append(plans, s)
	}
	return plans
}

// stage returns the plan of some jobs of an execution, which are one stage.
func (p *planner) stage(jobs []*Job) *Plan {
	s, isHere := *p.Plan, func(j *Job) bool { return slices.Contains(jobs, j) }
	s.Jobs = slices.DeleteFunc(slices.Clone(p.Jobs), func(j *Job) bool { return !isHere(j) })
	s.Entries = slices.DeleteFunc(slices.Clone(p.Entries), func(e *assign.Entry) bool { return !slices.ContainsFunc(p.JobsOf[e], isHere) })
	s.Averages = slices.DeleteFunc(slices.Clone(p.Averages), func(log assign.Log) bool { return s.JobOf(log) == nil })
	s.moment = moment{}
	if p.ev.Live { // jobs without requests have no start of their own yet
		begun := slices.DeleteFunc(slices.Clone(s.Jobs), func(j *Job) bool { return !hasBegun(j) })
		for _, j := range s.Jobs {
			if len(begun) > 0 && !hasBegun(j) {
				j.moment = slices.MinFunc(begun, func(a, b *Job) int { return a.Start.Compare(b.Start) }).moment
			}
		}
	}
	for _, j := range s.Jobs {
		s.Start, s.Clock, s.Error = evidence.Earlier(s.Start, j.Start), max(s.Clock, j.Clock), max(s.Error, j.Error)
	}
	s.Start = s.Start.UTC().Truncate(time.Millisecond)
	isApart := false
	for _, j := range s.Jobs {
		if !p.opt.ByJob {
			j.Offset = j.Start.Sub(s.Start).Milliseconds()
		}
		isApart = isApart || j.Start.Sub(s.Start) > evidence.Together
	}
	if !isApart && !p.opt.ByJob {
		s.Placed = ""
	}
	return &s
}

// HasBegun reports whether jobs of the stage have served requests. While fio runs, those of later stages wait.
func (p *Plan) HasBegun() bool { return slices.ContainsFunc(p.Jobs, hasBegun) }

func hasBegun(j *Job) bool { return j.Entry == nil || j.Entry.Job.Requests() > 0 }

// batch is jobs that one fio started together.
type batch struct {
	jobs       []*Job
	start, end time.Time     // of the first and of the last job; zero if unknown, or if none ran at all
	unsure     time.Duration // each is known to plus or minus this
}

func (b *batch) add(o batch) {
	if b.jobs = append(b.jobs, o.jobs...); b.start.IsZero() || o.start.IsZero() {
		if b.start.IsZero() {
			b.start, b.end, b.unsure = o.start, o.end, o.unsure
		}
		return
	}
	b.start, b.unsure = evidence.Earlier(b.start, o.start), max(b.unsure, o.unsure)
	if o.end.IsZero() || o.end.After(b.end) && !b.end.IsZero() {
		b.end = o.end
	}
}

// follow moves the start of a batch behind all jobs of the one before: fio began it then, and times of files or reports
// that say another time are not precise enough. Rows with absolute times are.
func (b *batch) follow(before *batch) {
	begin := before.end
	if begin.IsZero() {
		begin = before.start
	}
	if b.start.IsZero() && !begin.IsZero() { // none of its jobs ran
		for _, j := range b.jobs {
			j.Start = begin
		}
		b.start = begin
	}
	late := begin.Sub(b.start)
	if begin.IsZero() || late <= 0 {
		return
	}
	b.start = begin // so that no stage is sorted before an earlier one
	if slices.ContainsFunc(b.jobs, func(j *Job) bool { return j.rowClock() == unixClock }) {
		return
	}
	if !b.end.IsZero() {
		b.end = b.end.Add(late)
	}
	for _, j := range b.jobs {
		j.Start = j.Start.Add(late)
	}
}

// isBehind reports whether a batch began after all jobs of another one had ended. It is not known if the errors of both
// times are as large as the shorter of the two.
func (b *batch) isBehind(o *batch) (isBehind, isKnown bool) {
	unsure := b.unsure + o.unsure
	if b.start.IsZero() || o.end.IsZero() || !b.end.IsZero() && unsure >= b.end.Sub(b.start) || unsure >= o.end.Sub(o.start) {
		return false, false
	}
	return !b.start.Before(o.end.Add(-unsure)), true
}

// turns divides the jobs of one fio by its stages. fio starts the jobs of a group (groupid) together. A group is a stage
// of its own if it has a stonewall, or if it began after all jobs before it had ended. If nothing shows either, it is one,
// too: groups side by side (new_group) are rare, and requests of two stages must not be added up. Jobs with wait_for are a
// stage of their own if they began after all others, by their times or because they wait for all of these. Jobs in the group
// of one with a startdelay are of the stage before if they began in it.
//
// Logs without a report have no groups: only times divide them.
func (p *planner) turns(jobs []*Job) (turns []batch) {
	type start struct {
		group int
		waits string
	}
	if jobs[0].Entry == nil {
		return p.turnsOfLogs(jobs)
	}
	ofStart := func(j *Job) start { return start{j.Entry.GroupID, j.Entry.OptionOfOne("wait_for")} }
	groups := group.By(jobs, ofStart)
	slices.SortStableFunc(groups, func(a, b []*Job) int { return cmp.Compare(a[0].Entry.GroupID, b[0].Entry.GroupID) })
	// The report lists no option without a value, but the job file does.
	isSet := func(j *Job, name string) bool {
		if s := p.section(j); s != nil {
			o, ok := s.Get(name)
			return ok && o.Value != "0"
		}
		return j.Entry.HasOption(name)
	}
	isDelayed, isUnsure := false, false
	for i, members := range groups {
		var one batch
		for _, jobs := range group.By(members, func(j *Job) *assign.Entry { return j.Entry }) {
			var of batch
			for _, j := range jobs {
				next := batch{[]*Job{j}, j.Start, time.Time{}, j.Error}
				if j.Ran == 0 && j.Entry.Job.Requests() == 0 {
					next.start = time.Time{} // it failed at once
				}
				if j.Ran > 0 && !j.Start.IsZero() {
					next.end = j.Start.Add(time.Duration(j.Ran) * time.Millisecond)
				}
				of.add(next)
			}
			// fio passes over a job whose startdelay is not over, and does not wait at its stonewall: jobs behind it may begin before.
			isDelayed = isDelayed || isSet(jobs[0], "startdelay")
			began := slices.IndexFunc(turns, func(turn batch) bool { isBehind, isKnown := of.isBehind(&turn); return isKnown && !isBehind })
			if isDelayed && began >= 0 {
				turns[began].add(of)
			} else {
				one.add(of)
			}
		}
		if len(one.jobs) == 0 {
			continue
		}
		isNext, waits := true, p.ev.Live && !slices.ContainsFunc(slices.Concat(groups[i:]...), hasBegun)
		if waits { // what the report has as its run time is how long it has waited
			times := members[0].Entry.Out.Times
			one.start, one.end = time.UnixMilli(times[len(times)-1]), time.Time{} // or later
		}
		if len(turns) > 0 {
			last := &turns[len(turns)-1]
			isBehind, isKnown := one.isBehind(last)
			awaited := members[0].Entry.OptionOfOne("wait_for")
			isOther := func(j *Job) bool { return awaited == "" || j.Section() != awaited }
			switch {
			case !slices.ContainsFunc(last.jobs, isOther): // it waits for all of these
			case waits:
				isNext = isSet(members[0], "stonewall") || !isSet(members[0], "new_group") && !isSet(members[0], "startdelay")
			case members[0].Entry.GroupID == groups[i-1][0].Entry.GroupID:
				isNext = isBehind
			case isSet(members[0], "stonewall"):
			default:
				isNext = isBehind || !isKnown && !isSet(members[0], "new_group")
				isUnsure = isUnsure || isNext && !isKnown
			}
			if !isNext {
				last.add(one)
			}
		}
		if isNext {
			turns = append(turns, one)
		}
	}
	if out := jobs[0].Entry.Out; isUnsure && !p.doubted[out] && len(p.Run.Sections) == 0 {
		p.problems.Note("%s: nothing shows whether its groups of jobs ran one after another (stonewall) or side by side (new_group): they are "+
			"read as one after another; the job file beside it shows it", p.Title)
	}
	for i := 1; i < len(turns); i++ {
		turns[i].follow(&turns[i-1])
	}
	return turns
}

// turnsOfLogs divides jobs without a report. Rows with absolute times show when each ran: those that began after all others had ended are
// the next stage. Of other logs, those that ended together are a stage. A job may have run for an interval after its last row.
func (p *planner) turnsOfLogs(jobs []*Job) (turns []batch) {
	if !slices.ContainsFunc(jobs, func(j *Job) bool { return j.rowClock() == unixClock }) {
		for _, of := range p.endedTogether(jobs) {
			turns = append(turns, batch{jobs: of, start: of[0].Start})
		}
		if len(turns) > 1 {
			p.problems.Note("%s: its logs did not end together, by their modification times, and no report says when they ran: they are runs of their "+
				"own, with starts as reliable as these times", p.Title)
		}
		return turns
	}
	if !slices.ContainsFunc(jobs, func(j *Job) bool { return j.Start.Sub(jobs[0].Start).Abs() > evidence.Together }) {
		return []batch{{jobs: jobs, start: jobs[0].Start}}
	}
	var all []batch
	for i, last := range p.lastRows(jobs) {
		j, ran := jobs[i], time.Duration(last)*time.Millisecond
		slack := time.Duration(max(j.Interval, 1000)) * time.Millisecond * 3 / 2
		if !j.HasLength() { // jobs that ended together are a stage, as with other logs
			ran, slack = evidence.Apart, 0
		}
		all = append(all, batch{[]*Job{j}, j.Start, j.Start.Add(ran), min(slack, ran/2)})
	}
	slices.SortStableFunc(all, func(a, b batch) int { return a.start.Compare(b.start) })
	for _, one := range all {
		if i := len(turns) - 1; i >= 0 && one.start.Before(turns[i].end.Add(-turns[i].unsure)) {
			turns[i].add(one)
			continue
		}
		turns = append(turns, one)
	}
	return turns
}

// doubtTogether says that nothing but the times of files shows that jobs ran together. Numbers of jobs are those of one fio. So are volumes
// in CBT's archives, or if the user named the logs.
func (p *planner) doubtTogether() {
	first := slices.IndexFunc(p.Jobs, func(j *Job) bool { return j.Entry == nil && j.ReadsLog() && j.rowClock() != unixClock })
	if first < 0 {
		return
	}
	isWith := func(isOther func(a, b *Job) bool) bool {
		return slices.ContainsFunc(p.Jobs, func(j *Job) bool { return j.Entry == nil && j.Host == p.Jobs[first].Host && isOther(j, p.Jobs[first]) })
	}
	say := p.problems.Skip
	if p.Run.ByCBT() || p.Run.IsLoose() || !isWith(func(a, b *Job) bool { return a.Volume != b.Volume }) {
		say = p.problems.Note
		if !isWith(func(a, b *Job) bool { return a.Volume == b.Volume && a.Number != b.Number }) {
			return
		}
	}
	p.Placed = "all jobs are shown as if they began together, because their logs were last written at the same moment, and no report " +
		"says when they ran"
	say("%s: %s: if the logs are copies, and the jobs ran one after another, its numbers are of no single run; pass fio's JSON report, or logs "+
		"with their times (cp -p, rsync -t)", p.Title, p.Placed)
}

// section returns the section of the job file that has the name of a job, or nil.
func (p *planner) section(j *Job) *fioargs.Section {
	i := slices.IndexFunc(p.Run.Sections, func(s *fioargs.Section) bool { return s.Name == j.Section() })
	if i < 0 {
		return nil
	}
	return p.Run.Sections[i]
}

// sectionNames returns the names of the sections of some jobs, each once. fio reports a group by its first section. The job
// file has the others; without one, "more" stands for them.
func (p *Plan) sectionNames(jobs []*Job) (names []string) {
	add := func(name string) {
		if name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	others := ""
	for i, j := range jobs {
		if j.Entry == nil || i > 0 && j.Entry == jobs[i-1].Entry {
			continue
		}
		for _, e := range j.Entry.Parts() {
			sections := p.Run.SectionsOf(e)
			for _, s := range sections {
				add(s.Name)
			}
			if add(e.Name); e.IsGroup && len(sections) == 0 {
				others = "more"
			}
		}
	}
	add(others)
	return names
}

// JoinNames returns one name of several sections, such as reader+writer. It is short if there are many.
func JoinNames(sections []string) string {
	const most = 3
	if more := len(sections) - most + 1; more > 1 {
		sections = append(slices.Clone(sections[:most-1]), fmt.Sprint(more, "more"))
	}
	return strings.Join(sections, "+")
}

// sections divides the jobs of the plan by the options that decide what fio measures. CBT makes the names of files and
// volumes, and divides its total_iodepth over volumes, so neither divides the jobs. Nor do files and volumes of one report
// whose jobs have numbers, such as job1 and job2 with vol1 and vol2. Devices do.
func (p *Plan) sections() (sections []Section) {
	at := map[string]int{}
	for _, j := range p.Jobs {
		key, numbered := "", ""
		var set mapping.CBT
		if j.Entry != nil {
			options := fioargs.Measured(j.Entry.Listed(), p.Run.ByCBT())
			delete(options, "offset")
			set = j.Entry.Settings()
			if p.Run.TotalIODepth > 0 {
				delete(options, "iodepth")
				set.IODepth = 0
			}
			key = fmt.Sprint(options) // Sprint sorts a map
			if fioargs.Number(options) {
				numbered = fmt.Sprintf("%p %s %s %v", j.Entry.Out, j.Entry.Host, fioargs.Unnumbered(j.Entry.Name), options)
			}
		}
		i, ok := at[key]
		if !ok && numbered != "" {
			i, ok = at[numbered]
		}
		if !ok {
			i, sections = len(sections), append(sections, Section{Settings: set})
			if j.Entry != nil {
				sections[i].Options = j.Entry.Listed()
			}
		}
		at[key] = i
		if numbered != "" {
			at[numbered] = i
		}
		s := &sections[i]
		if s.Jobs = append(s.Jobs, j); j.Entry != nil {
			s.Options = fioargs.Common([]map[string]string{s.Options, j.Entry.Listed()})
		}
	}
	used := map[string]bool{} // hosts may have other options in sections of one name
	for i := range sections {
		s := &sections[i]
		if s.Name = JoinNames(p.sectionNames(s.Jobs)); len(sections) > 1 {
			s.Name = unusedName(used, s.Name, " #")
		}
	}
	return sections
}

// unusedName returns a name and adds it to the used ones. If it is used or empty, a number follows. The user may have given the
// name with that number, too.
func unusedName(used map[string]bool, name, before string) string {
	one := name
	for n := 1; one == "" || used[one]; n++ {
		if one = fmt.Sprint(n); name != "" {
			one = fmt.Sprint(name, before, n+1)
		}
	}
	used[one] = true
	return one
}

// Apart returns what is wrong with the times of hosts. Jobs may have begun after all jobs before them had ended, and no
// report has both. The time of the run then includes the gap, so its rates are too low. Else hosts may have begun seconds
// apart: they were started so, or a clock is off. Then it is only a doubt. The text is empty if there is nothing to say.
// last returns the end of a job's rows, in milliseconds since the job's start.
func (p *Plan) Apart(last func(*Job) int64) (text string, isDoubt bool) {
	type span struct { // the time in which the jobs of a host ran; jobs of several reports have spans of their own
		host, volume string
		evidence.Span
	}
	type call struct {
		host, volume string
		out          *assign.Output // without one, each volume had its own
	}
	callOf := func(j *Job) call {
		if j.Entry != nil {
			return call{j.Host, "", j.Entry.Out}
		}
		return call{j.Host, j.Volume, nil}
	}
	var all []span
	for _, jobs := range group.By(p.Jobs, callOf) {
		one := span{host: jobs[0].Host, volume: jobs[0].Volume}
		for _, j := range jobs {
			one.Add(evidence.Span{Start: j.Start, End: j.Start.Add(time.Duration(max(j.Ran, last(j))) * time.Millisecond)})
		}
		all = append(all, one)
	}
	slices.SortStableFunc(all, func(a, b span) int { return a.Start.Compare(b.Start) })

	unsure, before, latest := 2*p.Error, all[0], all[0] // the last to end, and the host that began last
	hosts := map[string]bool{all[0].host: true}
	for _, s := range all[1:] {
		if gap := s.Start.Sub(before.End); gap > unsure+time.Second {
			name := fmt.Sprintf("host %q", s.host)
			if s.host == before.host {
				name = fmt.Sprintf("volume %q", s.volume)
			}
			return fmt.Sprintf("its jobs did not run at the same time: %s began %v after the ones before it had ended, so rates of the run "+
				"are too low; keep the files of each run in a folder of their own, or correct a wrong clock with FIO2ES_OFFSET",
				name, gap.Round(100*time.Millisecond)), false
		}
		if s.End.After(before.End) {
			before = s
		}
		if !hosts[s.host] {
			hosts[s.host], latest = true, s
		}
	}
	const usual = 1800 * time.Millisecond // a parallel shell may start fio on its hosts that far apart
	skew := latest.Start.Sub(all[0].Start)
	if skew <= unsure+usual {
		return "", false
	}
	return fmt.Sprintf("host %q began %.1f s before host %q: if the clock of one of them is off, their windows do not belong together; "+
		"correct it with FIO2ES_OFFSET, such as FIO2ES_OFFSET=%s=%d (milliseconds)", all[0].host, skew.Seconds(), latest.host,
		all[0].host, skew.Round(100*time.Millisecond).Milliseconds()), true
}
