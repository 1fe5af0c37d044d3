package cbt

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

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
}

// Skipped is the configuration of a benchmark that does not run fio.
type Skipped struct {
	Archive, Path string // of the id- folder
	Benchmark     string // CBT's name for its class
	Reason        string // how it was recognised
	Files         []*source.File
}

// Read sorts files into runs. It opens no logs; of CBT's YAML files it reads those of
// configurations whose names leave a question: where a host's name begins in that of a
// folder, and whether reports without any log are fio's. Outside CBT's layout it looks
// whether what has no log beside it begins as fio's reports do.
func Read(files []*source.File) *Archive {
	s := newSorter()
	var reports []*source.File
	once := s.once(files)
	for _, f := range once {
		if roleOf(f.Path) == roleConfig {
			s.config(f)
		}
	}
	for _, f := range once {
		switch roleOf(f.Path) {
		case roleLog:
			name, _ := fiolog.ParseName(path.Base(f.Path))
			s.log(f, name)
		case roleReport, roleLoose:
			reports = append(reports, f)
		}
	}
	s.dropWholeLogs()
	s.uniteFamilies()
	s.skip(reports)
	for _, f := range reports {
		s.report(f)
	}
	s.uniteDepths()
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
	base := filepath.Base(f.Root)
	if path.Dir(f.Path) == "." && (base == f.Path || strings.HasPrefix(base, f.Path+".")) {
		return filepath.Dir(f.Root)
	}
	return filepath.Clean(f.Root)
}

// sorter finds the run of each file.
type sorter struct {
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
	gone    map[*Run]bool // now part of others
	left    []Left
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
	host, volume string
	job          int
}

func newSorter() *sorter {
	return &sorter{
		order: map[*source.File]int{}, places: map[placeKey]place{}, configs: map[folder]*source.File{},
		wholes: map[folder]*source.File{}, told: map[*source.File]*told{}, runs: map[runKey]*Run{},
		folders: map[folder][]*Run{}, logs: map[logKey]*source.File{}, logged: map[folder]bool{}, skipped: map[folder]*Skipped{},
		gone: map[*Run]bool{},
	}
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
	seen := make(map[folder]bool, len(files))
	once := make([]*source.File, 0, len(files))
	for i, f := range files {
		s.order[f] = i
		switch key := folderOf(f, f.Path); {
		case !seen[key]:
			seen[key] = true
			once = append(once, f)
		case roleOf(f.Path) != roleNone && roleOf(f.Path) != roleLoose:
			s.leave(f, "found twice: it was given twice")
		}
	}
	return once
}

func (s *sorter) leave(f *source.File, reason string) {
	s.left = append(s.left, Left{File: f, Reason: reason})
}

// finish gives the outcome, and what configuration no run has.
func (s *sorter) finish() *Archive {
	used := map[*source.File]bool{}
	a := &Archive{Runs: slices.DeleteFunc(s.all, func(r *Run) bool { return s.gone[r] })}
	for _, r := range a.Runs {
		slices.SortStableFunc(r.Logs, compareLogs)
		slices.SortStableFunc(r.Others, compareLogs)
		slices.SortStableFunc(r.Reports, func(a, b Report) int { return cmp.Compare(s.order[a.File], s.order[b.File]) })
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
	return a
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
	for _, logs := range [][]Log{r.Logs, r.Others} {
		for i := range logs {
			first = min(first, s.order[logs[i].File])
		}
	}
	for i := range r.Reports {
		first = min(first, s.order[r.Reports[i].File])
	}
	return first
}

// wholeOf is the archive's configuration for an id- folder.
func (s *sorter) wholeOf(at folder) *source.File {
	p := locate(at.archive, at.path, keepWhole)
	if p.root == "" {
		return nil
	}
	at.path = p.root
	return s.wholes[at]
}

// keepWhole is for where no host matters.
func keepWhole(_ *place, top string) (name, host string) { return top, "" }
