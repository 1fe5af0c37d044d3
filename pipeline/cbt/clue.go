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
