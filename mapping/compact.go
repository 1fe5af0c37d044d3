package mapping

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/fio2es/fio2es/hist"
)

// AppendCompact appends the document in a form for stores that only fio2es reads. It has a third of the size of the
// JSON, and decoding is several times faster:
//
//	length of the JSON, its bytes, number of bins, and for each bin
//	twice its count, plus 1 unless it follows the bin before,
//	and after that 1 the number of bins between the two
//
// All numbers are unsigned varints. The JSON is that of the document without the bins. If the values of a histogram
// are not the middles of its layout's bins, the histogram stays in the JSON.
func (d *Interval) AppendCompact(dst []byte) []byte {
	var few [1024]byte
	bins, ok := d.Latency.Bins.appendCompact(few[:0], d.Latency.Layout)
	if ok {
		bare := *d
		bare.Latency.Bins = Bins{}
		d = &bare
	}
	const room = binary.MaxVarintLen32 // room for the length, which is known only afterwards
	begin := len(dst)
	dst = d.AppendJSON(append(dst, make([]byte, room)...))
	var head [binary.MaxVarintLen64]byte
	size := binary.PutUvarint(head[:], uint64(len(dst)-begin-room))
	copy(dst[begin:], head[:size])
	return append(append(dst[:begin+size], dst[begin+room:]...), bins...)
}

// appendCompact appends the number of bins, and the bins. Indexes and counts must determine the bins, as in those that
// newBins makes. Otherwise it appends the number 0 and returns false.
func (b Bins) appendCompact(dst []byte, layout string) ([]byte, bool) {
	none := []byte{0}
	l, err := parseLayout(layout)
	if err != nil || len(b.Values) == 0 || len(b.Values) != len(b.Counts) {
		return none, false
	}
	dst = binary.AppendUvarint(dst, uint64(len(b.Values)))
	middles, next := tableOf(l).values, 0
	for i, v := range b.Values {
		index := next
		for index < len(middles) && middles[index] < v {
			index++
		}
		count := b.Counts[i]
		if index == len(middles) || middles[index] != v || count < 0 || count > math.MaxInt64/2 {
			return none, false
		}
		if index == next {
			dst = binary.AppendUvarint(dst, uint64(count)*2)
		} else {
			dst = binary.AppendUvarint(dst, uint64(count)*2+1)
			dst = binary.AppendUvarint(dst, uint64(index-next))
		}
		next = index + 1
	}
	return dst, true
}

// UnmarshalCompact decodes the form of AppendCompact. It fails for any other form.
func (d *Interval) UnmarshalCompact(b []byte) error { return d.unmarshalCompact(b, readBin) }

// UnmarshalOldCompact decodes the form of histories before version 6. A bin is the difference of its index from that of
// the bin before, and its count.
func (d *Interval) UnmarshalOldCompact(b []byte) error { return d.unmarshalCompact(b, readOldBin) }

// binReader reads a bin and returns the bytes after it. last is the index of the bin before, or -1 for the first bin.
// rest is nil if the bin is cut short.
type binReader func(b []byte, last uint64) (index, count uint64, rest []byte)

func readBin(b []byte, last uint64) (index, count uint64, rest []byte) {
	count, rest = readUvarint(b)
	between := uint64(0)
	if count%2 == 1 {
		between, rest = readUvarint(rest)
	}
	return last + 1 + between, count / 2, rest
}

func readOldBin(b []byte, last uint64) (index, count uint64, rest []byte) {
	gap, rest := readUvarint(b)
	count, rest = readUvarint(rest)
	if last == beforeFirst {
		last = 0
	}
	return last + gap, count, rest
}

func (d *Interval) unmarshalCompact(b []byte, read binReader) error {
	length, size := binary.Uvarint(b)
	if size <= 0 || length > uint64(len(b)-size) {
		return fmt.Errorf("read compact interval: length of JSON: %w", ErrBins)
	}
	text, b := b[size:size+int(length)], b[size+int(length):]
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)) {
		return fmt.Errorf("read compact interval: number of bins: %w", ErrBins)
	}
	if err := d.UnmarshalJSON(text); err != nil {
		return fmt.Errorf("read compact interval: %w", err)
	}
	if n == 0 {
		return nil
	}
	l, err := parseLayout(d.Latency.Layout)
	if err != nil {
		return fmt.Errorf("read compact interval: %w", err)
	}
	d.Latency.Bins, err = readCompact(b[size:], int(n), l, read)
	return err
}

// beforeFirst is one less than the first index.
const beforeFirst = math.MaxUint64

// readCompact reads n bins from the beginning of b.
func readCompact(b []byte, n int, l hist.Layout, read binReader) (Bins, error) {
	bins := Bins{make([]float64, n), make([]int64, n)}
	middles, last := tableOf(l).values, uint64(beforeFirst)
	for i := range n {
		index, count, rest := read(b, last)
		if rest == nil || index >= uint64(len(middles)) || last != beforeFirst && index <= last || count > math.MaxInt64 {
			return Bins{}, fmt.Errorf("read compact interval: bin %d of %d: %w", i, n, ErrBins)
		}
		bins.Values[i], bins.Counts[i] = middles[index], int64(count)
		b, last = rest, index
	}
	return bins, nil
}

// readUvarint reads a number and returns the bytes after it, or nil if the number is cut short.
func readUvarint(b []byte) (n uint64, rest []byte) {
	n, size := binary.Uvarint(b)
	if size <= 0 {
		return 0, nil
	}
	return n, b[size:]
}

// indexOf returns the bin of a latency of v microseconds.
func indexOf(l hist.Layout, v float64) int { return l.Index(int64(math.Round(v * 1000))) }
