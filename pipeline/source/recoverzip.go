package source

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"strings"
)

// The directory of a zip is at its end, so a zip that is cut short has no directory. But each member begins with a
// header of its own:
//
//	"PK\3\4" version flags method time date crc packed unpacked name extra
//	4        2       2     2      2    2    4   4      4        2    2     bytes
//
// then the name, the extra field and the content. Where the sizes are left to a
// trailer behind the content, the end of a deflated content is found by decoding.
const (
	localMagic   = "PK\x03\x04"
	localLen     = 30
	flagCrypt    = 1 << 0
	flagTrailer  = 1 << 3
	zipStored    = 0
	zipDeflated  = 8
	zip64Extra   = 1
	trailerMagic = "PK\x07\x08"
)

// localHeader is the header of a member.
type localHeader struct {
	fixedHeader
	packed int64
	name   string
	extra  []byte
}

// fixedHeader is the beginning of each, in little-endian order.
type fixedHeader struct {
	Magic                     [4]byte
	Version, Flags, Method    uint16
	Clock, Date               uint16
	CRC, Packed32, Unpacked32 uint32
	NameLen, ExtraLen         uint16
}

// extras iterates over the extra fields of a member.
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

// recover scans the members of a zip without a usable directory. That the
// zip is damaged has been noted.
func (z *zipArchive) recover() {
	sr := z.reader()
	for pos := int64(0); !z.ended(); {
		h, start, ok := readLocal(sr, pos)
		if !ok {
			return
		}
		end, err := z.measure(sr, h, start)
		x := within(z.at, z.off+start, end-start)
		if err != nil {
			x.cut = fmt.Errorf("%w after %d packed bytes: %w", ErrDamaged, x.n, err)
		}
		z.recovered(h, x)
		if x.cut != nil {
			return
		}
		pos = skipTrailer(sr, h, end)
	}
}

// readLocal reads the header at pos and returns where the content starts.
func readLocal(sr *io.SectionReader, pos int64) (h localHeader, start int64, ok bool) {
	in := io.NewSectionReader(sr, pos, sr.Size())
	if err := binary.Read(in, binary.LittleEndian, &h.fixedHeader); err != nil || string(h.Magic[:]) != localMagic {
		return h, 0, false
	}
	more := make([]byte, int(h.NameLen)+int(h.ExtraLen))
	if _, err := io.ReadFull(in, more); err != nil {
		return h, 0, false
	}
	h.name, h.extra = string(more[:h.NameLen]), more[h.NameLen:]
	h.packed = int64(h.Packed32)
	for tag, field := range extras(h.extra) {
		if tag == zip64Extra && len(field) >= 16 {
			h.packed = int64(binary.LittleEndian.Uint64(field[8:])) // the unpacked size comes first
		}
	}
	return h, pos + localLen + int64(len(more)), true
}

// measure returns where the content that begins at start ends, and an error if
// that is not a proper end.
func (z *zipArchive) measure(sr *io.SectionReader, h localHeader, start int64) (int64, error) {
	left := sr.Size() - start
	if h.Flags&flagTrailer == 0 || h.packed > 0 {
		if h.packed < 0 || h.packed > left {
			return sr.Size(), io.ErrUnexpectedEOF
		}
		return start + h.packed, nil
	}
	if h.Method != zipDeflated {
		return findTrailer(sr, start)
	}
	taken := &tally{r: io.NewSectionReader(sr, start, left)}
	buf := bufio.NewReader(taken)
	d, release, err := decodeFrom(deflated, buf)
	if err != nil {
		return sr.Size(), err
	}
	defer release()
	_, err = io.Copy(io.Discard, z.guard(z.input(d), taken.count))
	if err != nil {
		return sr.Size(), err
	}
	return start + taken.n - int64(buf.Buffered()), nil
}

// findTrailer looks for the trailer of a stored content. It has the length of the content,
// so nothing else is taken for it. Without one, all up to the end is content, except for
// what may be the beginning of a trailer.
func findTrailer(sr *io.SectionReader, start int64) (int64, error) {
	const chunk, reach = 64 << 10, 16 // magic, crc, packed, unpacked
	buf := make([]byte, chunk)
	for at := start; ; {
		n, err := sr.ReadAt(buf, at)
		for i := 0; i+reach <= n; i++ {
			next := bytes.Index(buf[i:n], []byte(trailerMagic))
			if next < 0 {
				break
			}
			i += next
			if length := at + int64(i) - start; i+reach <= n && int64(binary.LittleEndian.Uint32(buf[i+8:])) == length {
				return start + length, nil
			}
		}
		if err != nil {
			tail := buf[max(0, n-reach):n]
			for i := range tail {
				if m := tail[i:min(i+len(trailerMagic), len(tail))]; strings.HasPrefix(trailerMagic, string(m)) {
					return at + int64(n-len(tail)+i), io.ErrUnexpectedEOF
				}
			}
			return sr.Size(), io.ErrUnexpectedEOF
		}
		at += int64(n - reach)
	}
}

// skipTrailer returns where the next header should be.
func skipTrailer(sr *io.SectionReader, h localHeader, end int64) int64 {
	if h.Flags&flagTrailer == 0 {
		return end
	}
	const longest = 24 // with the magic and sizes of 8 bytes
	var b [longest + len(localMagic)]byte
	n, _ := sr.ReadAt(b[:], end) // too few bytes are no header
	return end + int64(max(0, bytes.Index(b[:n], []byte(localMagic))))
}

// recovered scans one member; x is its packed content.
func (z *zipArchive) recovered(h localHeader, x extent) {
	mode := fs.FileMode(0) // a header does not say more
	if strings.HasSuffix(h.name, "/") {
		mode = fs.ModeDir
	}
	it, ok := z.member(h.name, mode, h.modified())
	switch {
	case !ok:
		return
	case h.Flags&flagCrypt != 0:
		z.encrypted(it)
		return
	case h.Method == zipStored:
		z.random(it, x)
		return
	case h.Method != zipDeflated:
		z.fail(it.name, fmt.Errorf("%w: zip method %d", ErrFormat, h.Method))
		return
	}
	if x.cut != nil {
		z.fail(it.name, x.cut)
	}
	it.again = body{open: decompressed(deflated, x.open), cut: x.cut}
	z.decoded(it, deflated, z.input(x.reader()))
}
