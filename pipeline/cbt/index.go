package cbt

import (
	"path"
	"strings"
)

// logIndex finds the runs of logs outside CBT's layout.
type logIndex struct {
	byPrefix map[string]map[string][]*draft // and by the folder of the logs
	byDir    map[string][]*draft
	below    map[string][]*draft // by the folder above that of the logs
}

// newLogIndex is the index of all runs that are there now.
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

// namedBy are the runs whose logs are named by what a file in the folder dir says, surely or
// maybe. The latter may be left out where others are named surely.
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
