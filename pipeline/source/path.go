package source

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// cleanMember turns the name of an archive's member into a slash separated path below the archive; "" is the archive's
// own top folder.
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

// The suffixes of one compressed stream, and of archives.
var (
	compressions = []string{".gz", ".zst", ".xz", ".bz2"}
	archives     = []string{".tar", ".tgz", ".tzst", ".txz", ".tbz", ".tbz2", ".zip"}
)

// suffix returns the suffix of a name if it is one of those that are known, in upper or lower case, or "".
func suffix(name string, known []string) string {
	if ext := path.Ext(name); slices.Contains(known, strings.ToLower(ext)) {
		return ext
	}
	return ""
}

// promisesPacked reports whether the name alone is reason to look inside.
func promisesPacked(name string) bool {
	return suffix(name, compressions) != "" || suffix(name, archives) != ""
}

// trimCompression drops one compression suffix, but never a whole base name.
func trimCompression(name string) string {
	short := strings.TrimSuffix(name, suffix(name, compressions))
	if short == "" || strings.HasSuffix(short, "/") {
		return name
	}
	return short
}

// stem returns the base name of an archive without its suffixes: "a" for "x/a.tar.zst", "a.tgz", "a.zip" and "a".
func stem(name string) string {
	base := trimCompression(path.Base(name))
	if short := strings.TrimSuffix(base, suffix(base, archives)); short != "" {
		return short
	}
	return base
}

// scope is an archive seen as a folder: it knows what paths its members have.
//
// Only the end of an archive shows whether all members share a top folder, but each member is wanted or not as it is
// read. So a scope lists the paths that a member may have, and at the end the one it has. A nil scope is a real folder.
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
	if rel != "" && (!isDir || rel != sc.base) && !strings.HasPrefix(rel, sc.base+"/") {
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
