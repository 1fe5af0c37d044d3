package source

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
)

// random looks at bytes that can be read in any order. They stay where they are if that is
// possible.
func (s *scanner) random(it item, x extent) {
	wanted := int64(sniffLen)
	if it.met == byContent || it.met == beside {
		wanted = lookLen
	}
	head := make([]byte, min(wanted, x.n))
	n, err := x.at.ReadAt(head, x.off)
	head = head[:n]
	k := detect(head)
	if s.isForeign(it, k, func() []byte { return head }) {
		return
	}
	if err != nil && err != io.EOF {
		s.fail(it.name, err)
		return
	}
	if x.cut != nil {
		s.fail(it.name, x.cut)
	}
	if f, ok := x.at.(*os.File); ok && k.isArchive() {
		s.set.archives = append(s.set.archives, f)
	}
	switch k {
	case tarred:
		s.tarAt(it, x)
	case zipped:
		s.zip(it, x)
	case plain:
		s.mislabelled(it, head)
		s.keep(it, x.n, x.body)
	default:
		it.again = x.body
		s.unpack(it, k, s.input(x.reader()))
	}
}

// stream looks at bytes that can be read only once.
func (s *scanner) stream(it item, r io.Reader) {
	buf := takeBuffer(r)
	defer giveBuffer(buf)
	head, err := buf.Peek(sniffLen)
	k := detect(head)
	if it.packed && k == plain && it.met == byName && !s.wanted(it) && s.mayLook(it) {
		it.met = byContent // its whole name is only known now: run_stats.log.gz
	}
	if s.isForeign(it, k, func() []byte { return peek(buf) }) {
		return
	}
	switch k {
	case tarred:
		s.tarStream(it, buf)
	case zipped:
		s.zipStream(it, buf)
	case plain:
		s.plainStream(it, buf, head, err)
	default:
		s.unpack(it, k, buf)
	}
}

// peek is the beginning of a stream, without reading it.
func peek(buf *bufio.Reader) []byte {
	head, _ := buf.Peek(lookLen) // of what ends early the beginning may be good
	return head
}

// unpack looks at what is inside a compressed stream.
func (s *scanner) unpack(it item, k kind, r io.Reader) {
	if it.packed { // a stream compressed twice
		if it.depth++; it.depth > s.depth {
			s.tooDeep(it)
			return
		}
	}
	switch {
	case it.again.open == nil:
	case k == gzipped:
		it.again = body{open: s.set.decompressed(k, it.again.open), cut: it.again.cut}
	default: // the decoder takes megabytes, and all logs of a run are read at once
		it.again = s.set.unpackedOnce(k, it.again)
	}
	it.packed = true
	it.layers++
	it.rel = trimCompression(it.rel)
	s.decoded(it, k, r)
}

// decoded looks at what a stream of kind k has.
func (s *scanner) decoded(it item, k kind, r io.Reader) {
	from := &counted{Reader: r}
	d, err := decode(k, from)
	if err != nil {
		s.damaged(it.name, err)
		return
	}
	defer d.Close()
	s.stream(it, (&meter{budget: s.set.budget}).reader(d, from))
}

func (s *scanner) tooDeep(it item) {
	s.fail(it.name, fmt.Errorf("%w: more than %d", ErrDepth, s.depth))
}

// plainStream keeps a content that is no archive, if wanted. The error is what
// the first look at it met.
func (s *scanner) plainStream(it item, buf *bufio.Reader, head []byte, err error) {
	isWanted, again := s.wanted(it), it.again.open != nil
	switch {
	case isWanted && it.packed && !bytes.ContainsFunc(head, func(c rune) bool { return c != 0 }) && len(head) > 0:
		s.fail(it.name, fmt.Errorf("%w: it begins with zeros, so it is no text", ErrFormat))
		return
	case err == nil || err == io.EOF:
		s.mislabelled(it, head)
	case again || !isWanted: // the spool notes the same of a wanted file in a stream
		s.damaged(it.name, err)
	}
	if !isWanted || again {
		s.keep(it, -1, it.again)
		return
	}
	k := &kept{}
	cut, err := s.set.spool.add(k, buf)
	if err != nil {
		s.fail(it.name, err)
		return
	}
	if cut != nil {
		cut = fmt.Errorf("after %d bytes: %w", k.Size(), damage(cut))
		s.fail(it.name, cut)
	}
	s.keep(it, k.Size(), body{k.open, k, cut})
}

// mislabelled notes content that is not packed though its name says so: it is likely lost.
// A block of zeros is an empty tar.
func (s *scanner) mislabelled(it item, head []byte) {
	if promisesPacked(it.rel) && (len(head) < sniffLen || [sniffLen]byte(head) != [sniffLen]byte{}) {
		s.fail(it.name, fmt.Errorf("%w: neither an archive nor compressed, though its name says so", ErrFormat))
	}
}

// keep adds a file to the list if it is wanted.
func (s *scanner) keep(it item, size int64, b body) {
	if s.ended() || !s.wanted(it) {
		return
	}
	f := &File{
		Root: it.root, Archive: it.archive, Size: size, Modified: it.mod, Err: b.cut,
		Named: it.met == asArgument, Beside: it.met == beside,
		stored: stored{name: it.name, disk: it.onDisk, open: b.open, kept: b.kept, packed: it.layers > 0, set: s.set},
	}
	s.found = append(s.found, found{file: f, in: it.in, rel: it.rel, layers: it.layers, met: it.met})
	s.file()
	s.hold(priceOfFile, it.name)
}

// archive is an archive that is read.
type archive struct {
	*scanner
	item
	first item // what the item of each member starts from
}

// enter begins to read an archive. It reports false if it is nested too deep.
func (s *scanner) enter(it item) (archive, bool) {
	if it.depth >= s.depth {
		s.tooDeep(it)
		return archive{}, false
	}
	base := stem(it.rel)
	first := item{
		origin: it.origin, depth: it.depth + 1, layers: it.layers + 1,
		in: &scope{parent: it.in, prefix: path.Join(path.Dir(it.rel), base), base: base},
	}
	if it.met == asArgument {
		first.archive = base
		first.in.prefix = ""
	}
	return archive{s, it, first}, true
}

// tear notes that the archive is damaged, so that members of it may be missing.
func (a *archive) tear(err error) {
	a.first.in.torn = true
	a.damaged(a.name, err)
}

// member is the item of a member, and whether it is worth a look at its content.
func (a *archive) member(name string, mode fs.FileMode, mod Modified) (it item, ok bool) {
	sep := "/"
	if a.item.depth == 0 {
		sep = "!" // what follows is not on disk
	}
	rel, err := cleanMember(name)
	if err != nil {
		a.fail(a.name+sep+name, err)
		return item{}, false
	}
	a.first.in.see(rel, mode.IsDir())
	it = a.first
	it.rel, it.name, it.mod = rel, a.name+sep+rel, mod
	switch {
	case mode.IsDir() || rel == "":
		return it, false
	case a.byName(it):
		return it, true
	}
	it.met = byContent
	return it, mode.IsRegular() && a.mayLook(it)
}

// mayLook reports whether the content of a file that is not wanted by its name is worth a look. It counts the memory of
// the names of folders with such files.
func (s *scanner) mayLook(it item) bool {
	const perFolder = 1200 // bytes, without its name
	ok, isFirst := s.interest.mayLook(it)
	if isFirst {
		s.hold(perFolder, path.Dir(it.rel))
	}
	return ok
}
