package source

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

// zipArchive is a zip that is read.
type zipArchive struct {
	archive
	extent
}

// zipStream spools a zip unchanged, because its directory is at its end.
func (s *scanner) zipStream(it item, buf *bufio.Reader) {
	k := &kept{}
	cut, err := s.set.spool.add(k, buf)
	if err != nil {
		s.fail(it.name, err)
		return
	}
	if cut != nil {
		s.fail(it.name, damage(cut))
	}
	s.zip(it, within(k, 0, k.Size()))
}

func (s *scanner) zip(it item, x extent) {
	a, ok := s.enter(it)
	if !ok {
		return
	}
	z := &zipArchive{a, x}
	zr, err := zip.NewReader(x.reader(), x.n)
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // that is judged below
		z.tear(fmt.Errorf("its directory, which is at the end of a zip, cannot be read: copy it again, or repair it with zip -FF: %w", err))
		return
	}
	zr.RegisterDecompressor(zip.Deflate, flate.NewReader)
	zr.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor())
	for _, f := range zr.File {
		if z.ended() {
			return
		}
		z.entry(f)
	}
}

// entry scans one member. A plain member is read in place later, and so is a compressed file that the zip stores
// without compression.
func (z *zipArchive) entry(f *zip.File) {
	const isEncrypted = 1 << 0
	it, ok := z.member(f.Name, f.Mode(), zipModified(f.Extra, f.Modified))
	switch {
	case !ok:
		return
	case !f.Mode().IsRegular():
		z.fail(it.name, irregular(f.Mode()))
		return
	case f.Flags&isEncrypted != 0:
		if it.met != byContent {
			z.fail(it.name, fmt.Errorf("%w: encrypted", ErrFormat))
		}
		return
	}
	rc, err := f.Open()
	if err != nil {
		if errors.Is(err, zip.ErrAlgorithm) {
			err = fmt.Errorf("%w: zip method %d", ErrFormat, f.Method)
		}
		z.fail(it.name, err)
		return
	}
	defer rc.Close()
	buf := takeBuffer(&metered{meter: &meter{budget: z.Budget}, r: &input{z.scanner, rc, false}})
	defer giveBuffer(buf)
	head, err := buf.Peek(sniffLen)
	if err != nil && err != io.EOF && it.met != byContent {
		z.fail(it.name, damage(err))
	}
	k := detect(head)
	switch {
	case z.isForeign(it, k, head, buf):
	case k == plain:
		z.mislabelled(it, head)
		z.keep(it, int64(min(f.UncompressedSize64, 1<<62)), body{open: z.set.zipMember(f)})
	case f.Method == zip.Store:
		start, err := f.DataOffset()
		if err != nil {
			z.fail(it.name, damage(err))
			return
		}
		n := min(int64(min(f.CompressedSize64, 1<<62)), z.n-start) // the claim may be a lie
		z.random(it, within(z.at, z.off+start, n))
	default:
		it.again.open = z.set.zipMember(f)
		z.stream(it, buf)
	}
}

// The extra fields of a zip that have a time: of Unix, in whole seconds, and of NTFS.
const (
	extraUnixTime = 0x5455
	extraInfoUnix = 0x5855
	extraUnixOld  = 0x000d
	extraNTFS     = 0x000a
)

// zipModified returns when a member of a zip was changed. at is the best time in its header. Without an extra field,
// that is a date and a time of day in an unknown zone, in steps of two seconds.
func zipModified(extra []byte, at time.Time) Modified {
	if at.Year() < 1980 { // where DOS begins to count
		return Modified{}
	}
	m := Modified{ModTime: at, ModStep: 2 * time.Second, ModLocal: true}
	for len(extra) >= 4 {
		tag, size := binary.LittleEndian.Uint16(extra), int(binary.LittleEndian.Uint16(extra[2:]))
		if extra = extra[4:]; size > len(extra) {
			break
		}
		field := extra[:size]
		extra = extra[size:]
		const oldTimes, ntfsTimes = 8, 32 // bytes at least
		switch {
		case tag == extraUnixTime && size >= 5 && field[0]&1 == 1, // bit 0: it has the time of change
			(tag == extraInfoUnix || tag == extraUnixOld) && size >= oldTimes:
			m.ModLocal, m.ModStep = false, min(m.ModStep, time.Second)
		case tag == extraNTFS && size >= ntfsTimes:
			m.ModLocal, m.ModStep = false, 0
		}
	}
	return m
}

// zipMember returns an opener of a member that the directory of its zip lists.
func (s *Set) zipMember(f *zip.File) opener {
	m := &meter{budget: s.budget}
	return func(r *reader) (io.Reader, error) {
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		r.closers = append(r.closers, in)
		return &metered{meter: m, r: in}, nil // deflate makes at most 1,032 bytes of one
	}
}
