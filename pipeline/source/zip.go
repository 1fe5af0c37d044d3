package source

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
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
		s.damaged(it.name, cut)
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
	it, ok := z.member(f.Name, f.Mode(), zipModified(f.Extra, f.Modified))
	switch {
	case !ok:
		return
	case !f.Mode().IsRegular():
		z.fail(it.name, irregular(f.Mode()))
		return
	case f.Flags&isEncrypted != 0:
		z.encrypted(it)
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
	buf := takeBuffer((&meter{budget: z.set.budget}).reader(z.input(rc), nil))
	defer giveBuffer(buf)
	head, err := buf.Peek(sniffLen)
	if err != nil && err != io.EOF && it.met != byContent {
		z.damaged(it.name, err)
	}
	k := detect(head)
	switch {
	case z.isForeign(it, k, func() []byte { return peek(buf) }):
	case k == plain:
		z.mislabelled(it, head)
		z.keep(it, int64(min(f.UncompressedSize64, 1<<62)), body{open: z.set.zipMember(f)})
	case f.Method == zip.Store:
		start, err := f.DataOffset()
		if err != nil {
			z.damaged(it.name, err)
			return
		}
		n := min(int64(min(f.CompressedSize64, 1<<62)), z.n-start) // the claim may be a lie
		z.random(it, within(z.at, z.off+start, n))
	default:
		it.again.open = z.set.zipMember(f)
		z.stream(it, buf)
	}
}

// isEncrypted is a flag of a member.
const isEncrypted = 1 << 0

// encrypted notes a member that cannot be read.
func (z *zipArchive) encrypted(it item) {
	if it.met != byContent {
		z.fail(it.name, fmt.Errorf("%w: encrypted", ErrFormat))
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
	for tag, field := range extras(extra) {
		const oldTimes, ntfsTimes = 8, 32 // bytes at least
		switch {
		case tag == extraUnixTime && hasUnixTime(field), (tag == extraInfoUnix || tag == extraUnixOld) && len(field) >= oldTimes:
			m.ModLocal, m.ModStep = false, min(m.ModStep, time.Second)
		case tag == extraNTFS && len(field) >= ntfsTimes:
			m.ModLocal, m.ModStep = false, 0
		}
	}
	return m
}

// hasUnixTime reports whether an extra field of Unix has the time of change: bit 0 of its flags says so. It may have
// other times only, or none.
func hasUnixTime(field []byte) bool { return len(field) >= 5 && field[0]&1 == 1 }

// extras iterates over the extra fields of a member of a zip.
func extras(b []byte) iter.Seq2[uint16, []byte] {
	return func(yield func(tag uint16, field []byte) bool) {
		for len(b) >= 4 {
			tag, size := binary.LittleEndian.Uint16(b), int(binary.LittleEndian.Uint16(b[2:]))
			if size > len(b)-4 || !yield(tag, b[4:4+size]) {
				return
			}
			b = b[4+size:]
		}
	}
}
