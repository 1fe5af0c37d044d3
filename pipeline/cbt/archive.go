package cbt

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/fio2es/fio2es/internal/alike"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// Archive is what was found under one or more paths.
type Archive struct {
	Runs    []*Run    // in the order of their first files
	Left    []Left    // what looks like fio's or CBT's but belongs to no run
	Skipped []Skipped // benchmarks that are not fio's
}

// Left is a file that belongs to no run.
type Left struct {
	File   *source.File
	Reason string
	// Notable means that people may expect it to be read: it is a log or a report, or
	// they named it.
	Notable bool
	// More is how many other files are left for the same kind of reason and not listed:
	// of each kind ten are.
	More int
}

// Skipped is the configuration of a benchmark that does not run fio.
type Skipped struct {
	Archive, Path string // of the id- folder
	Benchmark     string // CBT's name for its class
	Reason        string // how it was recognised
	Files         []*source.File
}

// Read sorts files into runs. It reads a log only where another of the same size may be a
// copy of it, or where the user named a file by a name that says nothing; of CBT's YAML
// files those of configurations whose names leave a question: where a host's name begins
// in that of a folder, and whether reports without any log are fio's. Outside CBT's layout
// it reads job files, and of fio's reports the first where names and places do not tell
// whose they are.
//
// When ctx ends it returns soon, with an archive that lacks what it has not come to: the
// caller has to look at ctx.
func Read(ctx context.Context, files []*source.File) *Archive {
	s := newSorter()
	s.ctx = ctx
	once := s.once(files)
	s.files = once
	for _, f := range once {
		s.note(f)
	}
	var reports []*source.File
	for _, f := range once {
		switch s.roleOf(f) {
		case roleLog:
			s.logOrCopy(f)
		case roleJob:
			s.jobFiles = append(s.jobFiles, f)
		case roleReport, roleLoose:
			reports = append(reports, f)
		}
	}
	s.dropWholeLogs()
	s.uniteFamilies()
	reports = s.dropOldReports(reports)
	s.skip(slices.DeleteFunc(slices.Clone(reports), func(f *source.File) bool { return roleOf(f.Path) == roleNone }))
	s.attribute(slices.DeleteFunc(reports, s.report))
	s.uniteDepths()
	s.describe()
	s.dropDuplicates()
	return s.finish()
}

// folder is a folder under one argument.
type folder struct{ argument, archive, path string }

func folderOf(f *source.File, dir string) folder {
	return folder{argument: argumentOf(f), archive: f.Archive, path: dir}
}

// argumentOf is what tells archives of the same name apart: the argument that a file was
// found under. Files that were named one by one belong together by their folder.
func argumentOf(f *source.File) string {
	if f.Named && f.Root != "-" {
		return filepath.Dir(f.Root)
	}
	return filepath.Clean(f.Root)
}

// sorter finds the run of each file.
type sorter struct {
	ctx     context.Context // ends reading of files
	order   map[*source.File]int
	places  map[placeKey]place
	configs map[folder]*source.File // benchmark_config.yaml by its folder
	wholes  map[folder]*source.File // cbt_config.yaml by its folder
	told    map[*source.File]*told  // what these say, as far as it was needed
	runs    map[runKey]*Run
	folders map[folder][]*Run // by the folder of their files, less the host
	logs    map[logKey]*source.File
	logged  map[folder]bool // id- folders that have logs
	skipped map[folder]*Skipped
	all     []*Run
	gone    map[*Run]bool // now part of others, or without files
	into    map[*Run]*Run // of which others
	left    []Left

	roots    map[rootKey]string // of arguments, see [sorter.rootOf]
	files    []*source.File
	paths    map[string]bool // of these, on disk were all unpacked; made when needed
	samples  map[folder]bool // folders of samples of pbench-fio
	jobFiles []*source.File
	jobs     map[*source.File]readJobFile
	found    logIndex
	budget   *Budget
}

type placeKey struct {
	folder
	named bool // the file has a host in its own name
}

type runKey struct {
	folder
	family string
}

type logKey struct {
	run          *Run
	kind         fiolog.Kind
	host, prefix string
	job          int
}

func keyOf(r *Run, l *Log) logKey { return logKey{r, l.Kind, l.Host, l.Prefix, l.Job} }

func newSorter() *sorter {
	return &sorter{
		order: map[*source.File]int{}, places: map[placeKey]place{}, configs: map[folder]*source.File{},
		wholes: map[folder]*source.File{}, told: map[*source.File]*told{}, runs: map[runKey]*Run{},
		folders: map[folder][]*Run{}, logs: map[logKey]*source.File{}, logged: map[folder]bool{}, skipped: map[folder]*Skipped{},
		gone: map[*Run]bool{}, into: map[*Run]*Run{}, roots: map[rootKey]string{}, samples: map[folder]bool{},
		jobs:   map[*source.File]readJobFile{},
		budget: new(Budget),
	}
}

// note takes note of what others are sorted by.
func (s *sorter) note(f *source.File) {
	dir, base := path.Split(f.Path)
	switch {
	case base == configName || base == wholeName:
		if roleOf(f.Path) == roleConfig {
			s.config(f)
		}
	case base == pbenchReport:
		s.samples[folderOf(f, path.Clean(dir))] = true
	}
	if above := path.Dir(path.Clean(dir)); path.Base(above) == clientsDir && roleOf(f.Path) == roleLog {
		s.samples[folderOf(f, path.Dir(above))] = true
	}
}

// roleOf is what a file may be. One that the user named is known by its content, where its
// name does not say that it is a log; and nothing beside it is a log.
func (s *sorter) roleOf(f *source.File) role {
	r := roleOf(f.Path)
	switch {
	case r == roleConfig || f.Named && r == roleLog:
	case f.Named:
		return s.named(f, r)
	case r == roleNone && mayBeReport(f.Path):
		return roleLoose
	}
	return r
}

// config takes note of one of CBT's YAML files.
func (s *sorter) config(f *source.File) {
	in := s.configs
	if path.Base(f.Path) == wholeName {
		in = s.wholes
	}
	in[folderOf(f, path.Dir(f.Path))] = f
}

// once leaves out what was found twice, because arguments overlap.
func (s *sorter) once(files []*source.File) []*source.File {
	type place struct {
		folder
		beside bool
	}
	seen := make(map[place]bool, len(files))
	once := make([]*source.File, 0, len(files))
	for i, f := range files {
		s.order[f] = i
		switch key := (place{folderOf(f, f.Path), f.Beside}); {
		case !seen[key]:
			seen[key] = true
			once = append(once, f)
		case Wanted(f.Path) || f.Named:
			s.leave(f, "found twice: it was given twice")
		}
	}
	return once
}

func (s *sorter) leave(f *source.File, reason string) {
	s.left = append(s.left, Left{File: f, Reason: reason, Notable: f.Named})
}

// leaveOut is leave for what people may expect to be read.
func (s *sorter) leaveOut(f *source.File, reason string) {
	s.left = append(s.left, Left{File: f, Reason: reason, Notable: true})
}

// finish gives the outcome, and what configuration no run has.
func (s *sorter) finish() *Archive {
	used := map[*source.File]bool{}
	a := &Archive{Runs: slices.DeleteFunc(s.all, func(r *Run) bool { return s.gone[r] })}
	for _, r := range a.Runs {
		slices.SortStableFunc(r.Logs, compareLogs)
		slices.SortStableFunc(r.Others, compareLogs)
		slices.SortStableFunc(r.Reports, func(a, b Report) int { return cmp.Compare(s.order[a.File], s.order[b.File]) })
		slices.SortStableFunc(r.Reports, compareReports)
		r.setLoose()
		r.Budget = s.budget
		used[r.Config], used[r.Whole] = true, true
	}
	slices.SortStableFunc(a.Runs, func(a, b *Run) int { return cmp.Compare(s.first(a), s.first(b)) })
	tellApart(a.Runs)
	for at, skipped := range s.skipped {
		a.Skipped = append(a.Skipped, *skipped)
		used[s.configs[at]] = true
		used[s.wholeOf(at)] = true
	}
	slices.SortFunc(a.Skipped, func(a, b Skipped) int { return cmp.Compare(s.order[a.Files[0]], s.order[b.Files[0]]) })
	for _, f := range s.configs {
		if !used[f] {
			s.leave(f, "neither logs nor reports of fio belong to this configuration")
		}
	}
	for _, f := range s.wholes {
		if !used[f] {
			s.leave(f, "the archive of this configuration has no runs")
		}
	}
	a.Left = s.left
	slices.SortStableFunc(a.Left, func(a, b Left) int { return cmp.Compare(s.order[a.File], s.order[b.File]) })
	a.Left = firstTen(a.Left)
	return a
}

// firstTen leaves ten of what is left for one kind of reason; the last of them has the number
// of the others.
func firstTen(all []Left) []Left {
	var kinds alike.Counter
	last := map[string]int{}
	first := all[:0]
	for _, l := range all {
		kind := alike.Kind(l.Reason) + strconv.FormatBool(l.Notable)
		if kinds.Add(kind) {
			last[kind] = len(first)
			first = append(first, l)
		}
	}
	kinds.More(func(kind string, n int) {
		if at, ok := last[kind]; ok {
			first[at].More = n
		}
	})
	return first
}

// tellApart numbers runs of one path: of logs x_* in a folder, and of those in its folder x.
func tellApart(runs []*Run) {
	seen := map[folder]int{}
	for _, r := range runs {
		key := folder{r.argument, r.Archive, r.Path}
		if seen[key]++; seen[key] > 1 {
			r.doubt("another run has the same path: told apart by a number, which changes when that run goes")
			r.Path += fmt.Sprintf("#%d", seen[key])
			r.name = ""
		}
	}
}

// first is the position of a run's first file, but for the configuration, which runs share.
func (s *sorter) first(r *Run) int {
	first := len(s.order)
	for _, l := range r.logs() {
		first = min(first, s.order[l.File])
	}
	for _, f := range r.Reports {
		first = min(first, s.order[f.File])
	}
	return first
}

// wholeOf is the archive's configuration for an id- folder.
func (s *sorter) wholeOf(at folder) *source.File {
	p := locate(at.archive, at.path, keepWhole, nil)
	if p.root == "" {
		return nil
	}
	at.path = p.root
	return s.wholes[at]
}

// keepWhole is for where no host matters.
func keepWhole(_ *place, top string) (name, host string) { return top, "" }
