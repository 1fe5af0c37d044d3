package pipeline

import (
	"slices"

	"github.com/fio2es/fio2es/internal/workload/rule"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/account"
	"github.com/fio2es/fio2es/pipeline/plan"
)

// summary returns the run's document, made of what was read so far.
func (r *runReader) summary(a *account.Account) *mapping.Run {
	skipped, notes := r.problems.all()
	missing := a.Missing[0] + a.Missing[1] + a.Missing[2]
	run := &mapping.Run{
		Run:    r.info,
		Source: r.source, CBT: r.cbt, Config: mapping.ConfigOf(r.plan.Config),
		Fio:        mapping.FioInfo{Version: r.plan.Version(), Format: r.plan.Format(), Options: r.plan.Options()},
		Hosts:      a.Hosts,
		Clock:      mapping.Clock{Source: r.plan.Clock.String(), ErrorMS: r.plan.Error.Milliseconds()},
		Weighting:  r.opt.Weighting.String(),
		IntervalMS: r.plan.Window,
		Levels:     r.opt.Levels,
		Placed:     r.plan.Placed,
		Recovered:  mapping.Lost{Requests: a.Recovered},
		Missing:    mapping.Lost{Requests: missing},
		Documents:  r.made,
		Program:    mapping.Program{Version: r.opt.Program},
	}
	run.Run.End, run.Run.Lacks = r.plan.At(a.End), a.Lacks
	run.Run.Complete = len(skipped) == 0 && missing == 0 && a.Lacks == ""
	run.Run.Partial = r.problems.partial() || a.Lacks != ""
	if r.made == (mapping.Documents{}) || len(r.plan.Averages) > 0 {
		run.NoWindows = r.plan.WhyNoWindows()
	}
	run.Fio.Jobs = plan.Stand(r.plan.Jobs)
	reported := r.plan.Reported()
	for _, e := range reported {
		run.Fio.UsrCPU += e.UsrCPU
		run.Fio.SysCPU += e.SysCPU
		run.Fio.Switches += e.Switches
	}
	if n := float64(len(reported)); n > 0 {
		run.Fio.UsrCPU, run.Fio.SysCPU = mapping.Rounded(run.Fio.UsrCPU/n, 100), mapping.Rounded(run.Fio.SysCPU/n, 100)
	}
	run.All, run.Read, run.Write, run.Trim, run.Sync, run.Sections = a.All, a.Read, a.Write, a.Trim, a.Sync, a.Sections
	run.Workload = r.known().Workload
	for i := range run.Sections {
		run.Sections[i].Workload = r.known().Sections[i].Workload
	}
	for _, err := range slices.Concat(skipped, notes) {
		run.Warnings = append(run.Warnings, err.Error())
	}
	return run
}

// known returns what interval documents have of the run's document ([mapping.Interval.Describe]). It follows from the plan,
// so it is known before all rows are read.
func (r *runReader) known() *mapping.Run {
	if r.ofRun != nil {
		return r.ofRun
	}
	run := &mapping.Run{
		Run: r.info, CBT: r.cbt, Hosts: r.plan.Hosts(),
		Fio:      mapping.FioInfo{Format: r.plan.Format(), Options: r.plan.Options(), Jobs: plan.Stand(r.plan.Jobs)},
		Sections: r.plan.RunSections(),
	}
	rule.Set(run)
	r.ofRun = run
	return run
}
