package source

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/s2"
)

// A spooled content is packed in blocks, each of a header and its packed bytes:
//
//	4 bytes: their number; the top bit is set if Options.Codec packed them, else they are S2
//	4 bytes: how many they are unpacked, at most packBlock
//
// S2 packs reports and logs of completions 4 to 1.
const (
	packBlock  = 16 << 10
	packHeader = 8
	mostPacked = 20 << 10 // what S2 makes of a block at most is less
	isCoded    = 1 << 31
	// leastCoded is how many times smaller the codec must make a block.
	leastCoded = 2
)

var errSpoiled = errors.New("the spool was changed")

// pack packs contents that are read again. A block that the codec does not know ends with a line, because the codec may
// know the next one.
func (s *spool) pack(dst, text []byte) ([]byte, int) {
	start := len(dst) + packHeader
	dst = append(dst, make([]byte, packHeader)...)
	method, n := uint32(isCoded), 0
	if s.codec != nil {
		dst, n = s.codec.Pack(dst, text, packBlock)
	}
	if n == 0 || len(dst)-start > n/leastCoded {
		method, n = 0, endOfLines(text[:min(len(text), packBlock)])
		room := s2.MaxEncodedLen(n)
		dst = append(dst[:start], make([]byte, room)...)
		dst = dst[:start+len(s2.Encode(dst[start:], text[:n]))]
	}
	binary.LittleEndian.PutUint32(dst[start-packHeader:], method|uint32(len(dst)-start))
	binary.LittleEndian.PutUint32(dst[start-packHeader+4:], uint32(n))
	return dst, n
}

// endOfLines returns the end of the last complete line, or the length of the text if there is none.
func endOfLines(text []byte) int {
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// raw is the packer that does not pack.
func raw(dst, text []byte) ([]byte, int) {
	n := min(len(text), packBlock)
	return append(dst, text[:n]...), n
}

// unpacker reads a spooled content. It has a buffer only while a block is half read, because thousands are open at
// once.
type unpacker struct {
	src   *io.SectionReader
	at    int64 // where the next block begins
	codec Codec
	text  *[packBlock]byte // what rest is part of
	rest  []byte           // not read yet
}

// texts and packs have buffers for blocks, unpacked and packed.
var (
	texts = sync.Pool{New: func() any { return new([packBlock]byte) }}
	packs = sync.Pool{New: func() any { return new([mostPacked]byte) }}
)

// packed is a content that the spool keeps packed.
func (s *spool) packed(k *kept) opener {
	return func(r *reader) (io.Reader, error) {
		u := &unpacker{src: k.SectionReader, codec: s.codec}
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

// header is that of the next block.
func (u *unpacker) header() (isCodec bool, stored, size int, err error) {
	var b [packHeader]byte
	if n, err := u.src.ReadAt(b[:], u.at); n < len(b) {
		if n > 0 {
			err = unexpected(err)
		}
		return false, 0, 0, err
	}
	method, length := binary.LittleEndian.Uint32(b[:]), binary.LittleEndian.Uint32(b[4:])
	if length > packBlock || method&^isCoded > mostPacked {
		return false, 0, 0, errSpoiled
	}
	return method&isCoded != 0, int(method &^ isCoded), int(length), nil
}

// body fills p with the packed bytes of the next block.
func (u *unpacker) body(p []byte) error {
	if n, err := u.src.ReadAt(p, u.at+packHeader); n < len(p) {
		return unexpected(err)
	}
	u.at += packHeader + int64(len(p))
	return nil
}

// Read implements io.Reader. A block that fits is unpacked right into p.
func (u *unpacker) Read(p []byte) (int, error) {
	if len(u.rest) > 0 || len(p) == 0 {
		return u.take(p), nil
	}
	isCodec, stored, size, err := u.header()
	if err != nil {
		return 0, err
	}
	buf := packs.Get().(*[mostPacked]byte)
	defer packs.Put(buf)
	packed := buf[:stored]
	if err := u.body(packed); err != nil {
		return 0, err
	}
	if size <= len(p) {
		return size, u.unpack(p[:size], packed, isCodec)
	}
	u.text = texts.Get().(*[packBlock]byte)
	if err := u.unpack(u.text[:size], packed, isCodec); err != nil {
		return 0, err
	}
	u.rest = u.text[:size]
	return u.take(p), nil
}

// readPacked reads the next block as the codec packed it; see [reader.ReadPacked].
func (u *unpacker) readPacked(p []byte) int {
	if len(u.rest) > 0 {
		return 0
	}
	isCodec, stored, _, err := u.header()
	if err != nil || !isCodec || stored > len(p) || u.body(p[:stored]) != nil {
		return 0 // Read meets the error, too
	}
	return stored
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
func (u *unpacker) unpack(dst, packed []byte, isCodec bool) error {
	if isCodec {
		if u.codec == nil || !u.codec.Unpack(dst, packed) {
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
