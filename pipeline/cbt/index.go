package cbt

import (
	"path"
	"strings"
)

// logIndex finds the runs of logs outside CBT's layout.
type logIndex struct {
	byPrefix map[string]map[string][]*draft // by the logs' prefix and folder
	byDir    map[string][]*draft
	below    map[string][]*draft // by the folder above that of the logs
}

// newLogIndex returns an index of all present runs.
func newLogIndex(d *drafts) logIndex {
	x := logIndex{map[string]map[string][]*draft{}, map[string][]*draft{}, map[string][]*draft{}}
	for _, r := range d.all {
		if r.gone || r.at.layout != ofPeople {
			continue
		}
		for _, l := range r.logs() {
			dir := d.places.dirOf(l.File)
			dirs := x.byPrefix[l.Prefix]
			if dirs == nil {
				dirs = map[string][]*draft{}
				x.byPrefix[l.Prefix] = dirs
			}
			dirs[dir] = addNew(dirs[dir], r)
			here, above := x.byDir[dir], path.Dir(dir)
			if x.byDir[dir] = addNew(here, r); len(x.byDir[dir]) > len(here) {
				x.below[above] = addNew(x.below[above], r)
			}
		}
	}
	return x
}

// isOnly reports whether a run is the only one with logs in a folder.
func (x *logIndex) isOnly(r *draft, dir string) bool {
	return len(x.byDir[dir]) == 1 && x.byDir[dir][0] == r
}

// namedBy returns the runs whose logs are named by a file in the folder dir. surely are those that it names certainly.
// maybe may be incomplete if surely is not empty.
func (x *logIndex) namedBy(of *claims, dir string) (surely, maybe []*draft) {
	how := map[*draft]strength{}
	for value := range of.values() {
		prefix := path.Base(value)
		dirs := x.byPrefix[prefix]
		if here := dirs[dir]; len(here) > 0 && value == prefix {
			for _, r := range here {
				how[r] = strong
			}
			continue // other folders would be named weakly, and there may be thousands
		}
		for at, there := range dirs {
			for _, r := range there {
				how[r] = max(how[r], names(value, dir, at, prefix))
			}
		}
	}
	for r, s := range how {
		switch s {
		case strong:
			surely = append(surely, r)
		case weak:
			maybe = append(maybe, r)
		}
	}
	return surely, maybe
}

// strength says how certain it is that an option names a log.
type strength uint8

const (
	noMatch strength = iota
	weak             // by the last part of its path, from a folder nearby
	strong
)

// names returns how strongly the value of an option, in a file of the folder from, names logs in the folder at. prefix
// is the last part of the value, and the prefix of the logs. Values are relative to the folder in which fio was
// started, which is not recorded, and all files may have been moved together since.
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
