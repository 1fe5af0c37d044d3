package source

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// maxXzDicts bounds the dictionaries of all blocks of an xz file together, beyond what comes
// out of it: the decoder allocates each of them. A thousand small files of "xz" in one stay below.
const maxXzDicts = 8 << 30

var errXz = errors.New("xz: not as the format demands")

// xzBlocks passes the bytes of an xz file on and looks at each block's header: the decoder
// would allocate a dictionary of any size that a header names, up to 4 GiB. It follows the
// container:
//
//	stream header, blocks, index, footer, padding; all again for each stream
//	block: header, LZMA2 chunks, padding, check
type xzBlocks struct {
	r     io.Reader
	err   error
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

func newXzBlocks(r io.Reader) *xzBlocks {
	x := &xzBlocks{r: r}
	x.next = x.streamHeader
	return x
}

// Read ends before a block that must not be decoded, with an error.
func (x *xzBlocks) Read(p []byte) (int, error) {
	if x.err != nil {
		return 0, x.err
	}
	n, err := x.r.Read(p)
	for i := 0; i < n; i++ {
		if x.skip > 0 {
			pass := min(x.skip, int64(n-i))
			x.skip -= pass
			i += int(pass) - 1
			continue
		}
		if x.err = x.next(p[i]); x.err != nil && i > 0 {
			return i, nil
		} else if x.err != nil {
			return 0, x.err
		}
	}
	return n, err
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
	x.collect(0, x.block)
	return nil
}

// block takes the first byte of a block, or of the index.
func (x *xzBlocks) block(b byte) error {
	if b == 0 {
		x.n, x.left, x.shift = 1, 0, 0
		x.next = x.indexLength
		return nil
	}
	x.collect(int(b)*4, x.blockHeader) // less the checksum
	x.head = append(x.head, b)
	return nil
}

func (x *xzBlocks) blockHeader(b byte) error {
	if x.head = append(x.head, b); len(x.head) < x.want {
		return nil
	}
	size := xzDict(x.head)
	x.dicts += size
	switch {
	case size > maxWindow:
		return fmt.Errorf("%w: xz dictionary of more than %d bytes", ErrFormat, maxWindow)
	case x.dicts > maxXzDicts+x.out:
		return fmt.Errorf("%w: the dictionaries of its blocks have %d bytes, its content %d", ErrFormat, x.dicts, x.out)
	}
	x.n, x.skip, x.next = 0, 4, x.chunk
	return nil
}

// xzDict is the size of the dictionary in the header of a block, 0 where the decoder will
// refuse the header.
func xzDict(head []byte) int64 {
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
	bits := head[at+2]
	return int64(2|bits&1) << (bits/2 + 11)
}

// chunk takes the first byte of an LZMA2 chunk, or the end of the block.
func (x *xzBlocks) chunk(b byte) error {
	x.n++
	switch {
	case b == 0:
		x.skip, x.next = (4-x.n%4)%4+x.check, x.block
		return nil
	case b == 1 || b == 2: // stored
		x.collect(3, x.chunkHeader)
	case b >= 0xc0: // with new properties
		x.collect(6, x.chunkHeader)
	case b >= 0x80:
		x.collect(5, x.chunkHeader)
	default:
		return errXz
	}
	x.head = append(x.head, b)
	return nil
}

func (x *xzBlocks) chunkHeader(b byte) error {
	x.n++
	if x.head = append(x.head, b); len(x.head) < x.want {
		return nil
	}
	unpacked := int64(binary.BigEndian.Uint16(x.head[1:])) + 1
	x.skip = unpacked
	if first := x.head[0]; first >= 0x80 {
		unpacked += int64(first&0x1f) << 16
		x.skip = int64(binary.BigEndian.Uint16(x.head[3:])) + 1
	}
	x.n += x.skip
	x.out += unpacked
	x.next = x.chunk
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
