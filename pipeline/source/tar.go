package source

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

const tarBlock = 512

// tarball is one tar being read, forwards.
type tarball struct {
	s       *scanner
	archive item
	first   item // what every member starts from
	tr      *tar.Reader
	pos     func() int64 // how far tr has read
	content func(ctx context.Context, it item, hdr *tar.Header) error
}

// tarAt scans a tar whose members can be read in place.
func (s *scanner) tarAt(ctx context.Context, it item, x extent) error {
	first, ok, err := s.enter(ctx, it)
	if !ok {
		return err
	}
	sr := x.reader()
	pos := func() int64 {
		n, _ := sr.Seek(0, io.SeekCurrent) // cannot fail
		return n
	}
	t := &tarball{s: s, archive: it, first: first, tr: tar.NewReader(sr), pos: pos}
	t.content = func(ctx context.Context, it item, hdr *tar.Header) error {
		if isSparse(hdr) {
			return t.sparse(ctx, it)
		}
		// The tar reader takes whole headers and no more, so here is the content.
		start := pos()
		n := min(hdr.Size, x.n-start)
		in := within(x.at, x.off+start, n)
		if n < hdr.Size {
			in.cut = fmt.Errorf("%w after %d of %d bytes: %w", ErrDamaged, n, hdr.Size, io.ErrUnexpectedEOF)
		}
		return s.random(ctx, it, in)
	}
	whole, err := t.members(ctx)
	if err != nil || !whole {
		return err
	}
	var block [tarBlock]byte
	if n := pos(); n >= tarBlock {
		if _, err := sr.ReadAt(block[:], n-tarBlock); err != nil && err != io.EOF {
			return s.damaged(ctx, it.name, err)
		}
	}
	if block != [tarBlock]byte{} {
		return s.damaged(ctx, it.name, fmt.Errorf("no end mark at byte %d: %w", pos(), io.ErrUnexpectedEOF))
	}
	return t.rest(ctx, sr, false)
}

// tarStream scans a tar that can be read only once.
func (s *scanner) tarStream(ctx context.Context, it item, buf *bufio.Reader) error {
	first, ok, err := s.enter(ctx, it)
	if !ok {
		return err
	}
	count := &tally{r: buf}
	t := &tarball{s: s, archive: it, first: first, tr: tar.NewReader(count), pos: count.count}
	t.content = func(ctx context.Context, it item, hdr *tar.Header) error {
		if isSparse(hdr) {
			return t.sparse(ctx, it)
		}
		return s.stream(ctx, it, t.tr)
	}
	whole, err := t.members(ctx)
	if err != nil || !whole {
		return err
	}
	if count.zeros < tarBlock {
		err := s.damaged(ctx, it.name, fmt.Errorf("no end mark at byte %d: %w", count.n, io.ErrUnexpectedEOF))
		if err != nil {
			return err
		}
	}
	return t.rest(ctx, buf, true)
}

// members scans all members. It reports whether the tar had a proper end;
// if not, that is noted.
func (t *tarball) members(ctx context.Context) (whole bool, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		hdr, err := t.tr.Next()
		switch {
		case err == io.EOF:
			return true, nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // that is judged below
			return false, t.s.damaged(ctx, t.archive.name, fmt.Errorf("at byte %d: %w", t.pos(), err))
		}
		if err := t.entry(ctx, hdr); err != nil {
			return false, err
		}
	}
}

// entry scans one member.
func (t *tarball) entry(ctx context.Context, hdr *tar.Header) error {
	mode := fs.ModeIrregular
	switch hdr.Typeflag {
	case tar.TypeXGlobalHeader:
		return nil
	case tar.TypeDir:
		mode = fs.ModeDir
	case tar.TypeReg, tar.TypeCont:
		mode = 0
	}
	it, ok, err := t.s.member(ctx, t.archive, t.first, hdr.Name, mode, tarModified(hdr))
	if err != nil || !ok {
		return err
	}
	switch hdr.Typeflag {
	case tar.TypeReg, tar.TypeCont, tar.TypeGNUSparse:
		return t.content(ctx, it, hdr)
	case tar.TypeLink, tar.TypeSymlink:
		return t.s.fail(ctx, it.name, fmt.Errorf("%w: to %s", ErrLink, printable(hdr.Linkname)))
	}
	return t.s.fail(ctx, it.name, fmt.Errorf("%w: tar type %q", ErrSpecial, hdr.Typeflag))
}

// isSparse reports whether the content is stored with its holes left out.
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

// sparse reads a member with holes forwards, wherever it lies: the reader fills
// the holes, and a hole of any size takes no space, so the ratio is watched.
func (t *tarball) sparse(ctx context.Context, it item) error {
	start := t.pos()
	return t.s.stream(ctx, it, t.s.guard(t.tr, func() int64 { return t.pos() - start + tarBlock }))
}

// rest looks at what follows the end mark. Zeros are padding; anything else is
// likely one more tar, which is noted. A stream is read to its end, because its checksum
// is there.
func (t *tarball) rest(ctx context.Context, r io.Reader, toEnd bool) error {
	buf := make([]byte, bufLen)
	for said := false; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		n, err := r.Read(buf)
		if !said && len(bytes.Trim(buf[:n], "\x00")) > 0 {
			said = true
			bad := fmt.Errorf("%w: data after the end mark is skipped", ErrDamaged)
			if err := t.s.fail(ctx, t.archive.name, bad); err != nil || !toEnd {
				return err
			}
		}
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return t.s.damaged(ctx, t.archive.name, err)
		}
	}
}
