package assign

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/group"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/layout"
)

// attribute gives reports outside of CBT's layout to the runs to which they may belong. What reports and job files say
// about logs counts most, then their names, then their places. Runs become one if a report or a job file shows that they
// are, and several if it is known that fio wrote their logs at different times. A report that fits the logs of no run
// becomes a run of its own.
func (s *clues) attribute() {
	s.findNamed()
	s.uniteNamed()
	s.uniteNumbered()
	s.assign()
	have := map[*evidence.File]int{} // how many runs have a report
	for _, r := range present(s.runs) {
		for _, f := range r.Reports {
			have[f.File]++
		}
	}
	isSplit := false
	texts := without(present(s.runs), func(r *Run) bool { // alone
		return !r.isReported() || len(r.Reports) == 0 || r.Reports[0].File.Claims().Format == fiolog.JSON
	})
	for _, r := range present(s.runs) {
		switch {
		case r.at.Program == layout.OfPeople && s.splitApart(r, have):
			isSplit = true
		case r.guess != "":
			r.doubt(r.guess)
		case r.at.Program == layout.OfPeople && len(r.Reports) == 0:
			s.doubtTwice(r, texts)
		}
	}
	if isSplit {
		s.findNamed()
	}
	for _, p := range s.jobs {
		p.options = present(p.options)
	}
	loose := without(present(s.runs), func(r *Run) bool { return !r.IsLoose() })
	for _, r := range loose {
		for _, f := range r.Reports {
			if len(loose) > 1 {
				r.ran.Add(f.File.Claims().Span)
			}
		}
		if len(r.Reports) == 0 {
			r.ran = endOf(r.logs())
		}
	}
}

// doubtTwice says if another run of the folder has logs of completions of the same jobs as the run's histogram logs, which one fio
// may have written under another prefix. No report says it. Nor does a text say it that was written when the averages of a run were.
func (s *clues) doubtTwice(r *Run, texts []*Run) {
	for _, o := range texts {
		wrote := func(l Log) bool { return l.File.ModTime.Sub(o.Reports[0].File.ModTime).Abs() < evidence.Apart }
		if len(r.Logs) == 0 && slices.ContainsFunc(r.Others, wrote) {
			r.doubt(fmt.Sprintf("%s may have the same requests, because its report was written at the same time: give the report the name of these "+
				"logs or of their folder", o.Path))
		}
	}
	jobs := func(logs []Log) (all []string) {
		for _, l := range logs {
			all = append(all, fmt.Sprint(l.Host, " ", l.Job))
		}
		return namesIn(all)
	}
	for _, o := range present(s.index.byDir[s.DirOf(r.logs()[0].File)]) {
		isOfCompletions := func(l Log) bool { return l.Kind == fiolog.Clat }
		if len(r.Logs) > 0 && len(o.Logs)+len(o.Reports) == 0 && slices.ContainsFunc(o.Others, isOfCompletions) && slices.Equal(jobs(r.Logs), jobs(o.Others)) {
			r.doubt(fmt.Sprintf("%s may have the same requests, because it has logs of the same jobs, and no report says who wrote them: pass "+
				"fio's JSON report, or keep one of the two", o.Path))
		}
	}
}

// findNamed finds out which of the present runs the clues name.
func (s *clues) findNamed() {
	s.index = s.newIndex()
	for _, p := range slices.Concat(s.reports, s.jobs) {
		p.options, p.nearby = s.index.namedBy(p.claims, p.dir)
	}
}

// uniteNamed makes one run of the runs whose logs are named by one report or one job file, because sections of a job
// file may have different prefixes.
func (s *clues) uniteNamed() {
	isDropped := false
	for _, p := range slices.Concat(s.reports, s.jobs) {
		runs := s.inOrder(present(p.options))
		if len(runs) < 2 {
			continue
		}
		// If a job is there twice, a report proves that logs are of another execution: those of a job that has another
		// prefix. With fewer entries than jobs nothing says which is which.
		isBeyond := func(r *Run) bool {
			return slices.ContainsFunc(r.logs(), func(l Log) bool { return l.Job > len(p.claims.Jobs) })
		}
		if collision(runs) != "" && !slices.ContainsFunc(runs, isBeyond) {
			for _, r := range runs {
				r.dropLogs(func(l Log) bool {
					if l.Job == 0 {
						return false
					}
					of := p.claims.Jobs[l.Job-1]
					if len(of) == 0 || slices.ContainsFunc(of, func(v string) bool { return path.Base(path.Clean(v)) == l.Prefix }) {
						return false
					}
					isDropped = true
					s.leaveNotable(l.File, fmt.Sprintf("left over from another execution: job %d of %s logs to %s", l.Job, p.file.Name(), strings.Join(of, ", ")))
					return true
				})
				r.gone = r.isReported() && len(r.Reports) == 0
			}
			runs = slices.DeleteFunc(runs, func(r *Run) bool { return r.isReported() })
		}
		if twice := collision(runs); twice != "" {
			for _, r := range runs {
				r.doubt(fmt.Sprintf("%s names logs of several prefixes, but they are not of one execution: %s", p.file.Name(), twice))
			}
			continue
		}
		unite(p, runs)
	}
	if isDropped {
		s.findNamed()
	}
}

// collision returns a job that several runs have, or "" if they have none in common. Jobs of one execution have
// different numbers.
func collision(runs []*Run) string {
	seen := map[logKey]Log{}
	for _, r := range runs {
		for _, l := range r.logs() {
			key := logKey{kind: l.Kind, host: l.Host, job: l.Job}
			if other, ok := seen[key]; ok && l.Job > 0 && other.Prefix != l.Prefix {
				return fmt.Sprintf("%s and %s both belong to job %d", other.File.Name(), l.File.Name(), l.Job)
			}
			seen[key] = l
		}
	}
	return ""
}

// unite makes one run of several, the first. It has the name of the clue, which they share.
func unite(p *clue, runs []*Run) {
	if len(runs) < 2 {
		return
	}
	one := runs[0]
	for _, r := range runs[1:] {
		one.absorb(r)
		one.at.Folder = commonPath(one.at.Folder, r.at.Folder)
	}
	one.Path = path.Join(one.at.Folder, p.name)
}

// uniteNumbered makes one run of the logs whose jobs together have all numbers from 1 on, if one report names only some
// of them, or lists no options, as normal output does. With group_reporting a report has one entry for several sections, with
// the options of one of them.
func (s *clues) uniteNumbered() {
	named := map[*Run]int{} // the number of clues that name the run
	for _, p := range slices.Concat(s.reports, s.jobs) {
		for _, r := range p.runs() {
			named[r]++
		}
	}
	for _, p := range s.reports {
		runs, mine := present(p.options), p.runs()
		entries, why := len(p.claims.Jobs), "has fewer entries"
		var dirs []string
		switch isMute := p.claims.IsParsed && !p.claims.IsListed && !p.claims.Client; {
		case len(runs) == 1:
			dirs = s.dirsOf(runs[0])
		case len(runs) == 0 && isMute:
			dirs, entries, why = []string{p.dir}, entries-1, "lists no options"
		}
		for _, dir := range dirs {
			for _, r := range present(s.index.byDir[dir]) {
				if named[r] == 0 || named[r] == 1 && slices.Contains(mine, r) {
					runs = addNew(runs, r)
				}
			}
		}
		var prefixes []string
		for _, r := range s.inOrder(runs) {
			for _, l := range r.logs() {
				prefixes = addNew(prefixes, l.Prefix)
			}
		}
		if len(prefixes) < 2 || collision(runs) != "" || !countsThrough(runs, entries) {
			continue
		}
		unite(p, runs)
		runs[0].guess = fmt.Sprintf("logs named %s are read as one run: the numbers of their jobs continue, and %s %s",
			strings.Join(prefixes, ", "), p.file.Name(), why)
	}
}

// countsThrough reports whether the jobs of several runs have the numbers 1 to n on each host, and n is more than the
// number of entries in a report.
func countsThrough(runs []*Run, entries int) bool {
	var logs []Log
	for _, r := range runs {
		logs = append(logs, r.logs()...)
	}
	return !slices.ContainsFunc(group.By(logs, func(l Log) string { return l.Host }), func(of []Log) bool {
		byJob := group.By(of, func(l Log) int { return l.Job })
		highest := slices.MaxFunc(of, func(a, b Log) int { return a.Job - b.Job }).Job
		lowest := slices.MinFunc(of, func(a, b Log) int { return a.Job - b.Job }).Job
		return highest <= entries || lowest == 0 || len(byJob) != highest
	})
}

// assign gives each report to the runs that it names or, if it names none, to those near it.
func (s *clues) assign() {
	claimed := map[*Run]bool{}
	lost := map[string]int{} // by folder, how many reports name no run
	for _, p := range s.reports {
		runs := p.runs()
		for _, r := range runs {
			claimed[r] = true
		}
		if len(runs) == 0 && p.file.Claims().IsParsed {
			lost[p.dir]++
		}
	}
	for _, p := range s.reports {
		give := func(runs []*Run, how Found, isCandidate bool) {
			for _, r := range runs {
				r.Reports = append(r.Reports, Report{Host: p.host, File: p.file, Found: how, Candidate: isCandidate})
			}
		}
		prefix, options := present(p.prefix), present(p.options)
		for _, r := range prefix {
			give([]*Run{r}, FoundPrefix, len(options) > 0 && !slices.Contains(options, r))
		}
		give(without(options, func(r *Run) bool { return slices.Contains(prefix, r) }), FoundOptions, false)
		if len(prefix)+len(options) > 0 {
			continue
		}
		here := present(s.index.byDir[p.dir])
		runs, how := here, FoundFolder
		if mayGrow := p.file.Size == 0 && layout.RoleOf(p.file.Path) == layout.RoleReport; !mayGrow || len(here) == 0 {
			runs, how = s.byPlace(p, here, claimed, lost[p.dir] == 1)
		}
		switch give(runs, how, true); {
		case len(runs) > 0 || p.file.Beside:
		case p.file.Claims().IsReport:
			at, name := s.PlaceOf(p.file, false), p.name
			// x.txt and x.json are not of one execution: then the less exact one would have been dropped.
			isOther := func(f Report) bool {
				return f.Host == p.host && p.claims.IsParsed && f.File.Claims().IsParsed
			}
			if r := s.byName[runKey{layout.FolderOf(p.file, at.Folder), name}]; r != nil && slices.ContainsFunc(r.Reports, isOther) {
				name = path.Base(p.file.Path)
			}
			give([]*Run{s.runOf(p.file, &at, name)}, FoundNamed, false)
		case layout.RoleOf(p.file.Path) == layout.RoleReport || p.file.Named:
			why := "is not fio's output"
			if len(s.index.byDir[p.dir]) == 0 {
				why += ", and there are no logs in its folder"
			}
			s.leave(p.file, why)
		}
	}
}

// byPlace returns the runs to which a report may belong because of its place: runs in its folder (here) or, if there are
// none, in folders nearby. It leaves out runs that another report names. isLast means that in its folder all other
// reports name runs.
func (s *clues) byPlace(p *clue, here []*Run, claimed map[*Run]bool, isLast bool) ([]*Run, Found) {
	c := p.file.Claims()
	switch {
	case !c.IsReport:
		return nil, FoundFolder
	case !c.IsParsed:
		return here, FoundFolder
	}
	// Text does not name its logs. They may be in a folder of its name, or have its name in a folder nearby.
	own := present(s.index.byDir[path.Join(p.dir, p.name)])
	if len(own) == 0 {
		for dir, runs := range s.index.byPrefix[p.name] {
			if isNear(p.dir, dir) {
				own = append(own, present(runs)...)
			}
		}
	}
	own = without(own, func(r *Run) bool { return claimed[r] || c.IsListed })
	// Without log_hist_msec fio writes no rows of histograms. Without histogram logs no bins can prove that a report is of
	// these logs, so it must be the only possible one, and its options must not lack the logs.
	may := func(runs []*Run) []*Run {
		isOne := len(runs) == 1
		return without(runs, func(r *Run) bool {
			if len(r.Logs) > 0 {
				return claimed[r] || !c.HasHist
			}
			return claimed[r] || !isOne || !isLast && !c.NamesLogs || c.IsListed && !c.NamesLogs
		})
	}
	// Runs in folders below the report's folder, or in the folder above it. A run in a folder beside it counts only if it
	// is the only one: folders of many runs may have logs of one name, and this report's logs may be gone.
	near := may(present(p.nearby))
	if close := without(near, func(r *Run) bool {
		return !slices.ContainsFunc(s.dirsOf(r), func(dir string) bool { return path.Dir(dir) == p.dir || path.Dir(p.dir) == dir })
	}); len(near) != 1 || len(close) > 0 {
		near = close
	}
	free := may(here)
	switch {
	case !c.NamesLogs && len(own) == 1:
		return own, FoundAbove
	case c.NamesLogs && len(free) == 1 && len(here) == 1 && isLast && len(p.nearby) == 0:
		return free, FoundFolder // its logs were renamed, because no other report fits these
	case c.NamesLogs: // or are missing
		return near, FoundAbove
	case len(free) > 0:
		return free, FoundFolder
	case len(near) > 0 || len(here) > 0:
		return near, FoundAbove
	}
	return may(present(s.index.below[p.dir])), FoundAbove
}

// part is a report, or the logs of one prefix in one folder: one fio wrote all of it.
type part struct {
	evidence.Span
	logs    []Log
	report  *Report // nil if it has logs
	isNamed bool    // a report names the logs
	of      *part   // another part of the same run; nil for the first
}

// first returns the first part of the run, and remembers it.
func (p *part) first() *part {
	one := p
	for one.of != nil {
		one = one.of
	}
	for p != one {
		p, p.of = p.of, one
	}
	return one
}

func (p *part) join(o *part) {
	if p, o = p.first(), o.first(); p != o {
		o.of = p
	}
}

func (p *part) prefix() string { return p.logs[0].Prefix }

// splitApart makes several runs of one whose logs have several prefixes, such as t.1 and t.2, and reports whether it did.
// Prefixes are of one run only if a report names them together, if their reports ran at the same time, or if they ended together. have
// has the number of runs of each report.
func (s *clues) splitApart(r *Run, have map[*evidence.File]int) bool {
	type place struct{ dir, prefix string }
	var logs, reports []*part
	byPrefix, byVolume := map[string][]*part{}, map[string][]*part{}
	for _, of := range group.By(r.logs(), func(l Log) place { return place{path.Dir(l.File.Path), l.Prefix} }) {
		p := &part{logs: of}
		logs = append(logs, p)
		byPrefix[of[0].Prefix], byVolume[of[0].Volume] = append(byPrefix[of[0].Prefix], p), append(byVolume[of[0].Volume], p)
	}
	if len(logs) < 2 {
		return false
	}
	// Reports name prefixes by their options or, if they have none of these, by their own name.
	trustsTimes := true
	for _, f := range r.Reports {
		c := f.File.Claims()
		p := &part{report: &f, Span: c.Span}
		reports = append(reports, p)
		var named []*part
		if f.Named {
			named = byVolume[f.Volume]
		} else {
			for value := range c.Values {
				named = append(named, byPrefix[path.Base(value)]...)
			}
			if !c.NamesLogs {
				named = append(named, byPrefix[layout.Stem(path.Base(f.File.Path))]...)
			}
		}
		for _, l := range named {
			l.join(p)
			l.isNamed = true
		}
		// The times of files are those at which fio wrote them, if those of reports are.
		isAsWritten := c.End.IsZero() || c.IsCut || c.Client || f.File.ModTime.Sub(c.End).Abs() < evidence.Apart
		trustsTimes = trustsTimes && isAsWritten
	}
	unnamed := without(logs, func(p *part) bool { return p.isNamed })
	for _, job := range s.jobs {
		var first *part
		for value := range job.claims.Values {
			for _, p := range byPrefix[path.Base(value)] {
				if !p.isNamed {
					first = cmp.Or(first, p)
					first.join(p)
				}
			}
		}
	}
	if trustsTimes {
		for _, p := range unnamed {
			p.Span = endOf(p.logs)
		}
	}
	all := slices.Concat(logs, reports)
	byStart := slices.SortedStableFunc(slices.Values(all), func(p, o *part) int { return p.Start.Compare(o.Start) })
	for i, p := range byStart {
		for _, o := range byStart[i+1:] {
			if o.Start.After(p.End.Add(evidence.Apart)) {
				break
			}
			if p.IsWith(o.Span) {
				p.join(o)
			}
		}
	}
	// What has no time belongs to the others if these are of one run, and something else shows it.
	known := without(all, func(p *part) bool { return p.End.IsZero() && !p.isNamed })
	if isLikely := len(unnamed) == len(logs) || r.family == "output" || r.guess != ""; isLikely && len(group.By(known, (*part).first)) < 2 {
		for _, p := range slices.Concat(known, unnamed) {
			logs[0].join(p)
		}
	}
	var runs [][]*part
	var others []*evidence.File
	var loose []Report // nothing shows to which of the runs they belong
	for _, of := range group.By(all, (*part).first) {
		switch p := of[0]; {
		case p.report == nil:
			runs = append(runs, of)
		case p.End.IsZero():
			loose = append(loose, *p.report)
		case have[p.report.File] > 1: // at another time than these logs, and it may be of another run's
			others = append(others, p.report.File)
		case !p.report.File.Beside:
			runs = append(runs, of)
		}
	}
	if len(runs) == 1 {
		return false
	}
	for _, f := range others {
		have[f]--
	}
	whole := *r
	for i, of := range runs {
		one := r
		if i > 0 {
			one = new(Run)
			*one = whole
			one.Doubts = slices.Clone(whole.Doubts)
			s.runs = append(s.runs, one)
		}
		one.Logs, one.Others, one.Reports, one.ran = nil, nil, nil, evidence.Span{}
		for _, p := range of {
			one.ran.Add(p.Span)
			if p.report != nil {
				one.Reports = append(one.Reports, *p.report)
			}
			for _, l := range p.logs {
				one.add(l)
			}
		}
		var f *evidence.File
		var name string
		if one.isReported() {
			one.Reports[0].Found, one.Reports[0].Candidate = FoundNamed, false
			f = one.Reports[0].File
			name = layout.Stem(path.Base(f.Path))
		} else {
			one.Reports = append(one.Reports, loose...)
			f, name = of[0].logs[0].File, of[0].prefix()
		}
		one.at.Folder = path.Dir(f.Path)
		one.Path = path.Join(one.at.Folder, name)
	}
	return true
}

// endOf returns when the last of some logs was written. When their fio began is not known.
func endOf(logs []Log) (last evidence.Span) {
	for _, l := range logs {
		if at := l.File.ModTime; at.After(last.End) {
			last = evidence.Span{Start: at, End: at}
		}
	}
	return last
}
