package cbt

import (
	"cmp"
	"path"
	"slices"

	"github.com/fio2es/fio2es/pipeline/source"
)

// attribute gives the reports outside of CBT's layout to the runs that they may be of.
// What a report says of its logs counts most, then its name, then its place. A report that
// fits no run's logs is a separate run.
func (s *sorter) attribute(reports []*source.File) {
	s.index()
	clues := s.clues(reports)
	s.setNamed(clues)
	s.uniteNamed(clues)
	s.uniteNumbered(clues)
	claimed := map[*Run]bool{}
	for _, p := range clues {
		if !p.isJob {
			for _, r := range slices.Concat(p.prefix, p.options) {
				claimed[r] = true
			}
		}
	}
	for _, p := range clues {
		if !p.isJob {
			s.assign(p, clues, claimed)
		}
	}
}

// assign gives one report to its runs.
func (s *sorter) assign(p *clue, clues []*clue, claimed map[*Run]bool) {
	switch {
	case len(p.prefix)+len(p.options) > 0:
		for _, r := range p.prefix {
			other := len(p.options) > 0 && !slices.Contains(p.options, r)
			p.give(r, FoundPrefix, other)
		}
		for _, r := range p.options {
			if !slices.Contains(p.prefix, r) {
				p.give(r, FoundOptions, false)
			}
		}
		return
	case p.file.Size == 0 && roleOf(p.file.Path) == roleReport: // it may still be written
		for _, r := range s.found.byDir[p.dir] {
			p.give(r, FoundFolder, true)
		}
		if len(s.found.byDir[p.dir]) > 0 {
			return
		}
	}
	runs, how := s.byPlace(p, clues, claimed)
	for _, r := range runs {
		p.give(r, how, true)
	}
	if len(runs) > 0 || p.file.Beside {
		return
	}
	s.alone(p)
}

// give makes the report a run's.
func (p *clue) give(r *Run, how Found, isCandidate bool) {
	r.Reports = append(r.Reports, Report{Host: p.at.host, File: p.file, Found: how, Candidate: isCandidate})
}

// byPlace are the runs that a report may be of because of where it lies: those in its
// folder, or else in folders nearby, that no other report names.
func (s *sorter) byPlace(p *clue, clues []*clue, claimed map[*Run]bool) ([]*Run, Found) {
	if p.claims == nil {
		p.claims = s.readReport(p.file)
	}
	if !p.claims.isReport {
		return nil, FoundFolder
	}
	here := s.found.byDir[p.dir]
	if !p.claims.isParsed {
		return here, FoundFolder
	}
	may := func(runs []*Run) []*Run {
		return without(runs, func(r *Run) bool { return claimed[r] || !p.mayHave(r) })
	}
	free := may(here)
	if p.claims.namesLogs() {
		// Its logs are not there, unless they were renamed: then nothing else fits.
		others := slices.ContainsFunc(clues, func(o *clue) bool {
			return o != p && !o.isJob && o.dir == p.dir && len(o.prefix)+len(o.options) == 0 && o.claims != nil && o.claims.isParsed
		})
		if len(free) == 1 && len(here) == 1 && !others && len(p.nearby) == 0 {
			return free, FoundFolder
		}
		return s.onlyNearby(p, may(p.nearby)), FoundAbove
	}
	if len(free) > 0 {
		return free, FoundFolder
	}
	if runs := s.onlyNearby(p, may(p.nearby)); len(runs) > 0 {
		return runs, FoundAbove
	}
	if len(here) > 0 {
		return nil, FoundFolder
	}
	return may(s.found.below[p.dir]), FoundAbove
}

// onlyNearby are the runs in folders below the report's, or in the one above; of those in
// folders next to it only a single one.
func (s *sorter) onlyNearby(p *clue, runs []*Run) []*Run {
	close := without(runs, func(r *Run) bool {
		return !slices.ContainsFunc(s.dirsOf(r), func(dir string) bool { return path.Dir(dir) == p.dir || path.Dir(p.dir) == dir })
	})
	if len(close) > 0 || len(runs) != 1 {
		return close
	}
	return runs
}

// mayHave reports whether fio, with what the report says of options, may have written a
// run's logs: without log_hist_msec it writes no rows of histograms.
func (p *clue) mayHave(r *Run) bool { return p.claims.hasHist || len(r.Logs) == 0 }

// alone makes a run of a report that has no logs.
func (s *sorter) alone(p *clue) {
	f := p.file
	if p.claims == nil || !p.claims.isReport {
		if roleOf(f.Path) == roleReport || f.Named {
			why := "is not fio's output"
			if len(s.found.byDir[p.dir]) == 0 {
				why += ", and there are no logs in its folder"
			}
			s.leave(f, why)
		}
		return
	}
	run := s.run(f, &p.at, p.name)
	run.Reports = append(run.Reports, Report{Host: p.at.host, File: f, Found: FoundNamed})
}

// compareReports puts the likeliest first.
func compareReports(a, b Report) int { return cmp.Compare(a.Found, b.Found) }
