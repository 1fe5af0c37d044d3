package source

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// maxXzDicts bounds the dictionaries of all blocks of an xz file together, beyond what comes
// out of it: the decoder allocates each of them. A thousand small files of "xz" in one stay below.
const maxXzDicts = 8 << 30

var errXz = errors.New("xz: not as the format demands")

// xzBlocks passes the bytes of an xz file on and looks at each block's header: the decoder
// would allocate a dictionary of any size that a header names, up to 4 GiB. Of a short block,
// the header is changed to name no more than the block's content needs. It follows the
// container:
//
//	stream header, blocks, index, footer, padding; all again for each stream
//	block: header, LZMA2 chunks, padding, check
type xzBlocks struct {
	r     *bufio.Reader
	err   error
	ready []byte             // a header that is passed on next
	begin bool               // a block begins behind the bytes to be skipped, or the index
	next  func(b byte) error // takes the next byte behind those to be skipped
	skip  int64
	head  []byte // of a header, so far
	want  int    // its length
	check int64  // bytes of the check behind each block
	n     int64  // bytes of the block's chunks, or of the index
	left  uint64 // numbers of the index that follow
	shift uint   // within such a number
	dicts int64  // bytes of all dictionaries
	out   int64  // unpacked bytes
}

func newXzBlocks(r *bufio.Reader) *xzBlocks {
	x := &xzBlocks{r: r}
	x.next = x.streamHeader
	return x
}

// Read ends before a block that must not be decoded, with an error.
func (x *xzBlocks) Read(p []byte) (int, error) {
	if len(x.ready) == 0 && x.err == nil && x.begin && x.skip == 0 {
		x.block()
	}
	if len(x.ready) > 0 {
		n := copy(p, x.ready)
		x.ready = x.ready[n:]
		return n, nil
	}
	if x.err != nil || len(p) == 0 {
		return 0, x.err
	}
	if _, err := x.r.Peek(1); err != nil {
		return 0, err
	}
	ahead, _ := x.r.Peek(min(x.r.Buffered(), len(p)))
	n := 0
	for n < len(ahead) && x.err == nil && (!x.begin || x.skip > 0) {
		if x.skip > 0 {
			pass := min(x.skip, int64(len(ahead)-n))
			x.skip -= pass
			n += int(pass)
		} else if x.err = x.next(ahead[n]); x.err == nil {
			n++
		}
	}
	copy(p, ahead[:n])
	_, _ = x.r.Discard(n) // they are buffered
	if n == 0 {
		return 0, x.err
	}
	return n, nil
}

// collect begins a header of so many bytes.
func (x *xzBlocks) collect(want int, next func(b byte) error) {
	x.head, x.want, x.next = x.head[:0], want, next
}

func (x *xzBlocks) streamHeader(b byte) error {
	const length, flags = 12, 7
	x.head = append(x.head, b)
	if len(x.head) == 4 && binary.LittleEndian.Uint32(x.head) == 0 { // padding between streams
		x.head = x.head[:0]
	}
	if len(x.head) < length {
		return nil
	}
	switch kind := x.head[flags] & 0xf; {
	case kind == 0:
		x.check = 0
	default:
		x.check = 4 << ((kind - 1) / 3) // 4, 8, 16, 32 and 64 bytes, for three kinds each
	}
	x.begin = true
	return nil
}

// block takes the header of a block, or the first byte of the index.
func (x *xzBlocks) block() {
	x.begin = false
	first, _ := x.r.Peek(1) // an error comes again
	if len(first) == 0 || first[0] == 0 {
		x.n, x.left, x.shift = 0, 0, 0
		x.next = x.indexIndicator
		return
	}
	length := (int(first[0]) + 1) * 4 // with the checksum
	ahead, _ := x.r.Peek(bufLen)
	if len(ahead) < length { // the decoder finds that it is cut short
		x.ready = append(x.ready, ahead...)
		_, _ = x.r.Discard(len(ahead))
		return
	}
	head := bytes.Clone(ahead[:length])
	if size := xzDict(head[:length-4]); size > maxWindow {
		x.err = fmt.Errorf("%w: xz dictionary of more than %d bytes", ErrFormat, maxWindow)
		return
	}
	shrinkDict(head, ahead[length:])
	if x.err = x.allow(xzDict(head[:length-4])); x.err != nil {
		return
	}
	x.ready = head
	_, _ = x.r.Discard(length)
	x.n, x.next = 0, x.chunk
}

// allow counts a dictionary, and refuses it if all together are too large.
func (x *xzBlocks) allow(size int64) error {
	if x.dicts += size; x.dicts > maxXzDicts+x.out {
		return fmt.Errorf("%w: the dictionaries of its blocks have %d bytes, its content %d", ErrFormat, x.dicts, x.out)
	}
	makeRoom(size)
	return nil
}

// shrinkDict changes the header of a block to name the least dictionary that its content needs,
// if all its chunks are ahead. The content of "xz -9" has a dictionary of 64 MiB at any length.
func shrinkDict(head, ahead []byte) {
	at := xzDictAt(head[:len(head)-4])
	sum := head[len(head)-4:]
	size, ok := chunksSize(ahead)
	if at == 0 || !ok || binary.LittleEndian.Uint32(sum) != crc32.ChecksumIEEE(head[:len(head)-4]) {
		return // the decoder says what is wrong
	}
	for bits := range head[at] {
		if dictSize(bits) >= size {
			head[at] = bits
			break
		}
	}
	binary.LittleEndian.PutUint32(sum, crc32.ChecksumIEEE(head[:len(head)-4]))
}

// chunksSize is how many bytes the chunks of a block have unpacked, if b has all of them.
func chunksSize(b []byte) (size int64, ok bool) {
	for len(b) > 0 && b[0] != 0 {
		n := chunkHeaderLen(b[0])
		if n == 0 || n > len(b) {
			return 0, false
		}
		unpacked, stored := chunkSizes(b[:n])
		if stored > int64(len(b)-n) {
			return 0, false
		}
		size += unpacked
		b = b[n+int(stored):]
	}
	return size, len(b) > 0
}

// xzDict is the size of the dictionary in the header of a block, 0 where the decoder will
// refuse the header.
func xzDict(head []byte) int64 {
	if at := xzDictAt(head); at > 0 {
		return dictSize(head[at])
	}
	return 0
}

// xzDictAt is where the header of a block has the size of its dictionary, 0 if nowhere.
func xzDictAt(head []byte) int {
	const lzma2 = 0x21
	at := 2
	for flag := byte(0x40); flag != 0; flag <<= 1 { // two optional sizes
		if head[1]&flag == 0 {
			continue
		}
		for at < len(head) && head[at]&0x80 != 0 {
			at++
		}
		at++
	}
	if at+2 >= len(head) || head[at] != lzma2 || head[at+2] > 40 {
		return 0
	}
	return at + 2
}

// dictSize is the size of a dictionary as a header has it.
func dictSize(bits byte) int64 { return int64(2|bits&1) << (bits/2 + 11) }

// chunk takes the first byte of an LZMA2 chunk, or the end of the block.
func (x *xzBlocks) chunk(b byte) error {
	x.n++
	if b == 0 {
		x.skip, x.begin = (4-x.n%4)%4+x.check, true
		return nil
	}
	length := chunkHeaderLen(b)
	if length == 0 {
		return errXz
	}
	x.collect(length, x.chunkHeader)
	x.head = append(x.head, b)
	return nil
}

// chunkHeaderLen is how many bytes the header of a chunk has by its first, 0 for none.
func chunkHeaderLen(first byte) int {
	switch {
	case first == 1 || first == 2: // stored
		return 3
	case first >= 0xc0: // with new properties
		return 6
	case first >= 0x80:
		return 5
	}
	return 0
}

func (x *xzBlocks) chunkHeader(b byte) error {
	x.n++
	if x.head = append(x.head, b); len(x.head) < x.want {
		return nil
	}
	unpacked, stored := chunkSizes(x.head)
	x.skip = stored
	x.n += stored
	x.out += unpacked
	x.next = x.chunk
	return nil
}

// chunkSizes are the bytes of a chunk, behind its header, and what they are unpacked.
func chunkSizes(head []byte) (unpacked, stored int64) {
	unpacked = int64(binary.BigEndian.Uint16(head[1:])) + 1
	if first := head[0]; first >= 0x80 {
		return unpacked + int64(first&0x1f)<<16, int64(binary.BigEndian.Uint16(head[3:])) + 1
	}
	return unpacked, unpacked
}

// indexIndicator takes the first byte of the index.
func (x *xzBlocks) indexIndicator(byte) error {
	x.n, x.next = 1, x.indexLength
	return nil
}

// indexLength takes the number of records, of two numbers each.
func (x *xzBlocks) indexLength(b byte) error {
	x.n++
	if x.shift > 56 {
		return errXz
	}
	x.left |= uint64(b&0x7f) << x.shift
	x.shift += 7
	if b&0x80 != 0 {
		return nil
	}
	x.left *= 2
	x.next = x.indexRecords
	x.endIndex()
	return nil
}

func (x *xzBlocks) indexRecords(b byte) error {
	x.n++
	if b&0x80 == 0 {
		x.left--
		x.endIndex()
	}
	return nil
}

// endIndex moves to the next stream after the last record.
func (x *xzBlocks) endIndex() {
	const checksum, footer = 4, 12
	if x.left == 0 {
		x.skip = (4-x.n%4)%4 + checksum + footer
		x.collect(0, x.streamHeader)
	}
}
