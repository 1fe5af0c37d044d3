package source

import "path"

const (
	// lookLen is how much of a file Look.Is gets at most. It fits the buffers of
	// streams.
	lookLen = bufLen
	// maxLooks is how many files of one folder may be looked at.
	maxLooks = 1000
)

// interest decides which files are listed.
type interest struct {
	want  func(path string) bool
	named bool // all arguments are
	look  Look
	looks map[lookKey]int // files under an argument that could be looked at, by folder
}

// lookKey is a folder as it is called inside an archive.
type lookKey struct {
	in  *scope
	dir string
}

// wanted reports whether the item is an argument, was found by its content, or may come
// to have a path that is wanted.
func (n *interest) wanted(it item) bool {
	switch it.met {
	case asArgument:
		if n.named && !promisesPacked(it.rel) {
			return true
		}
	case byContent, beside:
		return true
	}
	return it.in.mayBe(it.rel, n.want)
}

// byName reports whether the item is worth a look at its content by what it is called.
func (n *interest) byName(it item) bool { return promisesPacked(it.rel) || n.wanted(it) }

// mayLook reports whether the content of a file that is not wanted may be of interest, and counts the file. isFirst is
// true for the first one in its folder.
func (n *interest) mayLook(it item) (ok, isFirst bool) {
	if promisesPacked(it.rel) || !it.in.mayBe(it.rel, n.look.Name) {
		return false, false
	}
	if n.looks == nil {
		n.looks = map[lookKey]int{}
	}
	key := lookKey{it.in, path.Dir(it.rel)}
	n.looks[key]++
	return n.looks[key] <= maxLooks, n.looks[key] == 1
}

// isForeign reports whether a file has a content of no interest. It is false for files whose names decide.
func (n *interest) isForeign(it item, k kind, head func() []byte) bool {
	switch {
	case it.met != byContent && it.met != beside:
		return false
	case k != plain:
		return it.met == byContent || k.isArchive()
	case promisesPacked(it.rel):
		return true
	}
	return !(it.met == beside && it.in.mayBe(it.rel, n.look.Kin)) && !n.look.Is(head())
}

// settled returns a function that decides which of the files found under an argument are listed. All paths must be
// known.
func (n *interest) settled(list []found) func(found) bool {
	near := map[string]bool{} // folders in which files are looked at
	for _, f := range list {
		if f.met != byContent && n.look.Near(f.file.Path) {
			dir := path.Dir(f.file.Path)
			near[dir], near[path.Dir(dir)] = true, true
		}
	}
	looks := map[string]int{}
	for key, more := range n.looks {
		looks[path.Dir(key.in.path(path.Join(key.dir, "x")))] += more
	}
	n.looks = nil
	return func(f found) bool {
		if dir := path.Dir(f.file.Path); f.met == byContent {
			return looks[dir] <= maxLooks && near[dir] && n.look.Name(f.file.Path)
		}
		return f.in == nil || n.want(f.file.Path)
	}
}
