package assign

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/fioargs"
	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/layout"
)

// clue is a report outside of CBT's layout, or a job file. Its content and its place show which logs one execution of
// fio wrote.
type clue struct {
	file   *evidence.File
	dir    string // see [layout.Tree.DirOf]
	name   string // the file's, without what says that it is a report
	host   string // of a report, if the file's name or folder has it
	claims *evidence.Claims
	job    *fioargs.Command // nil for a report, and for a file that is not a job file

	prefix  []*Run // with logs in its folder that have its name
	options []*Run // with logs that its options name
	nearby  []*Run // with logs in a folder nearby whose names end like the paths in its options
}

// runs returns the runs with logs that its name or its options name, each once.
func (p *clue) runs() []*Run { return present(slices.Concat(p.prefix, p.options)) }

// clues are all of an archive, and an index of the logs that they may name.
type clues struct {
	*sorter
	reports, jobs []*clue
	index         index
}

// clues returns the reports and job files as clues, without the less exact reports of an execution.
func (s *sorter) clues(reports, jobs []*evidence.File) *clues {
	c := &clues{sorter: s, index: s.newIndex()}
	for _, f := range s.dropLessExact(reports) {
		p := &clue{file: f, dir: s.DirOf(f), claims: f.Claims()}
		name, host := splitHost(path.Base(f.Path), c.index.byDir[p.dir])
		p.name, p.host = layout.Stem(name), cmp.Or(host, s.PlaceOf(f, false).Host)
		p.prefix = c.index.byName[[2]string{p.dir, p.name}]
		c.reports = append(c.reports, p)
	}
	for _, f := range jobs {
		p := &clue{file: f, dir: s.DirOf(f), name: layout.Stem(path.Base(f.Path))}
		var err error
		if p.job, p.claims, err = f.JobFile(); err != nil && !f.Beside {
			s.leave(f, "is no job file of fio: "+err.Error())
		}
		c.jobs = append(c.jobs, p)
	}
	return c
}

// dropLessExact drops reports in normal or terse output if the folder has a more exact report of the same execution.
func (s *sorter) dropLessExact(reports []*evidence.File) []*evidence.File {
	best := map[[2]string]*evidence.File{}
	key := func(f *evidence.File) [2]string { return [2]string{s.DirOf(f), f.Claims().Numbers} }
	for _, f := range reports {
		if other := best[key(f)]; other == nil || f.Claims().Format < other.Claims().Format {
			best[key(f)] = f
		}
	}
	return without(reports, func(f *evidence.File) bool {
		other := best[key(f)]
		isLess := f.Claims().Numbers != "" && f.Claims().Format > other.Claims().Format && (f.Beside || !other.Beside)
		if isLess && !f.Beside {
			s.leave(f, fmt.Sprintf("fio's %s output of a run whose report is in %s", f.Claims().Format, path.Base(other.Path)))
		}
		return isLess
	})
}

// index finds the runs of logs outside CBT's layout.
type index struct {
	byPrefix map[string]map[string][]*Run // by the logs' prefix and folder
	byName   map[[2]string][]*Run         // by the folder, and the prefix with or without the volume
	byDir    map[string][]*Run
	below    map[string][]*Run // by the folder above that of the logs
}

func (s *sorter) newIndex() index {
	x := index{map[string]map[string][]*Run{}, map[[2]string][]*Run{}, map[string][]*Run{}, map[string][]*Run{}}
	add := func(list []*Run, r *Run) []*Run { // the logs of a run come one after another
		if n := len(list); n > 0 && list[n-1] == r {
			return list
		}
		return append(list, r)
	}
	for _, r := range present(s.runs) {
		if r.at.Program != layout.OfPeople {
			continue
		}
		for _, l := range r.logs() {
			dir := s.DirOf(l.File)
			if x.byPrefix[l.Prefix] == nil {
				x.byPrefix[l.Prefix] = map[string][]*Run{}
			}
			x.byPrefix[l.Prefix][dir] = add(x.byPrefix[l.Prefix][dir], r)
			family, _ := layout.SplitPrefix(l.Prefix)
			for _, name := range []string{l.Prefix, family} {
				x.byName[[2]string{dir, name}] = add(x.byName[[2]string{dir, name}], r)
			}
			x.byDir[dir] = add(x.byDir[dir], r)
			x.below[path.Dir(dir)] = add(x.below[path.Dir(dir)], r)
		}
	}
	return x
}

// namedBy returns the runs whose logs are named by a file in the folder from. surely are those that it names certainly,
// maybe those in a folder nearby whose prefix is the last part of an option's value. maybe may be incomplete if surely
// is not empty. Values are relative to the folder in which fio was started, which is not recorded, and all files may have
// been moved together since.
func (x *index) namedBy(c *evidence.Claims, from string) (surely, maybe []*Run) {
	for value := range c.Values {
		prefix, dir := path.Base(value), path.Dir(value)
		dirs := x.byPrefix[prefix]
		if here := dirs[from]; len(here) > 0 && dir == "." {
			surely = append(surely, here...)
			continue // other folders would be named weakly, and there may be thousands
		}
		for at, there := range dirs {
			isNamed := from == at || path.Join(from, value) == path.Join(at, prefix)
			switch relative := strings.TrimLeft(dir, "./"); {
			case isNamed:
			case path.IsAbs(value):
				isNamed = at == dir || path.Base(at) == path.Base(dir) && isNear(from, at)
			case dir == "." && isNear(from, at):
				maybe = append(maybe, there...)
			case relative != "":
				// fio was started in the folder that this path leads from.
				started, ok := strings.CutSuffix(at, "/"+relative)
				isNamed = ok && isNear(from, started+"/")
			}
			if isNamed {
				surely = append(surely, there...)
			}
		}
	}
	return present(surely), present(maybe)
}

// isNear reports whether two folders are the same, one is in the other, or both are in one.
func isNear(a, b string) bool {
	a, b = path.Clean(a), path.Clean(b)
	return a == b || path.Dir(a) == b || path.Dir(b) == a || path.Dir(a) == path.Dir(b)
}

// describe gives runs their job files. Job files of no run go to the leftovers. In a folder of the run's logs, its job
// file is the one that names the logs, or has their name or a report's, or is the only one. In the folder above, it is
// the file that names the logs.
func (s *clues) describe() {
	byDir := map[string][]*clue{}
	for _, p := range s.jobs {
		byDir[p.dir] = append(byDir[p.dir], p)
	}
	used, reports := map[*clue]bool{}, map[string]int{} // by folder
	for _, p := range s.reports {
		if p.claims.IsReport {
			reports[p.dir]++
		}
	}
	for _, r := range present(s.runs) {
		names := func(p *clue) bool { return p.job != nil && slices.Contains(p.options, r) }
		hasName := func(p *clue) bool {
			isOfName := func(f Report) bool { return layout.Stem(path.Base(f.File.Path)) == p.name }
			return p.job != nil && (r.hasPrefix(p.name) || slices.ContainsFunc(r.Reports, isOfName))
		}
		var found *clue
		switch r.at.Program {
		case layout.OfCBT:
			continue
		case layout.OfSample: // newer versions of pbench-fio keep one for all samples
			base := path.Join(s.RootOf(r.Files()[0]), r.at.Folder)
			files := without(slices.Concat(byDir[base], byDir[path.Dir(base)]), func(p *clue) bool { return p.job == nil })
			if len(files) > 0 {
				found = files[0]
			}
		case layout.OfPeople:
			dirs := s.dirsOf(r)
			if r.isReported() {
				dirs = []string{s.DirOf(r.Reports[0].File)}
			}
			for _, dir := range dirs {
				here, above := byDir[dir], byDir[path.Dir(dir)]
				if i := slices.IndexFunc(here, func(p *clue) bool { return names(p) || hasName(p) }); i >= 0 {
					found = here[i]
				} else if len(here) == 1 && here[0].job != nil && (!r.isReported() && !here[0].claims.NamesLogs && len(s.index.byDir[dir]) == 1 ||
					r.isReported() && len(s.index.byDir[dir]) == 0 && reports[dir] == 1) {
					found = here[0]
				} else if i := slices.IndexFunc(above, names); i >= 0 {
					found = above[i]
				}
				if found != nil {
					break
				}
			}
		}
		if found != nil {
			if r.Job = found.file; !found.job.Includes {
				r.Sections = found.job.Jobs
			}
			used[found] = true
		}
	}
	for _, p := range s.jobs {
		if p.job != nil && !used[p] && !p.file.Beside {
			s.leave(p.file, "is a job file, but no run here belongs to it")
		}
	}
}

// dirsOf returns the folders of a run's logs, see [layout.Tree.DirOf].
func (s *sorter) dirsOf(r *Run) []string {
	var dirs []string
	for _, l := range r.logs() {
		dirs = addNew(dirs, s.DirOf(l.File))
	}
	return dirs
}
