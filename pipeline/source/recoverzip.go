package source

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// A zip is read by its directory, which comes last, so a zip that is cut short has none.
// Each member begins with a header of its own, though:
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

// localHeader is what stands before a member.
type localHeader struct {
	flags, method    uint16
	packed, unpacked int64
	name             string
	date, clock      uint16
	extra            []byte
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
	var fixed [localLen]byte
	if _, err := sr.ReadAt(fixed[:], pos); err != nil || string(fixed[:4]) != localMagic {
		return h, 0, false
	}
	le := binary.LittleEndian
	nameLen, extraLen := int64(le.Uint16(fixed[26:])), int64(le.Uint16(fixed[28:]))
	more := make([]byte, nameLen+extraLen)
	if _, err := sr.ReadAt(more, pos+localLen); len(more) > 0 && err != nil && err != io.EOF {
		return h, 0, false
	}
	start = pos + localLen + nameLen + extraLen
	if start > sr.Size() {
		return h, 0, false
	}
	h = localHeader{
		flags: le.Uint16(fixed[6:]), method: le.Uint16(fixed[8:]),
		packed: int64(le.Uint32(fixed[18:])), unpacked: int64(le.Uint32(fixed[22:])),
		name: string(more[:nameLen]), clock: le.Uint16(fixed[10:]), date: le.Uint16(fixed[12:]), extra: more[nameLen:],
	}
	for extra := more[nameLen:]; len(extra) >= 4; {
		size := int(le.Uint16(extra[2:]))
		if size > len(extra)-4 {
			break
		}
		if le.Uint16(extra) == zip64Extra && size >= 16 {
			h.unpacked, h.packed = int64(le.Uint64(extra[4:])), int64(le.Uint64(extra[12:]))
		}
		extra = extra[4+size:]
	}
	return h, start, true
}

// measure returns where the content that begins at start ends, and an error if
// that is not a proper end.
func (z *zipArchive) measure(sr *io.SectionReader, h localHeader, start int64) (int64, error) {
	left := sr.Size() - start
	if h.flags&flagTrailer == 0 || h.packed > 0 {
		if h.packed < 0 || h.packed > left {
			return sr.Size(), io.ErrUnexpectedEOF
		}
		return start + h.packed, nil
	}
	if h.method != zipDeflated {
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
	if h.flags&flagTrailer == 0 {
		return end
	}
	var b [32]byte
	n, _ := sr.ReadAt(b[:], end) // too few bytes are no header
	for _, size := range []int{16, 12, 24, 20} {
		if n >= size+4 && (string(b[size:size+2]) == "PK") && (size%8 != 0 || string(b[:4]) == trailerMagic) {
			return end + int64(size)
		}
	}
	return end
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
	case h.flags&flagCrypt != 0:
		z.encrypted(it)
		return
	case h.method == zipStored:
		z.random(it, x)
		return
	case h.method != zipDeflated:
		z.fail(it.name, fmt.Errorf("%w: zip method %d", ErrFormat, h.method))
		return
	}
	if x.cut != nil {
		z.fail(it.name, x.cut)
	}
	it.again = body{decompressed(deflated, x.open), x.cut}
	d, err := decode(deflated, z.input(x.reader()))
	if err != nil {
		z.damaged(it.name, err)
		return
	}
	defer d.Close()
	z.stream(it, z.guard(d, d.taken.count))
}
