package cbt

import (
	"cmp"
	"path"
	"slices"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// clue is a report outside of CBT's layout, or a job file. Its content and its place show which logs one execution of
// fio wrote.
type clue struct {
	file   *source.File
	dir    string          // see [catalog.dirOf]
	name   string          // the file's, without what says that it is a report
	host   string          // of a report, if the file's name or folder has it
	claims *claims         // nil if its name and place say enough
	job    *fiolog.JobFile // nil for a report, and for a file that is not a job file

	prefix  []*draft // with logs in its folder that have its name
	options []*draft // with logs that its options name
	nearby  []*draft // with logs in a folder nearby whose names end like the paths in its options
}

func (c *catalog) clueOf(f *source.File) *clue {
	return &clue{file: f, dir: c.dirOf(f), name: stem(path.Base(f.Path))}
}

func (p *clue) isJob() bool { return p.job != nil }

// runs returns the runs with logs that its name or its options name, each once.
func (p *clue) runs() []*draft {
	runs := slices.Clone(p.prefix)
	for _, r := range p.options {
		runs = addNew(runs, r)
	}
	return runs
}

// attribution gives reports and job files outside of CBT's layout to the runs to which they may belong. What they say
// about logs counts most, then their names, then their places.
type attribution struct {
	runs    *drafts
	places  *places
	index   logIndex
	reports []*clue
	jobs    []*clue
}

// newAttribution looks into the reports and job files whose names and places do not say enough. Files that are not job
// files go to the leftovers.
func newAttribution(d *drafts, reports, jobs []*source.File) *attribution {
	a := &attribution{runs: d, places: d.places, index: newLogIndex(d)}
	for _, f := range reports {
		p := d.places.clueOf(f)
		here := a.index.byDir[p.dir]
		name, host := splitHost(path.Base(f.Path), here)
		p.name, p.host = stem(name), cmp.Or(host, d.places.of(f, false).host)
		p.prefix = without(here, func(r *draft) bool { return !r.hasPrefix(p.name) })
		// Most folders have one run, and a report of its name.
		isPlain := len(p.prefix) == 1 && len(here) == 1 && len(a.index.below[p.dir]) == 0 && roleOf(f.Path) == roleReport
		if !isPlain {
			p.claims = claimsOf(f)
		}
		a.reports = append(a.reports, p)
	}
	for _, f := range jobs {
		p := d.places.clueOf(f)
		job, err := readJobFile(f)
		if err == nil {
			p.job, p.claims = job, claimsOfJob(job)
		} else if p.claims = new(claims); !f.Beside {
			d.left.add(f, "is no job file of fio: "+err.Error())
		}
		a.jobs = append(a.jobs, p)
	}
	return a
}

func (a *attribution) clues() []*clue { return slices.Concat(a.reports, a.jobs) }

// setNamed finds out which of the present runs the clues name.
func (a *attribution) setNamed() {
	a.index = newLogIndex(a.runs)
	for _, p := range a.clues() {
		if p.claims != nil {
			p.options, p.nearby = a.index.namedBy(p.claims, p.dir)
		}
		var prefix []*draft
		for _, r := range p.prefix {
			if r = r.now(); !r.gone {
				prefix = addNew(prefix, r)
			}
		}
		p.prefix = prefix
	}
}

// attribute gives reports to runs. A report that fits the logs of no run becomes a run of its own.
func (a *attribution) attribute() {
	a.setNamed()
	a.uniteNamed()
	a.uniteNumbered()
	claimed := map[*draft]bool{}
	for _, p := range a.reports {
		for _, r := range p.runs() {
			claimed[r] = true
		}
	}
	for _, p := range a.reports {
		a.assign(p, claimed)
	}
	a.splitApart()
}

func (a *attribution) assign(p *clue, claimed map[*draft]bool) {
	named := p.runs()
	for _, r := range named {
		if slices.Contains(p.prefix, r) {
			other := len(p.options) > 0 && !slices.Contains(p.options, r)
			a.give(p, r, FoundPrefix, other)
		} else {
			a.give(p, r, FoundOptions, false)
		}
	}
	if len(named) > 0 {
		return
	}
	runs, how := a.index.byDir[p.dir], FoundFolder
	if mayGrow := p.file.Size == 0 && roleOf(p.file.Path) == roleReport; !mayGrow || len(runs) == 0 {
		runs, how = a.byPlace(p, claimed)
	}
	for _, r := range runs {
		a.give(p, r, how, true)
	}
	if len(runs) == 0 && !p.file.Beside {
		a.alone(p)
	}
}

func (a *attribution) give(p *clue, r *draft, how Found, isCandidate bool) {
	r.Reports = append(r.Reports, Report{Host: p.host, File: p.file, Found: how, Candidate: isCandidate})
}

// byPlace returns the runs to which a report may belong because of its place: runs in its folder or, if there are none,
// in folders nearby. It leaves out runs that another report names.
func (a *attribution) byPlace(p *clue, claimed map[*draft]bool) ([]*draft, Found) {
	if p.claims == nil {
		p.claims = claimsOf(p.file)
	}
	here := a.index.byDir[p.dir]
	switch {
	case !p.claims.isReport:
		return nil, FoundFolder
	case !p.claims.isParsed:
		return here, FoundFolder
	}
	// Without log_hist_msec fio writes no rows of histograms. Without histogram logs no bins can prove that a report is of
	// these logs, so it must be the only possible one, and its options must not lack the logs.
	may := func(runs []*draft) []*draft {
		several := len(runs) > 1
		return without(runs, func(r *draft) bool {
			if len(r.Logs) > 0 {
				return claimed[r] || !p.claims.hasHist
			}
			return claimed[r] || several || p.claims.isListed && !p.claims.namesLogs()
		})
	}
	free := may(here)
	if p.claims.namesLogs() {
		// Its logs are missing, or were renamed. If they were renamed, no other report fits them.
		others := slices.ContainsFunc(a.reports, func(o *clue) bool {
			return o != p && o.dir == p.dir && len(o.runs()) == 0 && o.claims != nil && o.claims.isParsed
		})
		if len(free) == 1 && len(here) == 1 && !others && len(p.nearby) == 0 {
			return free, FoundFolder
		}
		return a.onlyNearby(p, may(p.nearby)), FoundAbove
	}
	if len(free) > 0 {
		return free, FoundFolder
	}
	if runs := a.onlyNearby(p, may(p.nearby)); len(runs) > 0 || len(here) > 0 {
		return runs, FoundAbove
	}
	return may(a.index.below[p.dir]), FoundAbove
}

// onlyNearby returns the runs in folders below the report's folder, or in the folder above it. A run in a folder beside
// it counts only if it is the only one.
func (a *attribution) onlyNearby(p *clue, runs []*draft) []*draft {
	close := without(runs, func(r *draft) bool {
		return !slices.ContainsFunc(a.places.dirsOf(r), func(dir string) bool { return path.Dir(dir) == p.dir || path.Dir(p.dir) == dir })
	})
	if len(close) > 0 || len(runs) != 1 {
		return close
	}
	return runs
}

// alone makes a run of a report that has no logs.
func (a *attribution) alone(p *clue) {
	f := p.file
	if p.claims.isReport {
		at := a.places.of(f, false)
		a.give(p, a.runs.runOf(f, &at, p.name), FoundNamed, false)
		return
	}
	if roleOf(f.Path) == roleReport || f.Named {
		why := "is not fio's output"
		if len(a.index.byDir[p.dir]) == 0 {
			why += ", and there are no logs in its folder"
		}
		a.runs.left.addUnread(f, why)
	}
}
