package export

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"

	"github.com/fio2es/fio2es/hist"
)

// The encodings of HdrHistogram, version 2. The 0x10 says that counts are of variable
// length; readers ignore it, but base64 begins with HISTFAAA everywhere.
const (
	hdrCookie           = 0x1c849303 | 0x10
	hdrCompressedCookie = 0x1c849304 | 0x10

	hdrDigits = 3
	hdrLowest = 1

	hdrHalfBits = 10 // 3 digits take 2048 slots to begin with, and half as many for each doubling
)

// hdrHighest is the highest value, in nanoseconds, that a histogram of a layout can have: the
// end of its last bin, but no less than that of fio as it is released.
func hdrHighest(l hist.Layout) uint64 { return uint64(max(l.Reach(), 1<<34)) - 1 }

// hdrSlot is the place of a value, and hdrBounds are the values of a slot: from low up to,
// and with, high. The first 2048 slots are of one value, and each further 1024 twice as
// wide as those before.
func hdrSlot(v uint64) int {
	shift := max(bits.Len64(v)-1-hdrHalfBits, 0)
	return shift<<hdrHalfBits + int(v>>shift)
}

func hdrBounds(slot int) (low, high uint64) {
	shift := max(slot>>hdrHalfBits-1, 0)
	low = uint64(slot-shift<<hdrHalfBits) << shift
	return low, low + 1<<shift - 1
}

// hdrEncoder makes payloads of log lines; it keeps its memory from one to the next.
type hdrEncoder struct {
	plain, text []byte
	packed      bytes.Buffer
	deflate     *zlib.Writer
}

// encode is the compressed histogram in base64, valid until the next call, and its highest value.
func (e *hdrEncoder) encode(h *hist.Histogram) (text []byte, highest uint64, err error) {
	e.plain, highest = appendHDR(e.plain[:0], h)
	e.packed.Reset()
	e.packed.Write(make([]byte, 8))
	if e.deflate == nil {
		e.deflate = zlib.NewWriter(&e.packed)
	} else {
		e.deflate.Reset(&e.packed)
	}
	_, err = e.deflate.Write(e.plain)
	if err := errors.Join(err, e.deflate.Close()); err != nil {
		return nil, 0, err
	}
	packed := e.packed.Bytes()
	binary.BigEndian.PutUint32(packed, hdrCompressedCookie)
	binary.BigEndian.PutUint32(packed[4:], uint32(len(packed)-8))
	e.text = base64.StdEncoding.AppendEncode(e.text[:0], packed)
	return e.text, highest, nil
}

// appendHDR appends the histogram before it is compressed: a head, and the counts of all
// slots up to the last that is not empty.
func appendHDR(dst []byte, h *hist.Histogram) (_ []byte, highest uint64) {
	order := binary.BigEndian
	dst = order.AppendUint32(dst, hdrCookie)
	dst = order.AppendUint32(dst, 0) // length of the counts, which is known below
	dst = order.AppendUint32(dst, 0) // offset of the first slot
	dst = order.AppendUint32(dst, hdrDigits)
	dst = order.AppendUint64(dst, hdrLowest)
	dst = order.AppendUint64(dst, hdrHighest(h.Layout()))
	dst = order.AppendUint64(dst, math.Float64bits(1)) // what values are multiplied with
	head, next := len(dst), 0
	layout := h.Layout()
	for i, n := range h.All() {
		count := int64(math.Round(n))
		if count == 0 {
			continue
		}
		slot := hdrSlot(uint64(layout.Middle(i)))
		if zeros := slot - next; zeros > 0 { // they stand as their number, negative
			dst = binary.AppendVarint(dst, -int64(zeros))
		}
		// Readers' ninth byte is not that of Go's varints; hist.MaxCount takes eight.
		dst = binary.AppendVarint(dst, count)
		next = slot + 1
		_, highest = hdrBounds(slot)
	}
	order.PutUint32(dst[4:], uint32(len(dst)-head))
	return dst, highest
}
