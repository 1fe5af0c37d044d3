package cbt

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// catalog has each file once, by its place.
type catalog struct {
	files   []*source.File
	order   map[*source.File]int    // also of files that were found twice
	configs map[folder]*source.File // CBT's YAML files by their paths
	samples map[folder]bool         // folders of samples of pbench-fio
	paths   map[string]bool         // of the files, as they would be if all archives were unpacked; made when needed
	roots   map[rootKey]string      // of arguments, see [catalog.rootOf]
}

// folder is a folder under one argument.
type folder struct{ argument, archive, path string }

// in returns another folder of the same archive.
func (f folder) in(dir string) folder { return folder{f.argument, f.archive, dir} }

func folderOf(f *source.File, dir string) folder {
	return folder{argument: argumentOf(f), archive: f.Archive, path: dir}
}

// argumentOf returns the argument under which a file was found. It is part of keys, because archives may have the same
// name. Files that were named one by one belong together by their folder.
func argumentOf(f *source.File) string {
	if f.Named && f.Root != "-" {
		return filepath.Dir(f.Root)
	}
	return filepath.Clean(f.Root)
}

// newCatalog makes a catalog. Files that were found twice, because arguments overlap, go to the leftovers.
func newCatalog(files []*source.File, left *leftovers) *catalog {
	c := &catalog{
		order: map[*source.File]int{}, configs: map[folder]*source.File{}, samples: map[folder]bool{}, roots: map[rootKey]string{},
	}
	type place struct {
		folder
		beside bool
	}
	c.files = make([]*source.File, 0, len(files))
	seen := make(map[place]bool, len(files))
	for i, f := range files {
		c.order[f] = i
		at := folderOf(f, f.Path)
		switch key := (place{at, f.Beside}); {
		case !seen[key]:
			seen[key] = true
			c.files = append(c.files, f)
			if roleOf(f.Path) == roleConfig {
				c.configs[at] = f
			}
			if dir := sampleOf(f.Path); dir != "" {
				c.samples[folderOf(f, dir)] = true
			}
		case wanted(f.Path) || f.Named:
			left.add(f, foundTwice)
		}
	}
	return c
}

// config returns one of CBT's YAML files in a folder. It is nil if there is none, or if the folder is outside the
// argument ("").
func (c *catalog) config(at folder, name string) *source.File {
	if at.path == "" {
		return nil
	}
	at.path = path.Join(at.path, name)
	return c.configs[at]
}

// dirOf returns the folder of a file as it would be if all archives were unpacked, with slashes. Options of fio name
// logs by such paths.
func (c *catalog) dirOf(f *source.File) string { return path.Join(c.rootOf(f), path.Dir(f.Path)) }

func (c *catalog) dirsOf(r *draft) []string {
	var dirs []string
	for _, l := range r.logs() {
		dirs = addNew(dirs, c.dirOf(l.File))
	}
	return dirs
}

// rootOf returns the folder to which a file's path is relative.
func (c *catalog) rootOf(f *source.File) string {
	key := rootKey{f.Root, f.Beside}
	root, ok := c.roots[key]
	if !ok {
		root = absolute(f)
		c.roots[key] = root
	}
	return root
}

// rootKey is an argument, or a folder beside one.
type rootKey struct {
	root   string
	beside bool
}

// absolute returns the folder to which the paths below an argument are relative.
func absolute(f *source.File) string {
	if f.Root == "-" {
		return "/stdin"
	}
	abs, err := filepath.Abs(f.Root)
	if err != nil {
		abs = filepath.Clean(f.Root)
	}
	switch {
	case f.Beside:
	case f.Named:
		abs = filepath.Dir(abs)
	default:
		abs = filepath.Join(filepath.Dir(abs), f.Archive)
	}
	return filepath.ToSlash(abs)
}

// hasProper reports whether a folder has a log that is not a copy by its name.
func (c *catalog) hasProper(dir string) bool {
	return slices.ContainsFunc(c.files, func(f *source.File) bool {
		name, ok := fiolog.ParseName(path.Base(f.Path))
		return ok && name.Copy == "" && c.dirOf(f) == dir
	})
}

// hasOriginal reports whether the original of a file exists, if its name says that it is a copy.
func (c *catalog) hasOriginal(f *source.File) bool {
	if c.paths == nil {
		c.paths = make(map[string]bool, len(c.files))
		for _, other := range c.files {
			c.paths[path.Join(c.dirOf(other), path.Base(other.Path))] = true
		}
	}
	base := path.Base(f.Path)
	for original, mark := fiolog.CutCopyMark(base); mark != ""; original, mark = fiolog.CutCopyMark(original) {
		if c.paths[path.Join(c.dirOf(f), original)] {
			return true
		}
	}
	return false
}
