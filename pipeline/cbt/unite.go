package cbt

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// uniteNamed makes one run of the runs whose logs are named by one report or one job file, because sections of a job
// file may have different prefixes.
func (a *attribution) uniteNamed() {
	for _, p := range a.clues() {
		runs := p.options
		for i, r := range runs {
			runs[i] = r.now()
		}
		a.runs.inOrder(runs)
		runs = slices.Compact(runs)
		if len(runs) < 2 {
			continue
		}
		a.leaveStale(p, runs)
		runs = slices.DeleteFunc(runs, func(r *draft) bool { return r.isReported() })
		if twice := collision(runs); twice != "" {
			for _, r := range runs {
				r.doubt(fmt.Sprintf("%s names logs of several prefixes, but they are not of one execution: %s", p.file.Name(), twice))
			}
			continue
		}
		if len(runs) > 1 {
			uniteInto(p, runs)
		}
	}
	a.setNamed()
}

// leaveStale drops logs that a report proves to be of another execution, among runs
// that have a job twice: its jobs have other prefixes than the logs of their numbers.
func (a *attribution) leaveStale(p *clue, runs []*draft) {
	if collision(runs) == "" {
		return
	}
	for _, r := range runs {
		for _, l := range r.logs() {
			if l.Job > len(p.claims.jobs) {
				return // fewer entries than jobs: nothing says which is which
			}
		}
	}
	for _, r := range runs {
		r.dropLogs(func(l Log) bool {
			if l.Job == 0 {
				return false
			}
			of := p.claims.jobs[l.Job-1]
			if len(of.prefixes) == 0 || slices.ContainsFunc(of.prefixes, func(v string) bool { return path.Base(path.Clean(v)) == l.Prefix }) {
				return false
			}
			a.runs.left.addNotable(l.File, fmt.Sprintf("left over from another execution: job %d of %s logs to %s", l.Job, p.file.Name(), strings.Join(of.prefixes, ", ")))
			return true
		})
		r.gone = r.gone || r.isReported() && len(r.Reports) == 0
	}
}

// collision returns a job that several runs have, or "" if they have none in common. Jobs of one execution have
// different numbers.
func collision(runs []*draft) string {
	type numbered struct {
		kind fiolog.Kind
		host string
		job  int
	}
	seen := map[numbered]*Log{}
	for _, r := range runs {
		for _, l := range r.logs() {
			key := numbered{l.Kind, l.Host, l.Job}
			if other := seen[key]; other != nil && l.Job > 0 && other.Prefix != l.Prefix {
				return fmt.Sprintf("%s and %s both belong to job %d", other.File.Name(), l.File.Name(), l.Job)
			}
			seen[key] = &l
		}
	}
	return ""
}

// uniteInto makes one run of several, the first. It has the name of the report, which they share.
func uniteInto(p *clue, runs []*draft) {
	one := runs[0]
	for _, r := range runs[1:] {
		one.absorb(r)
		for dir := one.at.folder; dir != r.at.folder && !strings.HasPrefix(r.at.folder, dir+"/") && dir != "."; dir = one.at.folder {
			one.at.folder, one.base = path.Dir(dir), path.Dir(one.base)
		}
	}
	one.Path, one.name = path.Join(one.at.folder, p.name), ""
}

// uniteNumbered makes one run of the runs whose jobs together have all numbers from 1 on, if one report names only some
// of their logs. With group_reporting a report has one entry for several sections, with the options of one of them.
func (a *attribution) uniteNumbered() {
	named := map[*draft]int{} // the number of clues that name the run
	for _, p := range a.clues() {
		for _, r := range p.runs() {
			named[r]++
		}
	}
	for _, p := range a.reports {
		if p.claims == nil || len(p.options) != 1 || p.options[0].gone {
			continue
		}
		mine, runs := p.runs(), []*draft{p.options[0]}
		for _, dir := range a.places.dirsOf(runs[0]) {
			for _, r := range a.index.byDir[dir] {
				if isOthers := named[r] > 1 || named[r] == 1 && !slices.Contains(mine, r); !isOthers && !r.gone {
					runs = addNew(runs, r)
				}
			}
		}
		if len(runs) > 1 && collision(runs) == "" && countsThrough(runs, len(p.claims.jobs)) {
			a.runs.inOrder(runs)
			var names []string
			for _, r := range runs {
				names = append(names, path.Base(r.Path))
			}
			uniteInto(p, runs)
			runs[0].guess = fmt.Sprintf("logs named %s are read as one run: the numbers of their jobs continue, and %s has fewer entries",
				strings.Join(names, ", "), p.file.Name())
		}
	}
	a.setNamed()
}

// countsThrough reports whether the jobs of several runs have the numbers 1 to n on each host, and n is more than the
// number of entries in a report.
func countsThrough(runs []*draft, entries int) bool {
	jobs, highest := map[string]map[int]bool{}, map[string]int{}
	for _, r := range runs {
		for _, l := range r.logs() {
			if jobs[l.Host] == nil {
				jobs[l.Host] = map[int]bool{}
			}
			jobs[l.Host][l.Job] = true
			highest[l.Host] = max(highest[l.Host], l.Job)
		}
	}
	for host, n := range highest {
		if n <= entries || jobs[host][0] || len(jobs[host]) != n {
			return false
		}
	}
	return true
}

// uniteDepths makes one run of the iodepth folders below each total_iodepth folder, because they have the volumes of
// one execution. If two of them have the same volume, they are several executions and stay separate.
func (d *drafts) uniteDepths() {
	var parts []*draft
	for _, r := range d.present() {
		if _, ok := totalOf(r.at.folder); ok {
			parts = append(parts, r)
		}
	}
	d.inOrder(parts)
	for _, runs := range groups(parts, func(r *draft) runKey {
		total, _ := totalOf(r.at.folder)
		return runKey{folder{r.argument, r.Archive, total}, r.family}
	}) {
		if !disjoint(runs) {
			for _, r := range runs {
				r.doubt("the same volumes are in several iodepth folders of one total_iodepth: taken for several executions")
			}
			continue
		}
		one := runs[0]
		one.moveUp()
		for _, r := range runs[1:] {
			if r.IODepth != one.IODepth {
				one.IODepth = 0
			}
			one.absorb(r)
		}
	}
}

// disjoint reports whether no volume of a host is in several runs.
func disjoint(runs []*draft) bool {
	type device struct{ host, volume string }
	owner := map[device]*draft{}
	for _, r := range runs {
		var volumes []device
		for _, l := range r.logs() {
			volumes = append(volumes, device{l.Host, l.Volume})
		}
		for _, f := range r.Reports {
			if f.Named {
				volumes = append(volumes, device{f.Host, f.Volume})
			}
		}
		for _, v := range volumes {
			if other := owner[v]; other != nil && other != r {
				return false
			}
			owner[v] = r
		}
	}
	return true
}

// moveUp names a run after the folder above its own.
func (r *draft) moveUp() {
	family := strings.TrimPrefix(r.Path, r.at.folder)
	r.Path = path.Dir(r.at.folder) + family
	if r.name != "" {
		r.name = strings.TrimSuffix(r.name, "/"+path.Base(r.at.folder)+family) + family
	}
}
