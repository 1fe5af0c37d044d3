package fiolog

import (
	"encoding/binary"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/hist"
)

// RowCodec packs the rows of histogram logs, for programs that store a log because it can be read only once. Packed
// rows have about a tenth of the bytes of their text, and a [Reader] takes them without parsing ([PackedSource]). Only
// rows in fio's own form are packed, so unpacking gives the same text, byte for byte.
//
// A packed row is a sequence of unsigned varints (encoding/binary). First come the number of bytes of its text, time,
// direction, block size, columns, and the number of bins that are not zero. For each of these bins the number of zeros
// before it and its count follow.
type RowCodec struct{}

var errPacked = errors.New("packed rows were changed")

// PackedSource is the text of a log. Some of its rows can also be read in the form of [RowCodec].
type PackedSource interface {
	io.Reader
	// ReadPacked reads packed rows into p, in place of their text. It returns 0 if the next rows are not packed, or do
	// not fit. Then Read returns their text.
	ReadPacked(p []byte) int
}

// Pack appends the rows at the start of text to dst, in packed form. These are at most most bytes of text. n is how
// many bytes they are. It is 0 if text does not begin with a row in fio's own form.
func (RowCodec) Pack(dst, text []byte, most int) (packed []byte, n int) {
	bins := binBuffers.Get().(*binBuffer)
	defer binBuffers.Put(bins)
	var r row
	for size := 0; n+size <= most; n += size { // the next row probably has the same length
		if size = parseFast(text[n:], bins, &r); size == 0 || n+size > most {
			break
		}
		before := len(dst)
		var length int
		if dst, length = appendRow(dst, &r, bins, size); length != size {
			return dst[:before], n
		}
	}
	return dst, n
}

// Unpack fills dst with the text of packed rows. It returns false if the text has another length than dst, or if packed
// has no packed rows.
func (RowCodec) Unpack(dst, packed []byte) bool {
	bins := binBuffers.Get().(*binBuffer)
	defer binBuffers.Put(bins)
	text := dst[:0:len(dst)]
	var r row
	for len(packed) > 0 {
		n, length := takeRow(packed, bins, &r)
		if n == 0 || length > len(dst)-len(text) {
			return false
		}
		packed = packed[n:]
		if text = appendText(text, &r, bins); len(text) > len(dst) {
			return false
		}
	}
	return len(text) == len(dst)
}

// appendRow packs a row whose text has size bytes. It returns the number of bytes in fio's own form. Leading zeros and
// a carriage return make the text longer than that.
func appendRow(dst []byte, r *row, bins *binBuffer, size int) (packed []byte, length int) {
	for _, v := range [...]uint64{uint64(size), r.time, r.direction, r.blockSize, uint64(r.columns), uint64(r.used)} {
		dst = binary.AppendUvarint(dst, v)
	}
	length = len(", , \n") + digits(r.time) + digits(r.direction) + digits(r.blockSize) + period*r.columns
	next := uint32(0)
	for _, b := range bins[:r.used] {
		gap := b.Index - next
		next = b.Index + 1
		if gap < oneByte && b.Count < oneByte {
			dst = append(dst, byte(gap), byte(b.Count))
			length += int((b.Count+118)>>7 + (b.Count+28)>>7) // one more from 10 on, and from 100 on
			continue
		}
		dst = binary.AppendUvarint(binary.AppendUvarint(dst, uint64(gap)), b.Count)
		length += digits(b.Count) - 1
	}
	return dst, length
}

const (
	oneByte = 0x80 // below it a varint has one byte
	period  = 3    // bytes of ", 0"
)

// zeros are the columns of a row in which all bins are zero.
var zeros = strings.Repeat(", 0", hist.MaxColumns)

// digits returns the number of decimal digits of v.
func digits(v uint64) int {
	n := 1
	for ; v >= 10; v /= 10 {
		n++
	}
	return n
}

// takeRow reads the packed row at the start of b. n is its number of bytes, or 0 if there is no row. length is the
// length of its text.
func takeRow(b []byte, bins *binBuffer, r *row) (n, length int) {
	var head [6]uint64
	for i := range head {
		v, size := binary.Uvarint(b[n:])
		if size <= 0 {
			return 0, 0
		}
		head[i] = v
		n += size
	}
	columns, used := head[4], head[5]
	if head[0] > maxLine || head[1] > math.MaxInt64 || head[2] >= Directions || columns > hist.MaxColumns || used > columns {
		return 0, 0
	}
	*r = row{time: head[1], direction: head[2], blockSize: head[3], columns: int(columns), used: int(used)}
	index, total := uint64(0), uint64(0)
	for i := range bins[:r.used] {
		if n+2 <= len(b) && b[n] < oneByte && b[n+1]-1 < oneByte-1 {
			index += uint64(b[n])
			bins[i] = hist.Bin{Index: uint32(index), Count: uint64(b[n+1])}
			total += uint64(b[n+1])
			n += 2
		} else {
			gap, size := binary.Uvarint(b[n:])
			count, more := binary.Uvarint(b[n+max(size, 0):])
			if size <= 0 || more <= 0 || gap > columns || count == 0 {
				return 0, 0
			}
			index += gap
			bins[i] = hist.Bin{Index: uint32(index), Count: count}
			r.count(count)
			n += size + more
		}
		index++
	}
	if r.count(total); index > columns {
		return 0, 0
	}
	return n, int(head[0])
}

// appendText appends a row as fio writes it.
func appendText(dst []byte, r *row, bins *binBuffer) []byte {
	dst = strconv.AppendUint(dst, r.time, 10)
	dst = strconv.AppendUint(append(dst, ", "...), r.direction, 10)
	dst = strconv.AppendUint(append(dst, ", "...), r.blockSize, 10)
	next := 0
	for _, b := range bins[:r.used] {
		dst = append(dst, zeros[:period*(int(b.Index)-next)]...)
		dst = strconv.AppendUint(append(dst, ", "...), b.Count, 10)
		next = int(b.Index) + 1
	}
	dst = append(dst, zeros[:period*(r.columns-next)]...)
	return append(dst, '\n')
}
