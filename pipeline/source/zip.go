package source

import (
	"archive/zip"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"
)

// zipStream spools a zip unchanged, because its directory comes last.
func (s *scanner) zipStream(ctx context.Context, it item, buf *bufio.Reader) error {
	kept, size, cut, err := s.set.spool.add(buf, raw)
	if err != nil {
		return s.fail(ctx, it.name, err)
	}
	if cut != nil {
		if err := s.damaged(ctx, it.name, cut); err != nil {
			return err
		}
	}
	return s.zip(ctx, it, within(kept, 0, size))
}

// zip scans a zip.
func (s *scanner) zip(ctx context.Context, it item, x extent) error {
	first, ok, err := s.enter(ctx, it)
	if !ok {
		return err
	}
	zr, err := zip.NewReader(x.reader(), x.n)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // that is judged below
		if err := s.damaged(ctx, it.name, err); err != nil {
			return err
		}
		return s.recoverZip(ctx, it, first, x)
	}
	zr.RegisterDecompressor(zip.Deflate, inflate)
	zr.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor())
	for _, f := range zr.File {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.zipEntry(ctx, it, first, f, x); err != nil {
			return err
		}
	}
	return nil
}

// inflate decodes a deflated member.
func inflate(r io.Reader) io.ReadCloser {
	d, err := decode(deflated, r)
	if err != nil {
		return io.NopCloser(errReader{err})
	}
	return d
}

// zipEntry scans one member.
func (s *scanner) zipEntry(ctx context.Context, archive, first item, f *zip.File, whole extent) error {
	const encrypted = 1
	mode := f.Mode()
	it, ok, err := s.member(ctx, archive, first, f.Name, mode, zipModified(f.Extra, f.Modified))
	switch {
	case err != nil || !ok:
		return err
	case !mode.IsRegular():
		return s.fail(ctx, it.name, irregular(mode))
	case f.Flags&encrypted != 0 && it.look:
		return nil
	case f.Flags&encrypted != 0:
		return s.fail(ctx, it.name, fmt.Errorf("%w: encrypted", ErrFormat))
	}
	return s.zipContent(ctx, it, f, whole)
}

// zipContent looks at a member's content. A plain one is read in place later, and
// so is one that is stored as it is and packed itself.
func (s *scanner) zipContent(ctx context.Context, it item, f *zip.File, whole extent) error {
	rc, err := f.Open()
	if err != nil {
		if errors.Is(err, zip.ErrAlgorithm) {
			err = fmt.Errorf("%w: zip method %d", ErrFormat, f.Method)
		}
		return s.fail(ctx, it.name, err)
	}
	defer rc.Close()
	packed := packedSize(f)
	buf := takeBuffer(s.guard(&input{ctx: ctx, r: rc, s: s}, packed))
	defer giveBuffer(buf)
	head, err := buf.Peek(sniffLen)
	if err != nil && err != io.EOF && !it.look {
		if err := s.damaged(ctx, it.name, err); err != nil {
			return err
		}
	}
	if s.isForeign(it, detect(head), func() []byte { return peek(buf) }) {
		return nil
	}
	switch {
	case detect(head) == plain:
		if err := s.mislabelled(ctx, it, head); err != nil {
			return err
		}
		return s.keep(it, int64(min(f.UncompressedSize64, 1<<62)), zipMember(f), nil)
	case f.Method == zip.Store:
		start, err := f.DataOffset()
		if err != nil {
			return s.damaged(ctx, it.name, err)
		}
		n := min(packed(), whole.n-start) // the claim may be a lie
		return s.random(ctx, it, within(whole.at, whole.off+start, n))
	}
	it.again = zipMember(f)
	return s.stream(ctx, it, buf)
}
