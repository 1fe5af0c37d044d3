package account

import (
	"slices"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// Account is what a run has by its reports and rows.
type Account struct {
	All, Read, Write, Trim, Sync *mapping.Totals
	Sections                     []mapping.RunSection // if its jobs did not all do the same, and reports cover all of them
	Hosts                        []mapping.RunHost

	End       int64                    // of the last job, in milliseconds since the start of the run
	Recovered int64                    // requests that fio did not log, and that are in windows
	Missing   [fiolog.Directions]int64 // requests in no window
	Lacks     string                   // how many of CBT's clients and volumes are not here: "3 of 4 volumes"

	OfEntries assign.Remarks // of the rows of each entry
	OfRun     assign.Remarks // of the whole run; none while fio still writes
}

// Of returns the account of a run.
func Of(r *Read) *Account {
	a := &Account{End: r.End(), Sections: r.Plan.RunSections(), Hosts: r.Plan.Hosts()}
	all, entries := map[*assign.Entry]*Entry{}, []*Entry(nil)
	for _, e := range r.Plan.Entries {
		one := r.Entry(e)
		all[e], entries = one, append(entries, one)
		a.OfEntries.Add(&one.Remarks)
		for d, n := range one.Missing {
			a.Missing[d] += n
		}
		for _, row := range one.Tail {
			a.Recovered += int64(row.Total)
		}
	}
	var by [fiolog.Directions]*mapping.Totals
	a.All, by = r.totalsOf(entries, r.Plan.Jobs)
	a.Read, a.Write, a.Trim, a.Sync = by[fiolog.Read], by[fiolog.Write], by[fiolog.Trim], r.syncsOf(entries, r.Plan.Jobs)
	for i := range a.Sections {
		r.setSection(&a.Sections[i], r.Plan.Sections[i].Jobs, all)
	}
	if len(a.Hosts) > 1 && !slices.ContainsFunc(r.Plan.Jobs, func(j *plan.Job) bool { return j.Entry == nil }) {
		for i := range a.Hosts {
			r.setHost(&a.Hosts[i], all)
		}
	}
	if !r.Live {
		a.Lacks, a.OfRun = r.conclude(a.Missing, a.Recovered)
	}
	return a
}

// Entry returns the account of an entry of the run.
func (r *Read) Entry(e *assign.Entry) *Entry {
	a := &Entry{of: e, report: r.Report(e), all: &hist.Histogram{}}
	for _, j := range r.Plan.JobsOf[e] {
		c := r.Counts[j]
		a.last, a.isTorn = max(a.last, c.Until), a.isTorn || c.Damaged && !c.Cut
	}
	for d := range a.directions {
		a.addRows(r, d)
		if e.Mixed == nil {
			a.directions[d].compare(a)
		}
	}
	if e.Mixed != nil {
		a.divide()
	}
	switch {
	case e.ReadsLogs():
		a.addTail(r)
	case e.Jobs[0].Source == assign.FromNothing && len(r.Plan.Averages) == 0:
		a.addMissing(!r.hasRows(), len(r.Plan.Run.Logs) > 0)
	}
	return a
}

// entriesOf returns those of some accounts that are of jobs, in the order of the jobs.
func entriesOf(jobs []*plan.Job, all map[*assign.Entry]*Entry) (entries []*Entry) {
	for _, j := range jobs {
		if e := all[j.Entry]; !slices.Contains(entries, e) {
			entries = append(entries, e)
		}
	}
	return entries
}

// setSection sets the totals of a section.
func (r *Read) setSection(s *mapping.RunSection, jobs []*plan.Job, all map[*assign.Entry]*Entry) {
	entries, by := entriesOf(jobs, all), [fiolog.Directions]*mapping.Totals{}
	s.All, by = r.totalsOf(entries, jobs)
	s.Read, s.Write, s.Trim, s.Sync = by[fiolog.Read], by[fiolog.Write], by[fiolog.Trim], r.syncsOf(entries, jobs)
}

// setHost sets the totals of a host, if all of what its reports say is its own.
func (r *Read) setHost(h *mapping.RunHost, all map[*assign.Entry]*Entry) {
	isOther := func(j *plan.Job) bool { return j.Host != h.Name }
	jobs := slices.DeleteFunc(slices.Clone(r.Plan.Jobs), isOther)
	entries := entriesOf(jobs, all)
	if slices.ContainsFunc(entries, func(a *Entry) bool { return a.of.Mixed != nil || slices.ContainsFunc(r.Plan.JobsOf[a.of], isOther) }) {
		return
	}
	_, by := r.totalsOf(entries, jobs)
	totals := append(by[:], r.syncsOf(entries, jobs))
	for d, to := range []**mapping.HostTotals{&h.Read, &h.Write, &h.Trim, &h.Sync} {
		*to = totals[d].OfHost()
	}
}
