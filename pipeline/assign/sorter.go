package assign

import (
	"cmp"
	"context"
	"path"
	"slices"

	"github.com/fio2es/fio2es/pipeline/evidence"
	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/layout"
)

// sorter sorts files into runs. It has each file once, by its place.
type sorter struct {
	left []Left

	*layout.Tree
	files []*evidence.File
	order map[*evidence.File]int // also of files that were found twice
	paths map[string]bool        // of the files, as they would be if all archives were unpacked; made when needed

	runs   []*Run // in the order of their first files
	byName map[runKey]*Run
	byDir  map[layout.Folder][]*Run // by the folder of their files, less the host
	logs   map[logKey]*evidence.File
}

// newSorter returns a sorter of files. Files that were found twice, because arguments overlap, go to the leftovers.
func newSorter(ctx context.Context, files []*evidence.File) *sorter {
	s := &sorter{
		files: make([]*evidence.File, 0, len(files)), order: map[*evidence.File]int{},
		byName: map[runKey]*Run{}, byDir: map[layout.Folder][]*Run{}, logs: map[logKey]*evidence.File{},
	}
	type key struct {
		layout.Folder
		beside bool
	}
	seen := make(map[key]bool, len(files))
	for i, f := range files {
		s.order[f] = i
		k := key{layout.FolderOf(f, f.Path), f.Beside}
		if seen[k] {
			if layout.Wanted(f.Path) || f.Named {
				s.leave(f, foundTwice)
			}
			continue
		}
		seen[k] = true
		s.files = append(s.files, f)
	}
	s.Tree = layout.NewTree(ctx, s.files)
	return s
}

type runKey struct {
	layout.Folder
	family string
}

type logKey struct {
	run          *Run
	kind         fiolog.Kind
	host, prefix string
	job          int
}

// runOf finds or makes the run of files of one family of names in one place.
func (s *sorter) runOf(f *evidence.File, at *layout.Place, family string) *Run {
	if at.Program == layout.OfSample {
		family = "" // all files there are of one execution
	}
	key := runKey{layout.FolderOf(f, at.Folder), family}
	r := s.byName[key]
	if r == nil {
		r = &Run{
			Archive: f.Archive, Path: at.Folder, Settings: layout.Settings{CBT: at.Known}, at: *at, argument: key.Argument, family: family,
			Config:        s.Config(layout.FolderOf(f, cmp.Or(at.Config, path.Dir(f.Path))), layout.ConfigName),
			ArchiveConfig: s.Config(layout.FolderOf(f, at.Root), layout.ArchiveConfigName),
		}
		// CBT has one family in a folder. Elsewhere others may be added any day.
		if at.Program != layout.OfCBT || family != "output" {
			r.Path = path.Join(r.Path, family)
		}
		s.byName[key] = r
		s.runs = append(s.runs, r)
		s.byDir[key.Folder] = append(s.byDir[key.Folder], r)
	}
	if at.Doubt != "" {
		r.doubt(at.Doubt)
	}
	return r
}

// Left is a file that belongs to no run.
type Left struct {
	File   *evidence.File
	Reason string
	// Notable means that people may expect it to be read: it is a log or a report, or
	// they named it.
	Notable bool
	// More is how many other files have the same kind of reason and are not listed:
	// ten of each kind are.
	More int
}

const foundTwice = "found twice: it was given twice"

// leave adds a file that belongs to no run.
func (s *sorter) leave(f *evidence.File, reason string) {
	s.left = append(s.left, Left{File: f, Reason: reason, Notable: f.Named})
}

// leaveNotable adds a file that people may expect to be read.
func (s *sorter) leaveNotable(f *evidence.File, reason string) {
	s.left = append(s.left, Left{File: f, Reason: reason, Notable: true})
}

// absorb takes over what another run has.
func (r *Run) absorb(other *Run) {
	r.Logs = append(r.Logs, other.Logs...)
	r.Others = append(r.Others, other.Others...)
	r.Reports = append(r.Reports, other.Reports...)
	for _, d := range other.Doubts {
		r.doubt(d)
	}
	other.gone, other.into = true, r
}

// present returns the runs that are neither copies nor empty, and for each that is part of another the other.
func present(runs []*Run) []*Run {
	all, seen := make([]*Run, 0, len(runs)), make(map[*Run]bool, len(runs))
	for _, r := range runs {
		for r.into != nil {
			r = r.into
		}
		if !r.gone && !seen[r] {
			seen[r], all = true, append(all, r)
		}
	}
	return all
}

// inOrder sorts runs by their first files. The configuration does not count, because runs share it.
func (s *sorter) inOrder(runs []*Run) []*Run {
	first := make(map[*Run]int, len(runs))
	for _, r := range runs {
		first[r] = s.first(r)
	}
	slices.SortStableFunc(runs, func(a, b *Run) int { return first[a] - first[b] })
	return runs
}

func (s *sorter) first(r *Run) int {
	at := len(s.order)
	for _, f := range r.written() {
		at = min(at, s.order[f])
	}
	return at
}
