package cbt

import (
	"path"
	"strings"
)

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
