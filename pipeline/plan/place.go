package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// placement says when the jobs of one fio began. If they did not begin together, it also says how that is known.
type placement struct {
	Starts map[*Entry]moment
	how    string // one sentence; empty if all began together
	doubt  string // why it is not certain; empty if it is

	contradiction string // evidence that was dropped, because it contradicts the rest; empty if none was
}

// Place finds when the jobs of one fio began. All entries are of one output and one host. There are three kinds of
// evidence besides job_start: periodic reports, the times of logs, and run times, which add up to the time that fio ran.
// Each start is taken from the most precise of these. Evidence that contradicts the rest is dropped.
func Place(out *Output, entries []*Entry) placement {
	if slices.ContainsFunc(entries, func(e *Entry) bool { return e.Start > 0 }) {
		return placeByStart(entries)
	}
	end, by := out.written()
	if end.IsZero() {
		return placement{Starts: map[*Entry]moment{}}
	}
	var ways []placement
	var files placement
	contradiction := ""
	if isOneStage(entries) {
		ways = append(ways, placeTogether(out, entries, end, by))
	} else {
		ways, files = placeInStages(out, entries, end), placeByFiles(out, entries, end)
	}
	fit := slices.DeleteFunc(slices.Clone(ways), func(way placement) bool { // which files contradict, beyond both errors
		return slices.ContainsFunc(entries, func(e *Entry) bool {
			m, ok := way.Starts[e]
			file, has := files.Starts[e]
			return ok && has && m.Start.Sub(file.Start).Abs() > m.Error+file.Error
		})
	})
	switch {
	case len(fit) > 0:
		ways = fit
	case len(files.Starts) > 0 && (len(ways) > 0 || !out.trustsTimes()):
		files = placement{}
		contradiction = fmt.Sprintf("%s: the modification times of its logs contradict the time that fio ran: they are not used; "+
			"copy files with their times (cp -p, rsync -t)", out.File.Name())
	}
	all := []placement{placeByReports(out, entries), files}
	if len(ways) == 1 {
		all = append(all, ways[0])
	}
	p := mostPrecise(entries, all...)
	p.contradiction = contradiction
	switch {
	case len(p.Starts) == 0:
		p = placeTogether(out, entries, end, by)
		for e, m := range p.Starts {
			m.Error = max(m.Error, time.Duration(elapsed(out.Fio))*time.Millisecond)
			p.Starts[e] = m
		}
		p.how = "its jobs are shown side by side, though they may have run one after another"
		p.doubt = fmt.Sprintf("%s: nothing says when each of its %d groups of jobs ran: they are shown side by side; "+
			"run fio with --log_unix_epoch=1 or --status-interval=1, or keep the modification times of its logs",
			out.File.Name(), len(groups(entries)))
	case out.Reports() == 1 && isOneStage(entries) && waited(out, entries):
		p.doubt = groupDoubt(out)
	}
	return p
}

// mostPrecise takes each start from the most precise evidence, the first of equals.
func mostPrecise(entries []*Entry, evidence ...placement) placement {
	p, how := placement{Starts: map[*Entry]moment{}}, map[*Entry]string{}
	var first time.Time
	for _, e := range entries {
		for _, by := range evidence {
			m, ok := by.Starts[e]
			if best, has := p.Starts[e]; ok && (!has || m.Error < best.Error) {
				p.Starts[e], how[e] = m, by.how
			}
		}
		first = Earlier(first, p.Starts[e].Start)
	}
	for _, e := range entries {
		if p.Starts[e].Start.Sub(first) > together && !strings.Contains(p.how, how[e]) {
			p.how = strings.TrimPrefix(p.how+"; "+how[e], "; ")
		}
	}
	return p
}

// Times outside these are not evidence, because fio did not exist or the report is damaged. RFC 3339 has four digits for
// a year, and a [time.Duration] covers 292 years.
var (
	notBefore = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	notAfter  = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

func isPossible(t time.Time) bool { return !t.Before(notBefore) && t.Before(notAfter) }

// placeByStart uses job_start. A job without job_start began with the first job.
func placeByStart(entries []*Entry) placement {
	p := placement{Starts: map[*Entry]moment{}}
	var first time.Time
	for _, e := range entries {
		if e.Start > 0 {
			first = Earlier(first, time.UnixMilli(e.Start))
		}
	}
	late := false
	for _, e := range entries {
		at := first
		if e.Start > 0 {
			at = time.UnixMilli(e.Start)
		}
		late = late || at.Sub(first) > together
		p.Starts[e] = moment{at, clockStart, errorOfStart + forks(e)}
	}
	if late {
		p.how = "each job where job_start in fio's report puts it"
	}
	return p
}

// placeByReports uses periodic reports. A job that they do not show began with the first one that they show.
func placeByReports(out *Output, entries []*Entry) placement {
	p := placement{Starts: map[*Entry]moment{}, how: "each job where its counts begin to grow in fio's periodic reports"}
	if out.Reports() < 2 {
		return p
	}
	var first time.Time
	for _, e := range entries {
		if b := &out.begun[e.Index]; !b.start.IsZero() {
			half := b.slack / 2
			p.Starts[e] = moment{b.start.Add(-half), clockReport, errorOfReport + half + forks(e)}
			first = Earlier(first, p.Starts[e].Start)
		}
	}
	for _, e := range entries {
		if _, ok := p.Starts[e]; !ok && !first.IsZero() {
			p.Starts[e] = moment{first, clockReport, errorOfReport}
		}
	}
	return p
}

// forks returns how far apart the jobs of entries may begin that were started together.
func forks(entries ...*Entry) time.Duration {
	jobs := 0
	for _, e := range entries {
		jobs += e.Size
	}
	if jobs > 1 {
		return errorOfForks
	}
	return 0
}

// isOneStage reports whether all jobs were started at once, except for a startdelay in their options. Jobs behind a
// stonewall have another group.
func isOneStage(entries []*Entry) bool {
	for _, e := range entries {
		_, ok := e.delay()
		if !ok || e.GroupID != entries[0].GroupID || e.HasOption("wait_for") {
			return false
		}
	}
	return true
}

// waited reports whether fio ran longer than the jobs of a group of several sections, whose options are unknown.
func waited(out *Output, entries []*Entry) bool {
	const starting = 1500 // milliseconds for the start of fio and for rounding: elapsed has whole seconds
	longest := int64(0)
	for _, e := range entries {
		delay, _ := e.delay()
		longest = max(longest, delay.Milliseconds()+e.Ran)
	}
	isGroup := func(e *Entry) bool { return e.isGroup && len(e.parts) == 0 }
	return slices.ContainsFunc(entries, isGroup) && elapsed(out.Fio) > longest+starting
}

func groupDoubt(out *Output) string {
	return fmt.Sprintf("%s: jobs of a group of several sections may have waited (startdelay, ramp_time): nothing says when each ran, so "+
		"they are shown side by side; run fio with --log_unix_epoch=1, or without group_reporting", out.File.Name())
}

// placeTogether places jobs that were started at once. The last of them ended when the report was written.
func placeTogether(out *Output, entries []*Entry, end time.Time, by Clock) placement {
	p := placement{Starts: map[*Entry]moment{}}
	longest := time.Duration(0)
	for _, e := range entries {
		delay, _ := e.delay()
		longest = max(longest, delay+e.ranFor())
	}
	error := errorOfEnd
	if by == clockMtime {
		error = errorOfMtime + out.step()
	}
	if by == clockReport {
		error += writing(entries, time.Duration(elapsed(out.Fio))*time.Millisecond-longest)
	}
	error += forks(entries...)
	for _, e := range entries {
		delay, _ := e.delay()
		p.Starts[e] = moment{end.Add(delay - longest), by, error}
		if e.option("startdelay") != "" {
			p.how = "each job by its startdelay, and the last to end by when fio wrote its report"
		}
	}
	return p
}

func groups(entries []*Entry) [][]*Entry {
	all := by(func(e *Entry) int { return e.GroupID }, entries)
	slices.SortFunc(all, func(a, b []*Entry) int { return cmp.Compare(a[0].GroupID, b[0].GroupID) })
	return all
}

// placeByFiles uses the time at which each log was last written, because fio writes a log when its job ends. The jobs
// of a group begin together, except those that wait. The clock of the files may be off, so only differences from the
// time of the report count: fio writes it at its timestamp_ms. The result is empty if there are no such times.
func placeByFiles(out *Output, entries []*Entry, end time.Time) placement {
	p := placement{Starts: map[*Entry]moment{}, how: "each job by when its log was last written, less its run time"}
	if out.Client || out.Fio.Timestamp == 0 || out.File.ModTime.IsZero() {
		return placement{}
	}
	step, elapsed := out.step(), time.Duration(elapsed(out.Fio))*time.Millisecond
	var first, last time.Time // of the ends of jobs
	for _, group := range groups(entries) {
		var start time.Time
		for _, e := range group {
			if !e.hasLog() {
				continue
			}
			ended, _ := e.ended()
			at := ended.Add(-e.ranFor() - e.ramp())
			if ended.After(end.Add(time.Second+step)) || at.Before(out.began().Add(-step)) {
				return placement{} // copied, or changed later
			}
			start = Earlier(start, at)
		}
		if start.IsZero() {
			return placement{}
		}
		for _, e := range group {
			at, error := start.Add(e.ramp()), errorOfMtime+step+writing([]*Entry{e}, elapsed)
			if e.hasLog() {
				ended, spread := e.ended()
				if error += spread; e.HasOption("startdelay") || e.HasOption("wait_for") {
					at = ended.Add(-e.ranFor())
				}
				if first = Earlier(first, ended); ended.After(last) {
					last = ended
				}
			}
			p.Starts[e] = moment{Earlier(at, end.Add(-e.ranFor())), clockMtime, error}
		}
	}
	if step > 0 && last.Sub(first) <= step && len(groups(entries)) > 1 {
		return placement{} // coarse times that are all the same do not show what ran side by side: a copy has them, too
	}
	// fio writes its report when the last job has ended.
	if end.Sub(last) > errorOfLast+step || step == 0 && !plausible(p.Starts, entries) {
		return placement{}
	}
	return p
}

// plausible reports whether the files may have been written when jobs ended. Groups that ran for different times do not
// end together, but copies of their files may be made together.
func plausible(starts map[*Entry]moment, entries []*Entry) bool {
	const near = 300 * time.Millisecond
	for i, a := range entries {
		for _, b := range entries[i+1:] {
			endA, endB := starts[a].Start.Add(a.ranFor()), starts[b].Start.Add(b.ranFor())
			if a.GroupID != b.GroupID && endA.Sub(endB).Abs() < near && (a.ranFor()-b.ranFor()).Abs() > 2*near {
				return false
			}
		}
	}
	return true
}

// placeInStages returns the ways in which groups may have run one after another (stonewall) or side by side (new_group):
// those whose run times add up to the time that fio ran.
func placeInStages(out *Output, entries []*Entry, end time.Time) (fits []placement) {
	all := groups(entries)
	total := time.Duration(elapsed(out.Fio)) * time.Millisecond
	const most = 12 // groups; the number of ways doubles with each
	waits := func(e *Entry) bool { return e.HasOption("startdelay") || e.HasOption("wait_for") }
	if total == 0 || len(all) > most || slices.ContainsFunc(entries, waits) {
		return nil
	}
	for cuts := range 1 << (len(all) - 1) { // bit i is set if a stage ends with group i
		var stages [][]*Entry
		var stage []*Entry
		for i, g := range all {
			if stage = append(stage, g...); i == len(all)-1 || cuts>>i&1 == 1 {
				stages, stage = append(stages, stage), nil
			}
		}
		sum := time.Duration(len(stages)-1) * betweenStages
		late := time.Duration(0)
		for _, s := range stages {
			sum += lasts(s)
			late += writing(s, total)
		}
		left := total - sum // the time of fio beside that of the stages
		if left <= -betweenStages || left >= 1500*time.Millisecond+late {
			continue
		}
		p := placement{Starts: map[*Entry]moment{}, how: "each group of jobs behind the one before: their run times add " +
			"up to the time that fio ran"}
		end, unsure := end, errorOfEnd
		for _, stage := range slices.Backward(stages) {
			start := end.Add(-lasts(stage))
			unsure += writing(stage, max(left, 0))
			for _, e := range stage {
				p.Starts[e] = moment{start.Add(e.ramp()), clockReport, unsure + forks(stage...)}
			}
			end, unsure = start.Add(-betweenStages), unsure+errorOfStage
		}
		fits = append(fits, p)
	}
	return fits
}

// lasts is how long the jobs of a stage run, which begin together.
func lasts(stage []*Entry) time.Duration {
	longest := time.Duration(0)
	for _, e := range stage {
		longest = max(longest, e.ranFor()+e.ramp())
	}
	return longest
}

// mayWait reports whether a section of a group waits longer than another. The job file says this. Without one, the
// options of the section that the report lists say it.
func (e *Entry) mayWait(sections []fiolog.JobSection) bool {
	return e.isGroup && slices.ContainsFunc([]string{"startdelay", "ramp_time"}, func(name string) bool {
		_, isOwn := e.own[name]
		return isOwn && len(sections) == 0 ||
			slices.ContainsFunc(sections, func(s fiolog.JobSection) bool { return s.Options[name] != sections[0].Options[name] })
	})
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
