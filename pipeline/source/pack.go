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
	packBlock  = 16 << 10
	packHeader = 8
	mostPacked = 20 << 10 // what S2 makes of a block at most is less
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

// unpacker reads a spooled content. It has a buffer only while a block is half read, because
// thousands are open at once.
type unpacker struct {
	src  *io.SectionReader
	text *[packBlock]byte // what rest is part of
	rest []byte           // not read yet
}

// texts and packs have buffers for blocks, unpacked and packed.
var (
	texts = sync.Pool{New: func() any { return new([packBlock]byte) }}
	packs = sync.Pool{New: func() any { return new([mostPacked]byte) }}
)

// spooled is the content that the spool has packed.
func spooled(kept *io.SectionReader) opener {
	return func(r *reader) (io.Reader, error) {
		u := &unpacker{src: io.NewSectionReader(kept, 0, kept.Size())}
		r.closeLater(u)
		return u, nil
	}
}

// Close gives the buffer back.
func (u *unpacker) Close() error {
	if u.text != nil {
		texts.Put(u.text)
	}
	u.text, u.rest = nil, nil
	return nil
}

// Read implements io.Reader. A block that fits is unpacked right into p.
func (u *unpacker) Read(p []byte) (int, error) {
	if len(u.rest) > 0 || len(p) == 0 {
		return u.take(p), nil
	}
	var header [packHeader]byte
	if _, err := io.ReadFull(u.src, header[:]); err != nil {
		return 0, err
	}
	method, length := binary.LittleEndian.Uint32(header[:]), binary.LittleEndian.Uint32(header[4:])
	stored := method &^ isRuns
	if length > packBlock || stored > mostPacked {
		return 0, errSpoiled
	}
	size := int(length)
	buf := packs.Get().(*[mostPacked]byte)
	defer packs.Put(buf)
	packed := buf[:stored]
	if _, err := io.ReadFull(u.src, packed); err != nil {
		return 0, unexpected(err)
	}
	if size <= len(p) {
		return size, unpack(p[:size], packed, method&isRuns != 0)
	}
	u.text = texts.Get().(*[packBlock]byte)
	if err := unpack(u.text[:size], packed, method&isRuns != 0); err != nil {
		return 0, err
	}
	u.rest = u.text[:size]
	return u.take(p), nil
}

// take reads of a block that did not fit, and gives its buffer back at its end.
func (u *unpacker) take(p []byte) int {
	n := copy(p, u.rest)
	if u.rest = u.rest[n:]; len(u.rest) == 0 && u.text != nil {
		_ = u.Close() // never fails
	}
	return n
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
