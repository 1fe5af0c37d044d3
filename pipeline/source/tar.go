package source

import (
	"archive/tar"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
)

const tarBlock = 512

// tarball is one tar being read, forwards.
type tarball struct {
	archive
	tr      *tar.Reader
	pos     func() int64 // how far tr has read
	content func(it item, size int64)
}

// tarAt scans a tar whose members can be read in place.
func (s *scanner) tarAt(it item, x extent) {
	a, ok := s.enter(it)
	if !ok {
		return
	}
	sr := x.reader()
	pos := func() int64 {
		n, _ := sr.Seek(0, io.SeekCurrent) // cannot fail
		return n
	}
	t := &tarball{archive: a, tr: tar.NewReader(sr), pos: pos}
	t.content = func(it item, size int64) {
		// The tar reader takes whole headers and no more, so here is the content.
		start := pos()
		n := min(size, x.n-start)
		in := within(x.at, x.off+start, n)
		if n < size {
			in.cut = fmt.Errorf("%w after %d of %d bytes: %w", ErrDamaged, n, size, errEnds)
		}
		s.random(it, in)
	}
	if !t.members() {
		return
	}
	var block [tarBlock]byte
	if n := pos(); n >= tarBlock {
		if _, err := sr.ReadAt(block[:], n-tarBlock); err != nil && err != io.EOF {
			t.tear(err)
			return
		}
	}
	t.rest(sr, block == [tarBlock]byte{}, false)
}

// tarStream scans a tar that can be read only once.
func (s *scanner) tarStream(it item, buf *bufio.Reader) {
	a, ok := s.enter(it)
	if !ok {
		return
	}
	count := &tarInput{r: buf}
	t := &tarball{archive: a, tr: tar.NewReader(count), pos: func() int64 { return count.n }}
	t.content = func(it item, _ int64) { s.stream(it, t.tr) }
	if !t.members() {
		return
	}
	t.rest(buf, count.zeros >= tarBlock, true)
}

// members scans all members. It reports whether the tar had a proper end;
// if not, that is noted.
func (t *tarball) members() bool {
	for !t.ended() {
		hdr, err := t.tr.Next()
		switch {
		case err == io.EOF:
			return true
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // that is judged below
			t.tear(fmt.Errorf("at byte %d: %w", t.pos(), err))
			return false
		}
		t.entry(hdr)
	}
	return false
}

func (t *tarball) entry(hdr *tar.Header) {
	mode := fs.ModeIrregular
	switch hdr.Typeflag {
	case tar.TypeXGlobalHeader:
		return
	case tar.TypeDir:
		mode = fs.ModeDir
	case tar.TypeReg, tar.TypeCont:
		mode = 0
	}
	it, ok := t.member(hdr.Name, mode, tarModified(hdr))
	if !ok {
		return
	}
	switch hdr.Typeflag {
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
		if isSparse(hdr) {
			t.fail(it.name, fmt.Errorf("%w: a sparse member of a tar: unpack the tar and pass the folder", ErrFormat))
			return
		}
		t.content(it, hdr.Size)
	case tar.TypeLink, tar.TypeSymlink:
		t.fail(it.name, fmt.Errorf("%w: to %s", ErrLink, printable(hdr.Linkname)))
	default:
		t.fail(it.name, fmt.Errorf("%w: tar type %q", ErrSpecial, hdr.Typeflag))
	}
}

// isSparse reports whether the tar stores the content without its holes.
func isSparse(hdr *tar.Header) bool {
	if hdr.Typeflag == tar.TypeGNUSparse {
		return true
	}
	for key := range hdr.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

// rest reads the bytes after the end mark. Zeros are padding. Anything else is probably another tar, and becomes a
// problem. A stream is read to its end, because its checksum is there.
func (t *tarball) rest(r io.Reader, hasMark, toEnd bool) {
	if !hasMark {
		t.tear(fmt.Errorf("no end mark at byte %d: %w", t.pos(), errEnds))
		if !toEnd {
			return
		}
	}
	buf := make([]byte, bufLen)
	for said := false; !t.ended(); {
		n, err := r.Read(buf)
		if !said && len(bytes.Trim(buf[:n], "\x00")) > 0 {
			said = true
			t.tear(fmt.Errorf("%w: data after the end mark is skipped", ErrDamaged))
			if !toEnd {
				return
			}
		}
		switch {
		case err == io.EOF:
			return
		case err != nil:
			t.tear(err)
			return
		}
	}
}

// tarInput counts what passes and remembers how many zero bytes came last: the end mark of a tar is zeros.
type tarInput struct {
	r        io.Reader
	n, zeros int64
}

func (t *tarInput) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.n += int64(n)
	content := int64(len(bytes.TrimRight(p[:n], "\x00")))
	if content > 0 {
		t.zeros = 0
	}
	t.zeros += int64(n) - content
	return n, err
}

// tarModified returns when a member of a tar was changed. Only pax records have parts of a second. A reproducible tar
// has 1970 as the time of all files, so that is not a time.
func tarModified(hdr *tar.Header) Modified {
	if hdr.ModTime.Unix() <= 0 {
		return Modified{}
	}
	m := Modified{ModTime: hdr.ModTime, ModStep: time.Second}
	if strings.Contains(hdr.PAXRecords["mtime"], ".") {
		m.ModStep = 0
	}
	return m
}
