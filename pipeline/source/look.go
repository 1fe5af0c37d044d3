package source

import (
	"bufio"
	"path"
)

const (
	// lookLen is how much of a file Look.Is gets at most. It fits the buffers of
	// streams.
	lookLen = bufLen
	// maxLooks is how many files of one folder may be looked at.
	maxLooks = 1000
)

// lookKey is a folder as it is called inside an archive.
type lookKey struct {
	in  *scope
	dir string
}

// worthLook reports whether a file that is not wanted may be of interest by its content,
// and counts it.
func (s *scanner) worthLook(it item) bool {
	if promisesPacked(it.rel) || !it.in.mayBe(it.rel, s.opt.Look.Name) {
		return false
	}
	key := lookKey{it.in, path.Dir(it.rel)}
	if s.looks == nil {
		s.looks = make(map[lookKey]int)
	}
	if s.looks[key]++; s.looks[key] == 1 {
		const perFolder = 100 // bytes, without its name
		s.names += int64(len(key.dir) + perFolder)
	}
	return s.looks[key] <= maxLooks
}

// isForeign reports whether a content is of no interest that was met only because of
// what it might have been.
func (s *scanner) isForeign(it item, k kind, head func() []byte) bool {
	switch {
	case !it.look && !it.beside:
		return false
	case k == plain:
		return promisesPacked(it.rel) || !s.isOfInterest(it, head())
	}
	return it.look || k.isArchive()
}

// isOfInterest reports whether the content that begins with head is of interest: of a
// file of which the name said nothing, or of one beside an argument.
func (s *scanner) isOfInterest(it item, head []byte) bool {
	if it.beside && it.in.mayBe(it.rel, s.opt.Look.Kin) {
		return true
	}
	return s.opt.Look.Is(head)
}

// peek is the beginning of a stream, without reading it.
func peek(buf *bufio.Reader) []byte {
	head, _ := buf.Peek(lookLen) // of what ends early the beginning may be good
	return head
}

// overlooked are the folders, by their final paths, in which too many files could be
// looked at.
func (s *scanner) overlooked() map[string]bool {
	all := map[string]int{}
	for key, n := range s.looks {
		all[path.Dir(key.in.path(path.Join(key.dir, "x")))] += n
	}
	s.looks = nil
	many := map[string]bool{}
	for dir, n := range all {
		many[dir] = n > maxLooks
	}
	return many
}

// near are the folders in which files are looked at: those of files that Look.Near
// accepts, and the ones above.
func (s *scanner) near() map[string]bool {
	dirs := map[string]bool{}
	for _, f := range s.found {
		if !f.looked && s.opt.Look.Near(f.file.Path) {
			dir := path.Dir(f.file.Path)
			dirs[dir], dirs[path.Dir(dir)] = true, true
		}
	}
	return dirs
}
