package mapping

import (
	"encoding/binary"
	"encoding/json"
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
// [Latency.SetBins] makes. Otherwise it appends the number 0 and returns false.
func (b Bins) appendCompact(dst []byte, layout string) ([]byte, bool) {
	none := []byte{0}
	l, err := ParseLayout(layout)
	if err != nil || len(b.Values) == 0 || len(b.Values) != len(b.Counts) {
		return none, false
	}
	dst = binary.AppendUvarint(dst, uint64(len(b.Values)))
	middles, next := tableOf(l).middles, 0
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
func (d *Interval) UnmarshalCompact(b []byte) error {
	length, size := binary.Uvarint(b)
	if size <= 0 || length > uint64(len(b)-size) {
		return fmt.Errorf("read compact interval: length of JSON: %w", ErrBins)
	}
	text, b := b[size:size+int(length)], b[size+int(length):]
	n, size := binary.Uvarint(b)
	if size <= 0 || n > uint64(len(b)) {
		return fmt.Errorf("read compact interval: number of bins: %w", ErrBins)
	}
	if err := json.Unmarshal(text, d); err != nil {
		return fmt.Errorf("read compact interval: %w", err)
	}
	if n == 0 {
		return nil
	}
	l, err := ParseLayout(d.Latency.Layout)
	if err != nil {
		return fmt.Errorf("read compact interval: %w", err)
	}
	b = b[size:]
	bins := Bins{make([]float64, n), make([]int64, n)}
	middles, next := tableOf(l).middles, uint64(0) // next is the index after the bin before
	for i := range n {
		count, size := binary.Uvarint(b)
		between, more := uint64(0), 0
		if size > 0 && count%2 == 1 {
			if between, more = binary.Uvarint(b[size:]); more <= 0 {
				size = 0
			}
		}
		if size <= 0 || between >= uint64(len(middles)) || next+between >= uint64(len(middles)) {
			return fmt.Errorf("read compact interval: bin %d of %d: %w", i, n, ErrBins)
		}
		index := next + between
		bins.Values[i], bins.Counts[i] = middles[index], int64(count/2)
		b, next = b[size+more:], index+1
	}
	d.Latency.Bins = bins
	return nil
}

// indexOf returns the bin of a latency of v microseconds.
func indexOf(l hist.Layout, v float64) int { return l.Index(int64(math.Round(v * 1000))) }
