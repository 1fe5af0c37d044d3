package source

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"
)

const tarBlock = 512

// tar scans a tar. Its members are read in place, in at, or it can be read only once, and at is nil.
func (s *scanner) tar(it item, r io.Reader, at *io.SectionReader) {
	a, ok := s.enter(it)
	if !ok {
		return
	}
	in := &tarInput{Reader: r}
	tr := tar.NewReader(in)
	for {
		if a.ended() {
			return
		}
		hdr, err := tr.Next()
		if err == io.EOF {
			break
		}
		if err != nil && !errors.Is(err, tar.ErrInsecurePath) { // that is judged below
			a.tear(fmt.Errorf("at byte %d: %w", in.n, err))
			return
		}
		mode, isSparse := fs.ModeIrregular, hdr.Typeflag == tar.TypeGNUSparse // stored without its holes
		switch hdr.Typeflag {
		case tar.TypeXGlobalHeader:
			continue
		case tar.TypeDir:
			mode = fs.ModeDir
		case tar.TypeReg, tar.TypeCont:
			mode = 0
		}
		for key := range hdr.PAXRecords {
			isSparse = isSparse || mode == 0 && strings.HasPrefix(key, "GNU.sparse.")
		}
		member, ok := a.member(hdr.Name, mode, tarModified(hdr))
		switch {
		case !ok:
		case isSparse:
			a.fail(member.name, fmt.Errorf("%w: a sparse member of a tar: unpack the tar and pass the folder", ErrFormat))
		case mode == 0 && at == nil:
			a.stream(member, tr)
		case mode == 0: // tr takes whole headers and no more, so here is the content
			content := io.NewSectionReader(at, in.n, min(hdr.Size, at.Size()-in.n))
			b := body{size: content.Size(), open: func(*reader) (io.Reader, error) {
				return io.NewSectionReader(content, 0, content.Size()), nil
			}}
			if b.size < hdr.Size {
				b.cut = fmt.Errorf("%w after %d of %d bytes: %w", ErrDamaged, b.size, hdr.Size, errEnds)
			}
			a.random(member, content, b)
		case hdr.Typeflag == tar.TypeLink || hdr.Typeflag == tar.TypeSymlink:
			a.fail(member.name, fmt.Errorf("%w: to %s", ErrLink, printable(hdr.Linkname)))
		default:
			a.fail(member.name, fmt.Errorf("%w: tar type %q", ErrSpecial, hdr.Typeflag))
		}
	}
	if in.zeros < tarBlock {
		a.tear(fmt.Errorf("no end mark at byte %d: %w", in.n, errEnds))
		if at != nil {
			return
		}
	}
	// Zeros after the end mark are padding. Anything else is probably another tar. A stream is read to its end, because its
	// checksum is there.
	buf := make([]byte, bufLen)
	for said := false; !a.ended(); {
		n, err := r.Read(buf)
		if !said && len(bytes.Trim(buf[:n], "\x00")) > 0 {
			said = true
			a.tear(fmt.Errorf("%w: data after the end mark is skipped", ErrDamaged))
			if at != nil {
				return
			}
		}
		switch {
		case err == io.EOF:
			return
		case err != nil:
			a.tear(err)
			return
		}
	}
}

// tarInput counts what passes and remembers how many zero bytes came last: the end mark of a tar is zeros.
type tarInput struct {
	io.Reader
	n, zeros int64
}

func (t *tarInput) Read(p []byte) (int, error) {
	n, err := t.Reader.Read(p)
	t.n += int64(n)
	content := int64(len(bytes.TrimRight(p[:n], "\x00")))
	if content > 0 {
		t.zeros = 0
	}
	t.zeros += int64(n) - content
	return n, err
}

// Seek skips the content of members, if the tar can be read in any order. Else they are read.
func (t *tarInput) Seek(offset int64, whence int) (int64, error) {
	at, ok := t.Reader.(io.Seeker)
	if !ok {
		return 0, errors.ErrUnsupported
	}
	n, err := at.Seek(offset, whence)
	if n != t.n {
		t.n, t.zeros = n, 0
	}
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
