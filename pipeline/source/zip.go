package source

import (
	"archive/zip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zstd"
)

func (s *scanner) zip(it item, at *io.SectionReader) {
	a, ok := s.enter(it)
	if !ok {
		return
	}
	zr, err := zip.NewReader(at, at.Size())
	if err != nil && !errors.Is(err, zip.ErrInsecurePath) { // that is judged below
		a.tear(fmt.Errorf("its directory, which is at the end of a zip, cannot be read: copy it again, or repair it with zip -FF: %w", err))
		return
	}
	zr.RegisterDecompressor(zip.Deflate, flate.NewReader)
	zr.RegisterDecompressor(zstd.ZipMethodWinZip, zstd.ZipDecompressor())
	for _, f := range zr.File {
		if a.ended() {
			return
		}
		a.unzip(f, at)
	}
}

// unzip scans one member of a zip. A plain member is read in place later, and so is a packed one that the zip stores
// without compression.
func (a *archive) unzip(f *zip.File, at *io.SectionReader) {
	const isEncrypted = 1 << 0
	it, ok := a.member(f.Name, f.Mode(), zipModified(f.Extra, f.Modified))
	switch {
	case !ok:
		return
	case !f.Mode().IsRegular():
		a.fail(it.name, irregular(f.Mode()))
		return
	case f.Flags&isEncrypted != 0:
		if it.met != byContent {
			a.fail(it.name, fmt.Errorf("%w: encrypted", ErrFormat))
		}
		return
	}
	in, err := f.Open()
	if err != nil {
		if errors.Is(err, zip.ErrAlgorithm) {
			err = fmt.Errorf("%w: zip method %d", ErrFormat, f.Method)
		}
		a.fail(it.name, err)
		return
	}
	defer in.Close()
	m := &meter{budget: it.budget}
	again := func(r *reader) (io.Reader, error) {
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		r.closers = append(r.closers, in)
		return &metered{meter: m, r: in}, nil // deflate makes at most 1,032 bytes of one
	}
	it.again = body{open: again, size: int64(min(f.UncompressedSize64, 1<<62))}
	if f.Method != zip.Store {
		a.stream(it, &metered{meter: &meter{budget: it.budget}, r: &input{a.scanner, in, nil}})
		return
	}
	start, err := f.DataOffset()
	if err != nil {
		a.fail(it.name, damage(err))
		return
	}
	n := min(int64(min(f.CompressedSize64, 1<<62)), at.Size()-start) // the claim may be a lie
	a.random(it, io.NewSectionReader(at, start, n), it.again)
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
