package cbt

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/internal/alike"
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
	// More is how many other files have the same kind of reason and are not listed:
	// ten of each kind are.
	More int
}

// Skipped is the configuration of a benchmark that does not run fio.
type Skipped struct {
	Archive, Path string // of the id- folder
	Benchmark     string // CBT's name for its class
	Reason        string // how it was recognised
	Files         []*source.File
}

// Read sorts files into runs. It reads a log only if another of the same size may be a
// copy of it, or if the user named a file by a name that says nothing. It reads one of CBT's
// YAML files only if names leave a question: where a host's name begins in that of a folder,
// and whether reports without any log are fio's. Outside CBT's layout
// it reads job files, and the first of fio's reports in a file where names and places do not
// show whose it is.
//
// When ctx ends it returns soon, with an incomplete archive: the caller has to look at ctx.
func Read(ctx context.Context, files []*source.File) *Archive {
	s := newSorter(ctx)
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
	s.dropAllJobsLogs()
	s.uniteFamilies()
	reports = s.dropOldReports(reports)
	s.skip(without(reports, func(f *source.File) bool { return roleOf(f.Path) == roleNone }))
	s.attribute(slices.DeleteFunc(reports, s.report))
	s.uniteDepths()
	s.describe()
	s.dropDuplicates()
	return s.finish()
}

// sorter finds the run of each file.
type sorter struct {
	catalog
	contents
	places   map[placeKey]place
	runs     map[runKey]*Run
	folders  map[folder][]*Run // by the folder of their files, less the host
	all      []*Run
	logs     map[logKey]*source.File
	logged   map[folder]bool // id- folders that have logs
	found    logIndex
	jobFiles []*source.File
	skipped  map[folder]*Skipped
	left     []Left
}

// contents are what was read of files, each once and only if it was needed.
type contents struct {
	ctx    context.Context         // ends reading
	facts  map[*source.File]*facts // of CBT's YAML files
	jobs   map[*source.File]readJobFile
	budget *Budget // of reports
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

func newSorter(ctx context.Context) *sorter {
	return &sorter{
		catalog: catalog{
			order: map[*source.File]int{}, configs: map[folder]*source.File{}, samples: map[folder]bool{}, roots: map[rootKey]string{},
		},
		contents: contents{ctx: ctx, facts: map[*source.File]*facts{}, jobs: map[*source.File]readJobFile{}, budget: new(Budget)},
		places:   map[placeKey]place{}, runs: map[runKey]*Run{}, folders: map[folder][]*Run{},
		logs: map[logKey]*source.File{}, logged: map[folder]bool{}, skipped: map[folder]*Skipped{},
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

// once skips what was found twice, because arguments overlap.
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

// leaveOut is leave for files that people may expect to be read.
func (s *sorter) leaveOut(f *source.File, reason string) {
	s.left = append(s.left, Left{File: f, Reason: reason, Notable: true})
}

// finish gives the outcome, with the configurations that no run has.
func (s *sorter) finish() *Archive {
	used := map[*source.File]bool{}
	a := &Archive{Runs: s.present()}
	for _, r := range a.Runs {
		slices.SortStableFunc(r.Logs, compareLogs)
		slices.SortStableFunc(r.Others, compareLogs)
		slices.SortStableFunc(r.Reports, func(a, b Report) int { return cmp.Compare(s.order[a.File], s.order[b.File]) })
		slices.SortStableFunc(r.Reports, compareReports)
		r.setLoose()
		r.Budget = s.budget
		used[r.Config], used[r.ArchiveConfig] = true, true
	}
	s.inOrder(a.Runs)
	numberTwins(a.Runs)
	for at, skipped := range s.skipped {
		a.Skipped = append(a.Skipped, *skipped)
		used[s.config(at, configName)], used[s.archiveConfig(at)] = true, true
	}
	slices.SortFunc(a.Skipped, func(a, b Skipped) int { return cmp.Compare(s.order[a.Files[0]], s.order[b.Files[0]]) })
	for _, f := range s.configs {
		switch {
		case used[f]:
		case path.Base(f.Path) == configName:
			s.leave(f, "neither logs nor reports of fio belong to this configuration")
		default:
			s.leave(f, "the archive of this configuration has no runs")
		}
	}
	a.Left = s.left
	slices.SortStableFunc(a.Left, func(a, b Left) int { return cmp.Compare(s.order[a.File], s.order[b.File]) })
	a.Left = firstTen(a.Left)
	return a
}

// firstTen keeps ten files of each kind of reason; the last of them has the number of the
// others.
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

// numberTwins numbers runs of one path: of logs x_* in a folder, and of those in its folder x.
func numberTwins(runs []*Run) {
	seen := map[folder]int{}
	for _, r := range runs {
		key := folder{r.argument, r.Archive, r.Path}
		if seen[key]++; seen[key] > 1 {
			r.doubt("another run has the same path: this one has a number, which changes if that run is removed")
			r.Path += fmt.Sprintf("#%d", seen[key])
			r.name = ""
		}
	}
}

// present are the runs that are not part of others, nor copies.
func (s *sorter) present() []*Run { return without(s.all, func(r *Run) bool { return r.gone }) }

// without is a copy of a list that lacks what drop reports.
func without[T any](list []T, drop func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(list), drop)
}

// inOrder sorts runs by their first files.
func (s *sorter) inOrder(runs []*Run) {
	slices.SortStableFunc(runs, func(a, b *Run) int { return s.first(a) - s.first(b) })
}

// first is the position of a run's first file. The configuration does not count, because runs
// share it.
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
