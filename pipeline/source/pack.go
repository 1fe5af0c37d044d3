package source

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/s2"
)

// A spooled content is packed in blocks, each of a header and its packed bytes:
//
//	4 bytes: their number; the top bit is set if they are runs, else they are S2
//	4 bytes: how many they are unpacked, at most packBlock
//
// Runs suit histogram logs, which are nine tenths "0, 0, 0": they are found and written at
// three times the speed of S2, and read at four times. All else is S2, which packs
// reports and other logs 4 to 1.
const (
	packBlock  = 64 << 10
	packHeader = 8
	isRuns     = 1 << 31
	// leastRuns is how many times smaller a block must become for runs to be used.
	leastRuns = 4
)

var errSpoiled = errors.New("the spool was changed")

// pack appends a block to dst.
func pack(dst, block []byte) []byte {
	if len(block) == 0 {
		return dst
	}
	start := len(dst) + packHeader
	dst = append(dst, make([]byte, packHeader)...)
	dst = appendRuns(dst, block)
	method := uint32(isRuns)
	if len(dst)-start > len(block)/leastRuns {
		method = 0
		room := s2.MaxEncodedLen(len(block))
		dst = append(dst[:start], make([]byte, room)...)
		dst = dst[:start+len(s2.Encode(dst[start:], block))]
	}
	binary.LittleEndian.PutUint32(dst[start-packHeader:], method|uint32(len(dst)-start))
	binary.LittleEndian.PutUint32(dst[start-packHeader+4:], uint32(len(block)))
	return dst
}

// raw appends a block as it is.
func raw(dst, block []byte) []byte { return append(dst, block...) }

const (
	period = 3  // bytes of ", 0"
	minRun = 16 // shorter ones are not worth their two numbers
)

// appendRuns writes a block as pairs: a number of bytes and these, then for how many bytes
// the last three repeat.
func appendRuns(dst, block []byte) []byte {
	put := func(literal []byte, run int) {
		dst = binary.AppendUvarint(dst, uint64(len(literal)))
		dst = append(dst, literal...)
		dst = binary.AppendUvarint(dst, uint64(run))
	}
	done := 0
	for i := 0; i+period+8 <= len(block); {
		if eight(block, i) != eight(block, i+period) { // so no run of twice eight covers them
			i += 8
			continue
		}
		start, end := i+period, i+period+8
		for start > done+period && block[start-1] == block[start-1-period] {
			start--
		}
		for end+8 <= len(block) && eight(block, end) == eight(block, end-period) {
			end += 8
		}
		for end < len(block) && block[end] == block[end-period] {
			end++
		}
		if i = end; end-start >= minRun {
			put(block[done:start], end-start)
			done = end
		}
	}
	if done < len(block) {
		put(block[done:], 0)
	}
	return dst
}

// eight is eight bytes of b, from i on.
func eight(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i : i+8 : i+8]) }

// expandRuns fills dst with what appendRuns made from it. It reports false if packed is not that.
func expandRuns(dst, packed []byte) bool {
	at := 0
	for len(packed) > 0 {
		n, size := binary.Uvarint(packed)
		if size <= 0 || n > uint64(len(packed)-size) || n > uint64(len(dst)-at) {
			return false
		}
		at += copy(dst[at:], packed[size:size+int(n)])
		packed = packed[size+int(n):]
		run, size := binary.Uvarint(packed)
		if size <= 0 || run > uint64(len(dst)-at) || run > 0 && at < period {
			return false
		}
		packed = packed[size:]
		for from, end := at-period, at+int(run); at < end; {
			at += copy(dst[at:end], dst[from:at]) // 3 bytes, then 3 more, then 6
		}
	}
	return at == len(dst)
}

// unpacker reads a spooled content.
type unpacker struct {
	src          io.Reader
	packed, text []byte // scratch
	rest         []byte // of text, not read yet
}

// unpackers are used again, because one has 128 KiB.
var unpackers sync.Pool

// spooled is the content that the spool has packed.
func spooled(kept *io.SectionReader) opener {
	return func(r *reader) (io.Reader, error) {
		u, ok := unpackers.Get().(*unpacker)
		if !ok {
			u = &unpacker{}
		}
		u.src, u.rest = io.NewSectionReader(kept, 0, kept.Size()), nil
		r.closeLater(u)
		return u, nil
	}
}

// Close gives the unpacker back.
func (u *unpacker) Close() error {
	u.src = nil
	unpackers.Put(u)
	return nil
}

// Read implements io.Reader. A block that fits is unpacked right into p.
func (u *unpacker) Read(p []byte) (int, error) {
	if len(u.rest) > 0 || len(p) == 0 {
		n := copy(p, u.rest)
		u.rest = u.rest[n:]
		return n, nil
	}
	var header [packHeader]byte
	if _, err := io.ReadFull(u.src, header[:]); err != nil {
		return 0, err
	}
	method, size := binary.LittleEndian.Uint32(header[:]), binary.LittleEndian.Uint32(header[4:])
	stored := method &^ isRuns
	if size > packBlock || int(stored) > s2.MaxEncodedLen(packBlock) {
		return 0, errSpoiled
	}
	u.packed = slice(u.packed, int(stored))
	if _, err := io.ReadFull(u.src, u.packed); err != nil {
		return 0, unexpected(err)
	}
	if int(size) <= len(p) {
		return int(size), unpack(p[:size], u.packed, method&isRuns != 0)
	}
	u.text = slice(u.text, int(size))
	if err := unpack(u.text, u.packed, method&isRuns != 0); err != nil {
		return 0, err
	}
	n := copy(p, u.text)
	u.rest = u.text[n:]
	return n, nil
}

// unpack fills dst with the content of a block.
func unpack(dst, packed []byte, runs bool) error {
	if runs {
		if !expandRuns(dst, packed) {
			return errSpoiled
		}
		return nil
	}
	out, err := s2.Decode(dst, packed)
	if err == nil && (len(out) != len(dst) || len(out) > 0 && &out[0] != &dst[0]) {
		err = errSpoiled
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errSpoiled, err)
	}
	return nil
}

// slice is n bytes, those of b if it has as many.
func slice(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, n, max(n, packBlock))
	}
	return b[:n]
}
