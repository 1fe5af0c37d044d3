package source

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// cleanMember turns the name of an archive's member into a slash separated path
// below the archive; "" is the archive's own top folder.
func cleanMember(name string) (string, error) {
	const longest = 4096 // what systems allow for a path
	if name == "" || len(name) > longest || path.IsAbs(name) || strings.ContainsAny(name, "\\\x00") {
		return "", ErrEscapes
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == ".." {
			return "", fmt.Errorf("%w: it climbs", ErrEscapes)
		}
	}
	if clean := path.Clean(name); clean != "." {
		return clean, nil
	}
	return "", nil
}

// compressionSuffix returns the known suffix of one compressed stream, or "".
func compressionSuffix(name string) string { return suffix(name, ".gz", ".zst", ".xz", ".bz2") }

// archiveSuffix returns the known suffix of an archive, or "".
func archiveSuffix(name string) string {
	return suffix(name, ".tar", ".tgz", ".tzst", ".txz", ".tbz", ".tbz2", ".zip")
}

// suffix returns the suffix of a name if it is one of those that are known, in upper or lower case, or "".
func suffix(name string, known ...string) string {
	if ext := path.Ext(name); slices.Contains(known, strings.ToLower(ext)) {
		return ext
	}
	return ""
}

// promisesPacked reports whether the name alone is reason to look inside.
func promisesPacked(name string) bool {
	return compressionSuffix(name) != "" || archiveSuffix(name) != ""
}

// trimCompression drops one compression suffix, but never a whole base name.
func trimCompression(name string) string {
	short := strings.TrimSuffix(name, compressionSuffix(name))
	if short == "" || strings.HasSuffix(short, "/") {
		return name
	}
	return short
}

// stem returns the base name of an archive without its suffixes: "a" for "x/a.tar.zst", "a.tgz", "a.zip" and "a".
func stem(name string) string {
	base := trimCompression(path.Base(name))
	if short := strings.TrimSuffix(base, archiveSuffix(base)); short != "" {
		return short
	}
	return base
}

// scope is an archive seen as a folder: it knows what paths its members have.
//
// Only the end of an archive shows whether all members share a top folder, but each
// member is wanted or not as it is read. So a scope lists the paths that a member may
// have, and at the end the one it has. A nil scope is a real folder.
type scope struct {
	parent *scope
	prefix string // the folder, in the parent's terms, that stands for the archive
	base   string // the top folder that is dropped if all members share it
	split  bool   // a member lies outside base
	torn   bool   // it is damaged, and members may be missing
}

// isTorn reports whether members of the archive, or of one around it, may be missing.
func (sc *scope) isTorn() bool { return sc != nil && (sc.torn || sc.parent.isTorn()) }

// see records a member's name.
func (sc *scope) see(rel string, isDir bool) {
	if sc == nil || rel == "" || (isDir && rel == sc.base) {
		return
	}
	if !strings.HasPrefix(rel, sc.base+"/") {
		sc.split = true
	}
}

// path returns the final path of a member. It is correct only after all members were seen.
func (sc *scope) path(rel string) string {
	if sc == nil {
		return rel
	}
	if !sc.split {
		rel = strings.TrimPrefix(rel, sc.base+"/")
	}
	return sc.parent.path(path.Join(sc.prefix, rel))
}

// mayBe reports whether ok accepts one of the paths that a member may have.
func (sc *scope) mayBe(rel string, ok func(string) bool) bool {
	if sc == nil {
		return ok(rel)
	}
	if sc.parent.mayBe(path.Join(sc.prefix, rel), ok) {
		return true
	}
	short, found := strings.CutPrefix(rel, sc.base+"/")
	return found && !sc.split && sc.parent.mayBe(path.Join(sc.prefix, short), ok)
}

// found is a file whose path is not settled yet.
type found struct {
	file   *File
	in     *scope
	rel    string
	layers int
	met    met
}

// settle gives the files of one argument their final paths, drops those that are no
// longer wanted or are found twice, and adds the rest to the set in order.
func (s *scanner) settle() {
	list := s.found
	s.found = nil
	for _, f := range list {
		f.file.Path, f.file.torn = f.in.path(f.rel), f.in.isTorn()
	}
	isWanted := s.settled(list)
	last := make(map[string]found, len(list)) // what is used, by path
	doubles := doubles{seen: map[[2]*scope]*double{}}
	for _, f := range list {
		if !isWanted(f) {
			continue
		}
		have, twice := last[f.file.Path]
		if twice && f.layers > have.layers { // the less packed one is the more trustworthy
			doubles.add(f, have)
			continue
		}
		if twice { // as unpacking would have overwritten it
			doubles.add(have, f)
		}
		last[f.file.Path] = f
	}
	begin := len(s.set.Files)
	for _, f := range last {
		s.set.Files = append(s.set.Files, f.file)
	}
	slices.SortFunc(s.set.Files[begin:], func(a, b *File) int { return naturalCompare(a.Path, b.Path) })
	for _, d := range doubles.list {
		s.fail(d.lost.name, d.reason())
	}
}

// doubles groups files found twice by where, so that a folder beside its own
// archive is one problem and not a hundred thousand.
type doubles struct {
	list []*double
	seen map[[2]*scope]*double
}

type double struct {
	lost, used *File
	more       int
}

func (d *doubles) add(lost, used found) {
	where := [2]*scope{lost.in, used.in}
	if known := d.seen[where]; known != nil && lost.in != used.in {
		known.more++
		return
	}
	one := &double{lost: lost.file, used: used.file}
	d.seen[where] = one
	d.list = append(d.list, one)
}

func (d *double) reason() error {
	instead := d.used.Name() + " instead"
	switch {
	case d.more > 0:
		instead += fmt.Sprintf(", and so for %d more", d.more)
	case d.used.name == d.lost.name:
		instead = "the last one"
	}
	return fmt.Errorf("%w: used %s", ErrDuplicate, instead)
}

// naturalCompare orders paths as people do: runs of digits by their value, and a
// folder's content before a longer name.
func naturalCompare(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		if isDigit(x[0]) && isDigit(y[0]) {
			var m, n string
			m, x = cutNumber(x)
			n, y = cutNumber(y)
			if c := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); c != 0 {
				return c
			}
			continue
		}
		if x[0] != y[0] {
			return cmp.Compare(rank(x[0]), rank(y[0]))
		}
		x, y = x[1:], y[1:]
	}
	// Equal but for leading zeros: any fixed order will do.
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}

// rank puts the slash before all other bytes.
func rank(c byte) int {
	if c == '/' {
		return -1
	}
	return int(c)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// cutNumber splits off the leading digits, without leading zeros.
func cutNumber(s string) (number, rest string) {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return strings.TrimLeft(s[:n], "0"), s[n:]
}
