package cbt

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/pipeline/fiolog"
)

// now is the run that another is part of, or itself.
func (r *Run) now() *Run {
	for r.into != nil {
		r = r.into
	}
	return r
}

// uniteNamed makes one run of those whose logs one report names, or one job file: sections
// of one job file may each have a prefix of their own.
func (s *sorter) uniteNamed(clues []*clue) {
	for _, p := range clues {
		runs := p.options
		for i, r := range runs {
			runs[i] = r.now()
		}
		s.inOrder(runs)
		runs = slices.Compact(runs)
		if len(runs) < 2 {
			continue
		}
		s.leaveStale(p, runs)
		runs = slices.DeleteFunc(runs, (*Run).isReported)
		if twice := collision(runs); twice != "" {
			for _, r := range runs {
				r.doubt(fmt.Sprintf("%s names logs of several prefixes, but they are not of one execution: %s", p.file.Name(), twice))
			}
			continue
		}
		if len(runs) > 1 {
			s.uniteInto(p, runs)
		}
	}
	s.index()
	s.setNamed(clues)
}

// leaveStale drops logs that a report proves to be of another execution, among runs
// that have a job twice: its jobs have other prefixes than the logs of their numbers.
func (s *sorter) leaveStale(p *clue, runs []*Run) {
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
			s.leaveOut(l.File, fmt.Sprintf("left over from another execution: job %d of %s logs to %s", l.Job, p.file.Name(), strings.Join(of.prefixes, ", ")))
			return true
		})
		if r.isReported() && len(r.Reports) == 0 {
			r.gone = true
		}
	}
}

// collision says which job several runs have, "" if they have none in common: fio numbers
// the jobs of one execution through.
func collision(runs []*Run) string {
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
				return fmt.Sprintf("%s and %s are both of job %d", other.File.Name(), l.File.Name(), l.Job)
			}
			seen[key] = &l
		}
	}
	return ""
}

// uniteInto makes one run of several. It has the name of the report, which they share.
func (s *sorter) uniteInto(p *clue, runs []*Run) {
	one := runs[0]
	for _, r := range runs[1:] {
		one.absorb(r)
		r.gone, r.into = true, one
	}
	folder, base := one.at.folder, one.base
	for _, r := range runs[1:] {
		for folder != r.at.folder && !strings.HasPrefix(r.at.folder, folder+"/") && folder != "." {
			folder, base = path.Dir(folder), path.Dir(base)
		}
	}
	one.at.folder, one.base = folder, base
	one.Path, one.name = path.Join(folder, p.name), ""
}

// uniteNumbered makes one run of those whose jobs together have all numbers from 1 on, where
// one report names only some of their logs: with group_reporting it has one entry for
// all jobs, with the options of the first.
func (s *sorter) uniteNumbered(clues []*clue) {
	united := false
	for _, p := range clues {
		if p.isJob || p.claims == nil || len(p.options) != 1 || p.options[0].gone {
			continue
		}
		runs := []*Run{p.options[0]}
		for _, dir := range s.dirsOf(p.options[0]) {
			for _, r := range s.found.byDir[dir] {
				if slices.Contains(runs, r) {
					continue
				}
				isOthers := slices.ContainsFunc(clues, func(o *clue) bool {
					return o != p && (slices.Contains(o.options, r) || slices.Contains(o.prefix, r))
				})
				if !isOthers && !r.gone {
					runs = append(runs, r)
				}
			}
		}
		if len(runs) > 1 && collision(runs) == "" && countsThrough(runs, len(p.claims.jobs)) {
			s.inOrder(runs)
			var names []string
			for _, r := range runs {
				names = append(names, path.Base(r.Path))
			}
			s.uniteInto(p, runs)
			runs[0].now().doubt(fmt.Sprintf("logs named %s are taken for those of one execution: their jobs are numbered through, and %s has fewer entries",
				strings.Join(names, ", "), p.file.Name()))
			united = true
		}
	}
	if united {
		s.index()
		s.setNamed(clues)
	}
}

// countsThrough reports whether the jobs of several runs have the numbers 1 to n, each host
// for itself, and n is more than there are entries in a report.
func countsThrough(runs []*Run, entries int) bool {
	highest, jobs := map[string]int{}, map[stream]bool{}
	count := map[string]int{}
	for _, r := range runs {
		for _, l := range r.logs() {
			highest[l.Host] = max(highest[l.Host], l.Job)
			if one := (stream{host: l.Host, job: l.Job}); !jobs[one] {
				jobs[one] = true
				count[l.Host]++
			}
			if l.Job == 0 {
				return false
			}
		}
	}
	for host, n := range highest {
		if n <= entries || count[host] != n {
			return false
		}
	}
	return true
}
