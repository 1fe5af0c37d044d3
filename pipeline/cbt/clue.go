package cbt

import (
	"maps"
	"path"
	"path/filepath"
	"slices"

	"github.com/fio2es/fio2es/pipeline/source"
)

// clue is a report outside of CBT's layout, or a job file: what it says, and where it
// lies, show which logs are of one execution of fio.
type clue struct {
	file   *source.File
	dir    string // see [sorter.dirOf]
	at     place
	name   string  // the file's, without what says that it is a report
	claims *claims // nil where its name and place say enough

	isJob bool // a job file

	prefix  []*Run // with logs in its folder that have its name
	options []*Run // with logs that its options name
	nearby  []*Run // the same, but from a folder nearby, and by the last part of the path
}

// logIndex finds the runs of logs outside CBT's layout.
type logIndex struct {
	byPrefix map[string]map[string][]*Run // and by the folder of the logs
	byDir    map[string][]*Run
	below    map[string][]*Run // by the folder above that of the logs
	order    map[*Run]int
}

// index makes the index of all runs that are there now.
func (s *sorter) index() {
	s.found = logIndex{
		byPrefix: map[string]map[string][]*Run{}, byDir: map[string][]*Run{}, below: map[string][]*Run{}, order: map[*Run]int{},
	}
	for i, r := range s.all {
		if r.gone || r.at.cbt || r.at.sample {
			continue
		}
		s.found.order[r] = i
		for _, l := range r.logs() {
			dir := s.dirOf(l.File)
			dirs := s.found.byPrefix[l.Prefix]
			if dirs == nil {
				dirs = map[string][]*Run{}
				s.found.byPrefix[l.Prefix] = dirs
			}
			dirs[dir] = addNew(dirs[dir], r)
			here, above := s.found.byDir[dir], path.Dir(dir)
			if s.found.byDir[dir] = addNew(here, r); len(s.found.byDir[dir]) > len(here) {
				s.found.below[above] = addNew(s.found.below[above], r)
			}
		}
	}
}

// dirsOf are the folders of a run's logs.
func (s *sorter) dirsOf(r *Run) []string {
	var dirs []string
	for _, l := range r.logs() {
		dirs = addNew(dirs, s.dirOf(l.File))
	}
	return dirs
}

// isOnly reports whether a run is the only one with logs in a folder.
func (s *sorter) isOnly(r *Run, dir string) bool {
	return len(s.found.byDir[dir]) == 1 && s.found.byDir[dir][0] == r
}

// namedBy are the runs whose logs are named by what a file in the folder dir says. Those
// that are named weakly may be left out where others are named strongly.
func (s *sorter) namedBy(of *claims, dir string) map[*Run]strength {
	runs := map[*Run]strength{}
	for value := range of.values() {
		prefix := path.Base(value)
		dirs := s.found.byPrefix[prefix]
		if here := dirs[dir]; len(here) > 0 && value == prefix {
			for _, r := range here {
				runs[r] = strong
			}
			continue // other folders would be named weakly, and there may be thousands
		}
		for at, there := range dirs {
			if how := names(value, dir, at, prefix); how != noMatch {
				for _, r := range there {
					runs[r] = max(runs[r], how)
				}
			}
		}
	}
	return runs
}

// values are what names logs, each once and clean: the jobs of a report mostly have the same.
func (c *claims) values() map[string]bool {
	all := map[string]bool{}
	for _, j := range c.jobs {
		for _, v := range j.prefixes {
			all[path.Clean(filepath.ToSlash(v))] = true
		}
		if j.isBare {
			all[path.Base(path.Clean(j.name))] = true
		}
	}
	return all
}

// clues looks into reports and job files as far as needed.
func (s *sorter) clues(reports []*source.File) []*clue {
	var all []*clue
	for _, f := range reports {
		p := &clue{file: f, dir: s.dirOf(f), at: s.place(f, false), name: stem(path.Base(f.Path))}
		for _, r := range s.found.byDir[p.dir] {
			if r.hasPrefix(p.name) {
				p.prefix = append(p.prefix, r)
			}
		}
		// Most folders have one run, and a report of its name.
		isPlain := len(p.prefix) == 1 && len(s.found.byDir[p.dir]) == 1 && len(s.found.below[p.dir]) == 0 && roleOf(f.Path) == roleReport
		if !isPlain {
			p.claims = s.readReport(f)
		}
		all = append(all, p)
	}
	for _, f := range s.jobFiles {
		if j := s.jobFile(f); j != nil {
			p := &clue{file: f, dir: s.dirOf(f), at: s.place(f, false), name: stem(path.Base(f.Path)), claims: ofJobFile(j), isJob: true}
			all = append(all, p)
		}
	}
	return all
}

// setNamed finds out again which runs the clues name.
func (s *sorter) setNamed(all []*clue) {
	for _, p := range all {
		p.options, p.nearby = nil, nil
		if p.claims == nil {
			continue
		}
		named := s.namedBy(p.claims, p.dir)
		inOrder := slices.SortedFunc(maps.Keys(named), func(a, b *Run) int { return s.found.order[a] - s.found.order[b] })
		for _, r := range inOrder {
			switch named[r] {
			case strong:
				p.options = append(p.options, r)
			case weak:
				p.nearby = append(p.nearby, r)
			}
		}
		var prefix []*Run
		for _, r := range p.prefix {
			if r = r.now(); !r.gone {
				prefix = addNew(prefix, r)
			}
		}
		p.prefix = prefix
	}
}
