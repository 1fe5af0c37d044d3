package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/internal/group"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/evidence"
)

// placement says when the jobs of one fio began. If they did not begin together, it also says how that is known.
type placement struct {
	Starts map[*assign.Entry]moment
	how    string // one sentence; empty if all began together
	doubt  string // why it is not certain; empty if it is

	contradiction string // evidence that was dropped, because it contradicts the rest; empty if none was
}

// Place finds when the jobs of one fio began. All entries are of one output. There are three kinds of
// evidence besides job_start: periodic reports, the times of logs, and run times, which add up to the time that fio ran.
// Each start is taken from the most precise of these. Evidence that contradicts the rest is dropped.
//
// fio --client starts the jobs of all hosts at once, and writes each log when its job has ended. The hosts need not end together.
//
// A report in normal output has the time in whole seconds, and no time zone.
func Place(out *assign.Output, entries []*assign.Entry) placement {
	p := place(out, entries)
	for e, m := range p.Starts {
		if out.Fio.IsLocal && (m.Clock == clockReport || m.Clock == clockMtime) { // times of files count from the report's
			m.Error += time.Second
			if !out.HasZone {
				m.Error = ErrorOfZone
			}
			p.Starts[e] = m
		}
	}
	return p
}

func place(out *assign.Output, entries []*assign.Entry) placement {
	// By job_start. A job without it began with the first job.
	byStart, first := placement{Starts: map[*assign.Entry]moment{}}, time.Time{}
	for _, e := range entries {
		if e.Start > 0 {
			first = evidence.Earlier(first, time.UnixMilli(e.Start))
		}
	}
	if !first.IsZero() {
		for _, e := range entries {
			at := first
			if e.Start > 0 {
				at = time.UnixMilli(e.Start)
			}
			byStart.Starts[e] = moment{at, clockStart, errorOfStart + forks(e)}
			if at.Sub(first) > evidence.Together {
				byStart.how = "each job is placed where job_start in fio's report puts it"
			}
		}
		return byStart
	}
	end, clock := writtenAt(out)
	if end.IsZero() {
		return placement{}
	}
	ran := time.Duration(evidence.Elapsed(out.Fio)) * time.Millisecond
	files := []*evidence.File{out.File}
	const starting = 1500 * time.Millisecond // of fio, and rounding: elapsed has whole seconds
	longest, isOneStage, isGroup := longestOf(entries), assign.IsOneStage(entries), false
	for _, e := range entries {
		isGroup = isGroup || e.IsGroup && len(e.Parts()) == 1
		for _, j := range e.Jobs {
			files = append(files, j.Log.File)
		}
	}
	step := step(files...)

	// Side by side: all were started at once, except for a startdelay, and the last ended when the report was written.
	side := placement{Starts: map[*assign.Entry]moment{}}
	unsure := errorOfEnd + writing(entries, ran-longest)
	if clock == clockMtime {
		unsure = errorOfMtime + step
	}
	for _, e := range entries {
		ramp, delay, _ := e.Waits()
		side.Starts[e] = moment{end.Add(delay + ramp - longest), clock, unsure + forks(entries...)}
		if e.Several { // it began with fio, and if nothing says when that was, before its stages
			took, slack := ran, starting
			if ran == 0 {
				took = oneByOne(e.Parts())
				slack = took
			}
			side.Starts[e] = moment{end.Add(-took), clock, unsure + slack}
		}
		if e.Option("startdelay") != "" {
			side.how = "each job is placed by its startdelay, and the last to end by when fio wrote its report"
		}
	}
	groups := group.By(entries, groupOf)
	slices.SortStableFunc(groups, func(a, b []*assign.Entry) int { return cmp.Compare(a[0].GroupID, b[0].GroupID) })
	if slices.ContainsFunc(groups, hasRun) { // others failed at once: nothing shows when, and it does not matter
		groups = slices.DeleteFunc(groups, func(group []*assign.Entry) bool { return !hasRun(group) })
	}
	ways, byFile := []placement{side}, placement{}
	switch {
	case out.Live: // how long jobs ran is not known, and those that wait have a run time, too
		ways = nil
	case !isOneStage:
		ways, byFile = placeInStages(groups, ran, end), placeByFiles(out, groups, ran, end, step)
	case side.how != "" || out.Client: // fio may have started them later than that
		byFile = placeByFiles(out, groups, ran, end, step)
	}
	if out.Client && len(byFile.Starts) > 0 {
		ways = nil // a host may have prepared longer than another
	}

	// The times of files decide between ways that run times allow. If they contradict all, beyond both errors, or the only
	// one, they are those of a copy.
	contradiction := ""
	fit := slices.DeleteFunc(slices.Clone(ways), func(way placement) bool {
		return slices.ContainsFunc(entries, func(e *assign.Entry) bool {
			m, ok := way.Starts[e]
			file, has := byFile.Starts[e]
			return ok && has && m.Start.Sub(file.Start).Abs() > m.Error+file.Error
		})
	})
	switch {
	case len(fit) > 0:
		ways = fit
	case len(byFile.Starts) > 0 && (len(ways) > 0 || !out.TrustsTimes() || byFile.isLate(end.Add(step+writing(entries, ran)-ran))):
		byFile = placement{}
		contradiction = fmt.Sprintf("%s: the modification times of its logs contradict the time that fio ran: they are not used; "+
			"copy files with their times (cp -p, rsync -t)", out.File.Name())
	}
	if len(ways) > 1 {
		ways = nil // run times allow several
	}

	// Each start is that of the most precise evidence, the first of equals.
	p, how := placement{Starts: map[*assign.Entry]moment{}, contradiction: contradiction}, map[*assign.Entry]string{}
	for _, e := range entries {
		for _, by := range append([]placement{placeByReports(out, entries), byFile}, ways...) {
			m, ok := by.Starts[e]
			if best, has := p.Starts[e]; ok && (!has || m.Error < best.Error) {
				p.Starts[e], how[e] = m, by.how
			}
		}
		first = evidence.Earlier(first, p.Starts[e].Start)
	}
	for _, e := range entries {
		if p.Starts[e].Start.Sub(first) > evidence.Together && !strings.Contains(p.how, how[e]) {
			p.how = strings.TrimPrefix(p.how+"; "+how[e], "; ")
		}
	}
	switch {
	case len(p.Starts) == 0:
		most := ran
		if ran == 0 { // neither fio's text nor fio --client says how long it ran: at most this long
			most = oneByOne(slices.Concat(groups...))
		}
		for e, m := range side.Starts {
			m.Start, m.Error = m.Start.Add(min(longest-most, 0)), max(m.Error, most)
			p.Starts[e] = m
		}
		p.how = "its groups of jobs are shown as if each stage began with fio or when the one before ended"
		p.doubt = fmt.Sprintf("%s: nothing says when each of its %d groups of jobs ran: their starts are estimates; "+
			"run fio with --log_unix_epoch=1 or --status-interval=1, or keep the modification times of its logs",
			out.File.Name(), len(groups))
	case len(out.Times) == 1 && isOneStage && isGroup && ran > longest+starting:
		p.doubt = fmt.Sprintf(groupDoubt, out.File.Name())
	}
	return p
}

// groupKey is a group of jobs of a host; without fio --client there is one host, without a name. fio starts the jobs of a group together.
type groupKey struct {
	host string
	id   int
}

func groupOf(e *assign.Entry) groupKey { return groupKey{e.Host, e.GroupID} }

// longestOf returns how long the longest of some jobs took, with its startdelay and ramp_time.
func longestOf(entries []*assign.Entry) (longest time.Duration) {
	for _, e := range entries {
		ramp, delay, _ := e.Waits()
		longest = max(longest, delay+ramp+e.RanFor())
	}
	return longest
}

// oneByOne returns how long the groups of a host take one after another, on the host where this is longest.
func oneByOne(entries []*assign.Entry) time.Duration {
	all, longest := map[string]time.Duration{}, time.Duration(0)
	for _, group := range group.By(entries, groupOf) {
		host := group[0].Host
		all[host] += longestOf(group)
		longest = max(longest, all[host])
	}
	return longest
}

// isLate reports whether no job began when fio did, or when its ramp_time or startdelay was over.
func (p *placement) isLate(fioBegan time.Time) bool {
	const starting = 2500 * time.Millisecond // of fio, and rounding: elapsed has whole seconds
	for e, start := range p.Starts {
		ramp, delay, isKnown := e.Waits()
		if !isKnown || start.Start.Sub(fioBegan) <= ramp+delay+starting {
			return false
		}
	}
	return true
}

// placeByReports uses periodic reports. A job that they do not show began with the first one that they show.
func placeByReports(out *assign.Output, entries []*assign.Entry) placement {
	p := placement{Starts: map[*assign.Entry]moment{}, how: "each job is placed where its counts begin to grow in fio's periodic reports"}
	if len(out.Times) < 2 {
		return p
	}
	var first time.Time
	for _, e := range entries {
		if b := &out.Begun[e.Index]; !b.Start.IsZero() {
			half := b.Slack / 2
			unsure := errorOfReport + half + forks(e)
			if out.Live {
				half = 0 // most still run, and have since this start
			}
			p.Starts[e] = moment{b.Start.Add(-half), clockReport, unsure}
			first = evidence.Earlier(first, p.Starts[e].Start)
		}
	}
	// In a hang fio writes reports late, and run times stop, so a job seems to begin later. But jobs of a group begin together,
	// unless they wait, which reports show.
	type start struct {
		group int
		ramp  time.Duration
	}
	earliest := map[start]moment{}
	of := func(e *assign.Entry) (start, bool) {
		ramp, _, _ := e.Waits()
		return start{e.GroupID, ramp}, !out.Begun[e.Index].Waits && !e.HasOption("startdelay") && !e.HasOption("wait_for")
	}
	for _, e := range entries {
		if m, ok := p.Starts[e]; !ok && !first.IsZero() {
			p.Starts[e] = moment{first, clockReport, errorOfReport}
		} else if k, isTogether := of(e); isTogether && (earliest[k].Start.IsZero() || m.Start.Before(earliest[k].Start)) {
			earliest[k] = m
		}
	}
	for _, e := range entries {
		if k, isTogether := of(e); isTogether && p.Starts[e].Start.Sub(earliest[k].Start) > evidence.Together {
			p.Starts[e] = earliest[k]
		}
	}
	return p
}

// placeByFiles uses the time at which each log was last written, because fio writes a log when its job ends. The jobs
// of a group begin together, except those that wait. The clock of the files may be off, so only differences from the
// time of the report count: fio writes it at its timestamp_ms. The result is empty if there are no such times. step is
// how finely they are recorded.
func placeByFiles(out *assign.Output, groups [][]*assign.Entry, ran time.Duration, end time.Time, step time.Duration) placement {
	p := placement{Starts: map[*assign.Entry]moment{}, how: "each job is placed by when its log was last written, less its run time"}
	if out.Fio.Timestamp == 0 || out.File.ModTime.IsZero() || out.Client && !out.TrustsTimes() {
		return placement{}
	}
	var earliest, first, last time.Time // the start of fio, and the ends of jobs
	if ran > 0 {
		earliest = end.Add(-ran - time.Second - step)
	}
	for _, group := range groups {
		var start time.Time
		for _, e := range group {
			if ended, _, ok := endOf(e, end); ok {
				ramp, _, _ := e.Waits()
				at := ended.Add(-e.RanFor() - ramp)
				if ended.After(end.Add(time.Second+step)) || at.Before(earliest) {
					return placement{} // copied, or changed later
				}
				start = evidence.Earlier(start, at)
			}
		}
		if start.IsZero() {
			return placement{}
		}
		for _, e := range group {
			ramp, _, _ := e.Waits()
			at, unsure := start.Add(ramp), errorOfMtime+step+writing([]*assign.Entry{e}, ran)
			if ended, spread, ok := endOf(e, end); ok {
				if unsure += spread; e.HasOption("startdelay") || e.HasOption("wait_for") {
					at = ended.Add(-e.RanFor())
				}
				if first = evidence.Earlier(first, ended); ended.After(last) {
					last = ended
				}
			}
			p.Starts[e] = moment{evidence.Earlier(at, end.Add(-e.RanFor())), clockMtime, unsure}
		}
	}
	// Times that are all the same do not show what ran side by side: files that were copied together have them, too. Of fine times
	// the run time of fio shows it, which its text does not have. And fio writes its report when the last job has ended.
	const near = 300 * time.Millisecond
	same := step
	if ran == 0 {
		same = max(step, near)
	}
	if same > 0 && last.Sub(first) <= same && len(groups) > 1 || end.Sub(last) > errorOfLast+step {
		return placement{}
	}
	// Groups that ran for different times do not end together, but copies of their files may be made together.
	for a, start := range p.Starts {
		for b, other := range p.Starts {
			apart := start.Start.Add(a.RanFor()).Sub(other.Start.Add(b.RanFor())).Abs()
			if step == 0 && groupOf(a) != groupOf(b) && apart < near && (a.RanFor()-b.RanFor()).Abs() > 2*near {
				return placement{}
			}
		}
	}
	return p
}

// placeInStages returns the ways in which groups may have run one after another (stonewall) or side by side (new_group):
// those whose run times add up to the time that fio ran.
func placeInStages(groups [][]*assign.Entry, ran time.Duration, end time.Time) (fits []placement) {
	const most = 12 // groups; the number of ways doubles with each
	waits := func(e *assign.Entry) bool { return e.HasOption("startdelay") || e.HasOption("wait_for") }
	if ran == 0 || len(groups) > most || slices.ContainsFunc(slices.Concat(groups...), waits) {
		return nil
	}
	type stage struct {
		entries []*assign.Entry
		lasts   time.Duration
	}
	for cuts := range 1 << (len(groups) - 1) { // bit i is set if a stage ends with group i
		var stages []stage
		var one stage
		left, late := ran, time.Duration(0) // the time of fio beside that of the stages
		for i, group := range groups {
			for _, e := range group {
				ramp, _, _ := e.Waits()
				one.lasts = max(one.lasts, e.RanFor()+ramp)
			}
			if one.entries = append(one.entries, group...); i == len(groups)-1 || cuts>>i&1 == 1 {
				left -= one.lasts
				late += writing(one.entries, ran)
				stages, one = append(stages, one), stage{}
			}
		}
		left -= time.Duration(len(stages)-1) * betweenStages
		if left <= -betweenStages || left >= 1500*time.Millisecond+late {
			continue
		}
		p := placement{Starts: map[*assign.Entry]moment{}, how: "each group of jobs is placed behind the one before: their run times add " +
			"up to the time that fio ran"}
		end, unsure := end, errorOfEnd
		for _, of := range slices.Backward(stages) {
			start := end.Add(-of.lasts)
			unsure += writing(of.entries, max(left, 0))
			for _, e := range of.entries {
				ramp, _, _ := e.Waits()
				p.Starts[e] = moment{start.Add(ramp), clockReport, unsure + forks(of.entries...)}
			}
			end, unsure = start.Add(-betweenStages), unsure+errorOfStage
		}
		fits = append(fits, p)
	}
	return fits
}

// hasRun reports whether a job of some entries ran at all.
func hasRun(entries []*assign.Entry) bool {
	return slices.ContainsFunc(entries, func(e *assign.Entry) bool { return e.Ran > 0 || e.Job.Requests() > 0 })
}

// forks returns how far apart the jobs of entries may begin that were started together.
func forks(entries ...*assign.Entry) time.Duration {
	if len(entries) == 1 && entries[0].Size <= 1 {
		return 0
	}
	return errorOfForks
}

// writing returns the longest time that fio may have taken to write the logs of a job of the entries, at most atMost, or 0
// if that is within other errors.
func writing(entries []*assign.Entry, atMost time.Duration) (longest time.Duration) {
	for _, e := range entries {
		for _, j := range e.Jobs {
			longest = max(longest, j.Writing)
		}
	}
	if longest = min(longest, atMost); longest < errorOfReport {
		return 0
	}
	return longest
}

// endOf returns when the jobs of the entry ended, by when their logs were last written: the latest time, and how far
// apart the times are. It is not ok if a log is missing or has no time, or if the last of several jobs wrote it. report is when
// fio wrote its report.
func endOf(e *assign.Entry, report time.Time) (last time.Time, spread time.Duration, ok bool) {
	var first time.Time
	for _, j := range e.Jobs {
		at := j.Log.File.ModTime
		if j.Source == assign.FromNothing || j.Log.File == e.Out.File || at.IsZero() || j.Log.Segment > 0 {
			return last, 0, false
		}
		if first = evidence.Earlier(first, at); at.After(last) {
			last = at
		}
	}
	return report.Add(last.Sub(e.Out.File.ModTime)), last.Sub(first), len(e.Jobs) > 0 && !e.Several
}

// mayWait reports whether a section of a group waits longer than another. The job file says this. Without one, the
// options of the section that the report lists say it.
func mayWait(e *assign.Entry, sections []*fioargs.Section) bool {
	return e.IsGroup && slices.ContainsFunc([]string{"startdelay", "ramp_time", "wait_for"}, func(name string) bool {
		if len(sections) == 0 {
			_, isOwn := e.Own[name]
			return isOwn
		}
		first, _ := sections[0].Get(name)
		return slices.ContainsFunc(sections, func(s *fioargs.Section) bool { o, _ := s.Get(name); return o.Value != first.Value })
	})
}

// groupDoubt is the doubt about the places of a group whose sections may have waited.
const groupDoubt = "%s: jobs of a group of several sections may have waited (startdelay, ramp_time, wait_for): nothing says when each ran, so " +
	"they are shown side by side; run fio with --log_unix_epoch=1, or without group_reporting"
