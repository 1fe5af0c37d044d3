package cbt

import (
	"path"
	"path/filepath"
	"slices"

	"github.com/fio2es/fio2es/pipeline/fiolog"
	"github.com/fio2es/fio2es/pipeline/source"
)

// catalog has the files that are sorted, by where they lie.
type catalog struct {
	files   []*source.File
	order   map[*source.File]int    // also of files that were found twice
	configs map[folder]*source.File // CBT's YAML files by their paths
	samples map[folder]bool         // folders of samples of pbench-fio
	paths   map[string]bool         // of the files, as on disk were all unpacked; made when needed
	roots   map[rootKey]string      // of arguments, see [catalog.rootOf]
}

// folder is a folder under one argument.
type folder struct{ argument, archive, path string }

func folderOf(f *source.File, dir string) folder {
	return folder{argument: argumentOf(f), archive: f.Archive, path: dir}
}

// argumentOf is the argument that a file was found under, because archives may have the same
// name. Files that were named one by one belong together by their folder.
func argumentOf(f *source.File) string {
	if f.Named && f.Root != "-" {
		return filepath.Dir(f.Root)
	}
	return filepath.Clean(f.Root)
}

// note remembers the files and folders that others are sorted by.
func (c *catalog) note(f *source.File) {
	dir, base := path.Split(f.Path)
	switch {
	case roleOf(f.Path) == roleConfig:
		c.configs[folderOf(f, f.Path)] = f
	case base == pbenchReport:
		c.samples[folderOf(f, path.Clean(dir))] = true
	}
	if above := path.Dir(path.Clean(dir)); path.Base(above) == clientsDir && roleOf(f.Path) == roleLog {
		c.samples[folderOf(f, path.Dir(above))] = true
	}
}

// config is one of CBT's YAML files in a folder; nil if there is none, or the folder is outside
// the argument ("").
func (c *catalog) config(at folder, name string) *source.File {
	if at.path == "" {
		return nil
	}
	at.path = path.Join(at.path, name)
	return c.configs[at]
}

// archiveConfig is the archive's configuration for an id- folder.
func (c *catalog) archiveConfig(at folder) *source.File {
	p := locate(at.archive, at.path, nil, nil)
	at.path = p.root
	return c.config(at, archiveConfigName)
}

// dirOf is the folder of a file as it would be on disk were all unpacked, with slashes:
// options of fio name logs by their paths.
func (c *catalog) dirOf(f *source.File) string { return path.Join(c.rootOf(f), path.Dir(f.Path)) }

// rootOf is the folder that a file's path counts from.
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

// absolute is the folder that the paths below an argument count from.
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

// hasProper reports whether a folder has a log whose name is not that of a copy.
func (c *catalog) hasProper(dir string) bool {
	return slices.ContainsFunc(c.files, func(f *source.File) bool {
		name, ok := fiolog.ParseName(path.Base(f.Path))
		return ok && name.Copy == "" && c.dirOf(f) == dir
	})
}

// hasOriginal reports whether the file of which one is a copy, by its name, is there.
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
