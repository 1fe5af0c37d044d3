package pipeline

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// placed says when the jobs of one fio began. If they did not begin together, it also says how that is known.
type placed struct {
	starts map[*entry]moment
	how    string // one sentence; empty if all began together
	doubt  string // why it is not certain; empty if it is
}

// place finds when the jobs of one fio began, by the best evidence. All entries are of one output and one host.
func place(out *output, entries []*entry) placed {
	if slices.ContainsFunc(entries, func(e *entry) bool { return e.Start > 0 }) {
		return placeByStart(entries)
	}
	end, by := out.written()
	switch {
	case out.reports() > 1:
		return placeByReports(out, entries)
	case end.IsZero():
		return placed{starts: map[*entry]moment{}}
	case isOneStage(entries):
		p := placeTogether(entries, end, by)
		if waited(out, entries) {
			p.doubt = groupDoubt(out)
		}
		return p
	}
	if p, ok := placeByFiles(out, entries, end); ok {
		return p
	}
	if p, ok := placeInStages(out, entries, end); ok {
		return p
	}
	p := placeTogether(entries, end, by)
	p.how = "its jobs are shown side by side, though they may have run one after another"
	p.doubt = fmt.Sprintf("%s: nothing says when each of its %d groups of jobs ran: they are shown side by side; "+
		"run fio with --log_unix_epoch=1 or --status-interval=1, or keep the modification times of its logs",
		out.File.Name(), len(groups(entries)))
	return p
}

// Times outside these are not evidence, because fio did not exist or the report is damaged. RFC 3339 has four digits for
// a year, and a [time.Duration] covers 292 years.
var (
	notBefore = time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
	notAfter  = time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)
)

func isPossible(t time.Time) bool { return !t.Before(notBefore) && t.Before(notAfter) }

// dropImpossible removes impossible times of a report, so other evidence is used instead of a damaged number.
func (p placing) dropImpossible(out *output) {
	drop := func(what string, ms *int64) {
		if at := time.UnixMilli(*ms); !isPossible(at) {
			p.problems.skip(fmt.Errorf("%s: %s %d is in the year %d, which cannot be: not used",
				out.File.Name(), what, *ms, at.Year()))
			*ms = 0
		}
	}
	for _, e := range out.entries {
		drop("job_start", &e.Start)
	}
	drop("timestamp_ms", &out.fio.Timestamp)
}

// placeByStart uses job_start. A job without job_start began with the first job.
func placeByStart(entries []*entry) placed {
	p := placed{starts: map[*entry]moment{}}
	var first time.Time
	for _, e := range entries {
		if e.Start > 0 {
			first = earlier(first, time.UnixMilli(e.Start))
		}
	}
	late := false
	for _, e := range entries {
		at := first
		if e.Start > 0 {
			at = time.UnixMilli(e.Start)
		}
		late = late || at.Sub(first) > together
		p.starts[e] = moment{at, clockStart, errorOfStart}
	}
	if late {
		p.how = "each job where job_start in fio's report puts it"
	}
	return p
}

// together is the largest difference in reports between the starts of jobs that began together.
const together = 250 * time.Millisecond

// placeByReports uses periodic reports. In these the run time of a job begins with the job.
func placeByReports(out *output, entries []*entry) placed {
	p := placed{starts: map[*entry]moment{}}
	var first, idle time.Time
	for _, e := range entries {
		if b := &out.begun[e.index]; b.served {
			first = earlier(first, b.start)
		} else {
			idle = earlier(idle, b.start)
		}
	}
	first = earlier(first, time.Time{})
	if first.IsZero() {
		first = idle
	}
	if first.IsZero() {
		return p
	}
	for _, e := range entries {
		at := first
		if b := &out.begun[e.index]; b.served && b.start.Sub(first) > together {
			at, p.how = b.start, "each job where its counts begin to grow in fio's periodic reports"
		}
		p.starts[e] = moment{at, clockReport, errorOfReport}
	}
	return p
}

// isOneStage reports whether all jobs were started at once, except for a startdelay in their options. Jobs behind a
// stonewall have another group.
func isOneStage(entries []*entry) bool {
	for _, e := range entries {
		_, ok := e.delay()
		if !ok || e.GroupID != entries[0].GroupID || e.hasOption("wait_for") {
			return false
		}
	}
	return true
}

// waited reports whether fio ran longer than the jobs of a group of several sections, whose options are unknown.
func waited(out *output, entries []*entry) bool {
	const starting = 1500 // milliseconds for the start of fio and for rounding: elapsed has whole seconds
	longest := int64(0)
	for _, e := range entries {
		delay, _ := e.delay()
		longest = max(longest, delay.Milliseconds()+e.ran)
	}
	isGroup := func(e *entry) bool { return e.isGroup && len(e.parts) == 0 }
	return slices.ContainsFunc(entries, isGroup) && elapsed(out.fio) > longest+starting
}

// mayWait reports whether a section of a group waits longer than another. The job file says this. Without one, the
// options of the section that the report lists say it.
func (e *entry) mayWait(sections []fiolog.JobSection) bool {
	return e.isGroup && slices.ContainsFunc([]string{"startdelay", "ramp_time"}, func(name string) bool {
		_, isOwn := e.own[name]
		return isOwn && len(sections) == 0 ||
			slices.ContainsFunc(sections, func(s fiolog.JobSection) bool { return s.Options[name] != sections[0].Options[name] })
	})
}

func groupDoubt(out *output) string {
	return fmt.Sprintf("%s: jobs of a group of several sections may have waited (startdelay, ramp_time): nothing says when each ran, so "+
		"they are shown side by side; run fio with --log_unix_epoch=1, or without group_reporting", out.File.Name())
}

// placeTogether places jobs that were started at once. The last of them ended when the report was written.
func placeTogether(entries []*entry, end time.Time, by clock) placed {
	p := placed{starts: map[*entry]moment{}}
	longest := time.Duration(0)
	for _, e := range entries {
		delay, _ := e.delay()
		longest = max(longest, delay+e.ranFor())
	}
	error := errorOfReport
	if by == clockMtime {
		error = errorOfMtime
	}
	for _, e := range entries {
		delay, _ := e.delay()
		p.starts[e] = moment{end.Add(delay - longest), by, error}
		if e.option("startdelay") != "" {
			p.how = "each job by its startdelay, and the last to end by when fio wrote its report"
		}
	}
	return p
}

func groups(entries []*entry) [][]*entry {
	all := by(func(e *entry) int { return e.GroupID }, entries)
	slices.SortFunc(all, func(a, b []*entry) int { return cmp.Compare(a[0].GroupID, b[0].GroupID) })
	return all
}

// placeByFiles uses the time at which each log was last written, because fio writes a log when its job ends. The jobs
// of a group begin together, except those that wait.
func placeByFiles(out *output, entries []*entry, end time.Time) (placed, bool) {
	p := placed{starts: map[*entry]moment{}}
	if !out.trustsTimes() {
		return p, false
	}
	fine := true
	for _, group := range groups(entries) {
		var start time.Time
		for _, e := range group {
			ended, ok := e.lastWritten(end)
			if !ok {
				continue
			}
			fine = fine && e.isFine()
			start = earlier(start, ended.Add(-e.ranFor()-e.ramp()))
		}
		if start.IsZero() {
			return p, false
		}
		for _, e := range group {
			at := start.Add(e.ramp())
			if e.hasOption("startdelay") || e.hasOption("wait_for") {
				if ended, ok := e.lastWritten(end); ok {
					at = ended.Add(-e.ranFor())
				}
			}
			p.starts[e] = moment{earlier(at, end.Add(-e.ranFor())), clockMtime, errorOfMtime}
		}
	}
	p.how = "each job by when its log was last written, less its run time"
	return p, fine && plausible(p.starts, entries)
}

// plausible reports whether the files may have been written when jobs ended. Groups that ran for different times do not
// end together, but copies of their files may be made together.
func plausible(starts map[*entry]moment, entries []*entry) bool {
	const near = 300 * time.Millisecond
	for i, a := range entries {
		for _, b := range entries[i+1:] {
			endA, endB := starts[a].start.Add(a.ranFor()), starts[b].start.Add(b.ranFor())
			if a.GroupID != b.GroupID && endA.Sub(endB).Abs() < near && (a.ranFor()-b.ranFor()).Abs() > 2*near {
				return false
			}
		}
	}
	return true
}
