package cbt

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/fio2es/fio2es/pipeline/source"
)

// dirOf is the folder of a file as it would be on disk were all unpacked, with slashes:
// options of fio name logs by their paths.
func (s *sorter) dirOf(f *source.File) string { return path.Join(s.rootOf(f), path.Dir(f.Path)) }

// rootOf is the folder that a file's path counts from.
func (s *sorter) rootOf(f *source.File) string {
	key := rootKey{f.Root, f.Beside}
	root, ok := s.roots[key]
	if !ok {
		root = absolute(f)
		s.roots[key] = root
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

// strength is how surely an option names a log.
type strength uint8

const (
	noMatch strength = iota
	weak             // by the last part of its path, from a folder nearby
	strong
)

// names reports whether the value of an option, whose last part is prefix, in a file of the
// folder from names logs of that prefix in the folder at. Values are relative to where fio
// was started, which is not recorded; files may have been moved since, together.
func names(value, from, at, prefix string) strength {
	dir := path.Dir(value)
	switch {
	case from == at, path.Join(from, value) == path.Join(at, prefix):
		return strong
	case path.IsAbs(value):
		if at == dir || path.Base(at) == path.Base(dir) && isNear(from, at) {
			return strong
		}
	case dir == ".":
		if isNear(from, at) {
			return weak
		}
	default:
		// fio was started in the folder that this path leads from.
		dir = strings.TrimLeft(dir, "./")
		if started, ok := strings.CutSuffix(at, "/"+dir); ok && dir != "" && isNear(from, started+"/") {
			return strong
		}
	}
	return noMatch
}

// isNear reports whether two folders are the same, one is in the other, or both are in one.
func isNear(a, b string) bool {
	a, b = path.Clean(a), path.Clean(b)
	return a == b || path.Dir(a) == b || path.Dir(b) == a || path.Dir(a) == path.Dir(b)
}
