package cbt

import (
	"cmp"
	"path"
	"slices"

	"github.com/fio2es/fio2es/pipeline/source"
)

// report gives a file that may be fio's output to its run, if its name or its place say
// which that is: as CBT names it, or in the folder of a sample of pbench-fio. It reports
// false for all others, of which the content must be known, see [sorter.attribute].
func (s *sorter) report(f *source.File) bool {
	base := path.Base(f.Path)
	at := s.place(f, false)
	if s.skipped[folderOf(f, at.config)] != nil && at.cbt {
		return true // listed there
	}
	if at.sample {
		s.sampleReport(f, &at)
		return true
	}
	volume, host, named := parseReport(base, !at.noVolume)
	if named && host != "" {
		at = s.place(f, true)
	}
	runs := s.folders[folderOf(f, at.folder)]
	if !at.cbt {
		runs = without(runs, (*Run).isReported)
	}
	if len(runs) == 0 && named && (at.cbt || !f.Beside && isReport(f)) {
		runs = []*Run{s.run(f, &at, "output")}
	}
	if named {
		mine := without(runs, func(r *Run) bool { return !r.wrote("output") })
		if named = len(mine) > 0; named {
			runs = mine
		}
	}
	if !at.cbt && !named {
		return false
	}
	r := Report{Host: at.host, File: f, Found: FoundFolder, Candidate: true}
	if named {
		r.Volume, r.Host, r.Named, r.Found, r.Candidate = volume, cmp.Or(host, at.host), true, FoundNamed, false
	} else {
		runs = beside(runs, base)
	}
	for _, run := range runs {
		run.Reports = append(run.Reports, r)
	}
	if len(runs) == 0 && roleOf(f.Path) == roleReport {
		s.leave(f, "may be fio's output, but there are no logs in its folder")
	}
	return true
}

// IsFio reports whether the file begins as fio's output does, damaged or not: of a report
// that was found by its place alone, nothing else shows that it is one.
func (r *Report) IsFio() bool { return isReport(r.File) }

// sampleReport takes in a report of a sample of pbench-fio.
func (s *sorter) sampleReport(f *source.File, at *place) {
	if !isReport(f) {
		if roleOf(f.Path) == roleReport {
			s.leave(f, "is not fio's output")
		}
		return
	}
	r := s.run(f, at, "")
	found := Report{Host: at.host, File: f, Found: FoundFolder, Candidate: true}
	if path.Base(f.Path) == pbenchReport {
		found.Found, found.Candidate = FoundNamed, false
	}
	if hosts := r.logHosts(); len(hosts) == 1 && hosts[0] == "localhost" {
		found.Host = hosts[0] // there is no client, so the report has no names of hosts
	}
	r.Reports = append(r.Reports, found)
}

// wrote reports whether a run may have output of that family: all of its logs
// are of other families if not.
func (r *Run) wrote(family string) bool {
	return r.isReported() || slices.ContainsFunc(r.logs(), func(l Log) bool {
		f, _ := splitPrefix(l.Prefix)
		return f == family
	})
}

// hasPrefix reports whether a name is the prefix of any log, or what prefixes have in common
// that differ by their volumes.
func (r *Run) hasPrefix(name string) bool {
	return slices.ContainsFunc(r.logs(), func(l Log) bool {
		family, _ := splitPrefix(l.Prefix)
		return name == l.Prefix || name == family
	})
}

// beside are the runs in CBT's layout that a report of that name may belong to: those
// whose logs have the same prefix, or else all, and its content decides.
func beside(runs []*Run, base string) []*Run {
	name := stem(base)
	same := without(runs, func(r *Run) bool { return !r.hasPrefix(name) })
	if len(same) > 0 || path.Ext(base) == "" {
		return same
	}
	return runs
}
