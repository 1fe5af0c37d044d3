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

// Cookies of HdrHistogram's encodings, version 2. 0x10 says that counts have a variable length. Readers ignore it,
// but with it base64 begins with HISTFAAA as in other implementations.
const (
	hdrCookie           = 0x1c849303 | 0x10
	hdrCompressedCookie = 0x1c849304 | 0x10

	hdrDigits = 3
	hdrLowest = 1

	hdrHalfBits = 10 // 3 digits need 2048 slots for the first values, and half as many for each further power of two
)

// hdrHighest returns the highest value of histograms with a layout, in nanoseconds: the end of its last bin, but at
// least that of released versions of fio.
func hdrHighest(l hist.Layout) uint64 { return uint64(max(l.Reach(), 1<<34)) - 1 }

// hdrSlot returns the slot of a value, and hdrBounds the lowest and the highest value of a slot. Each of the first
// 2048 slots has one value. Each further 1024 slots are twice as wide as those before.
func hdrSlot(v uint64) int {
	shift := max(bits.Len64(v)-1-hdrHalfBits, 0)
	return shift<<hdrHalfBits + int(v>>shift)
}

func hdrBounds(slot int) (low, high uint64) {
	shift := max(slot>>hdrHalfBits-1, 0)
	low = uint64(slot-shift<<hdrHalfBits) << shift
	return low, low + 1<<shift - 1
}

// hdrEncoder encodes histograms. It reuses its memory.
type hdrEncoder struct {
	plain, text []byte
	packed      bytes.Buffer
	deflate     *zlib.Writer
}

// encode returns the compressed histogram in base64, which is valid until the next call, and its highest value.
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

// appendHDR appends the histogram without compression: a header, and the counts of all slots up to the last one that
// is not empty.
func appendHDR(dst []byte, h *hist.Histogram) (_ []byte, highest uint64) {
	order := binary.BigEndian
	dst = order.AppendUint32(dst, hdrCookie)
	dst = order.AppendUint32(dst, 0) // length of the counts, set below
	dst = order.AppendUint32(dst, 0) // offset of the first slot
	dst = order.AppendUint32(dst, hdrDigits)
	dst = order.AppendUint64(dst, hdrLowest)
	dst = order.AppendUint64(dst, hdrHighest(h.Layout()))
	dst = order.AppendUint64(dst, math.Float64bits(1)) // factor for values
	head, next := len(dst), 0
	layout := h.Layout()
	for i, n := range h.All() {
		count := int64(math.Round(n))
		if count == 0 {
			continue
		}
		slot := hdrSlot(uint64(layout.Middle(i)))
		if zeros := slot - next; zeros > 0 { // a run of zeros is written as its length, negative
			dst = binary.AppendVarint(dst, -int64(zeros))
		}
		// HdrHistogram's ninth byte differs from Go's varints. hist.MaxCount needs at most eight bytes.
		dst = binary.AppendVarint(dst, count)
		next = slot + 1
		_, highest = hdrBounds(slot)
	}
	order.PutUint32(dst[4:], uint32(len(dst)-head))
	return dst, highest
}
