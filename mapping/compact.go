package mapping

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/fio2es/fio2es/hist"
)

// Common returns what the document has in common with other windows of its series, which stores that only fio2es reads keep once. It
// is the document without what [Interval.AppendCompact] writes.
func (d *Interval) Common() *Interval {
	c := *d
	c.Time, c.Part, c.Window, c.Latency, c.Bounds = time.Time{}, 0, Window{}, Latency{Layout: d.Latency.Layout}, nil
	c.Requests, c.IOPS, c.Bandwidth, c.DocCount = Requests{}, 0, 0, 0
	return &c
}

// What may be in the compact form, in its first byte.
const (
	withBounds  = 1 << iota
	withIndexes // bins by their indexes; else their values
	isExact
)

// AppendCompact appends what the document does not have in common with its series ([Interval.Common]), in a form for stores that
// only fio2es reads: a byte that says what there is, and then numbers in the order of the code. It has a tenth of the size of the JSON,
// and decoding is many times faster. Bins are their number, and for each bin
//
//	twice its count, plus 1 unless it follows the bin before,
//	and after that 1 the number of bins between the two
//
// Whole numbers are varints. Others are a varint of twice a multiple of the least step that they usually have, or 1 and their bits.
func (d *Interval) AppendCompact(dst []byte) []byte {
	lat, w := &d.Latency, &d.Window
	var few [1024]byte
	bins, ok := lat.Bins.appendCompact(few[:0], lat.Layout)
	what := byte(0)
	if ok {
		what |= withIndexes
	}
	if d.Bounds != nil {
		what |= withBounds
	}
	if lat.Exact {
		what |= isExact
	}
	at := d.Time.UnixMilli()
	since, length := at-d.Run.Start.UnixMilli(), w.End.UnixMilli()-at
	dst = append(dst, what)
	for _, n := range [...]int64{since, length, int64(d.Part), w.MS - length, w.ElapsedMS - since, w.FromMS, w.ToMS, d.Requests.Completed, d.DocCount} {
		dst = binary.AppendVarint(dst, n)
	}
	d.eachNumber(func(x *float64, steps float64) { dst = appendNumber(dst, *x, steps) })
	if !ok {
		dst = binary.AppendUvarint(dst, uint64(len(lat.Bins.Values)))
		for _, v := range lat.Bins.Values {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v))
		}
		dst = binary.AppendUvarint(dst, uint64(len(lat.Bins.Counts)))
		for _, n := range lat.Bins.Counts {
			dst = binary.AppendVarint(dst, n)
		}
	}
	return append(dst, bins...)
}

// eachNumber calls do with the numbers of the compact form that need not be whole, and how many of their least steps are 1.
func (d *Interval) eachNumber(do func(x *float64, steps float64)) {
	const ns, whole = 1000, 1 // of a microsecond
	for _, us := range d.Latency.figures() {
		do(us, ns)
	}
	do(&d.Latency.StdDev, ns)
	do(&d.Window.Fastest, ns)
	do(&d.Window.Slowest, ns)
	do(&d.Requests.Weight, 1e6)
	do(&d.IOPS, 1e3)
	do(&d.Bandwidth, whole)
	if d.Bounds == nil {
		return
	}
	do(&d.Bounds.Confidence, 1e3)
	for _, b := range d.Bounds.all() {
		do(&b.Low, ns)
		do(&b.High, ns)
	}
}

func appendNumber(dst []byte, x, steps float64) []byte {
	if n := math.Round(x * steps); n >= 0 && n < 1<<53 && n/steps == x {
		return binary.AppendUvarint(dst, uint64(n)*2)
	}
	return binary.LittleEndian.AppendUint64(append(dst, 1), math.Float64bits(x))
}

// appendCompact appends the number of bins, and the bins. Indexes and counts must determine the bins, as in those that
// [Latency.SetBins] makes. Otherwise it returns nothing and false.
func (b Bins) appendCompact(dst []byte, layout string) ([]byte, bool) {
	l, err := ParseLayout(layout)
	if err != nil || len(b.Values) == 0 || len(b.Values) != len(b.Counts) {
		return nil, false
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
			return nil, false
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

// UnmarshalCompact decodes the form of [Interval.AppendCompact] into d, a copy of what the document has in common with its series.
func (d *Interval) UnmarshalCompact(b []byte) error {
	r := reader{left: b}
	what := r.bytes(1)[0]
	lat, w := &d.Latency, &d.Window
	since, length := r.int(), r.int()
	d.Time = time.UnixMilli(d.Run.Start.UnixMilli() + since).UTC()
	w.End = time.UnixMilli(d.Run.Start.UnixMilli() + since + length).UTC()
	d.Part, w.MS, w.ElapsedMS = int(r.int()), r.int()+length, r.int()+since
	w.FromMS, w.ToMS, d.Requests.Completed, d.DocCount = r.int(), r.int(), r.int(), r.int()
	if lat.Exact = what&isExact != 0; what&withBounds != 0 {
		d.Bounds = new(Bounds)
	}
	d.eachNumber(func(x *float64, steps float64) { *x = r.number(steps) })
	if what&withIndexes != 0 {
		return r.bins(lat)
	}
	if n := r.length(8); n > 0 {
		lat.Bins.Values = make([]float64, n)
		for i := range lat.Bins.Values {
			lat.Bins.Values[i] = math.Float64frombits(binary.LittleEndian.Uint64(r.bytes(8)))
		}
	}
	if n := r.length(1); n > 0 {
		lat.Bins.Counts = make([]int64, n)
		for i := range lat.Bins.Counts {
			lat.Bins.Counts[i] = r.int()
		}
	}
	return r.err("ends too early")
}

// UnmarshalVersion1 decodes the form of a document in histories of version 1: the length of its JSON without bins, the JSON, and the
// bins as in [Interval.AppendCompact]; 0 bins if the JSON has them.
func (d *Interval) UnmarshalVersion1(b []byte) error {
	r := reader{left: b}
	text := r.bytes(r.length(1))
	if err := r.err("length of JSON"); err != nil {
		return err
	}
	if err := json.Unmarshal(text, d); err != nil {
		return fmt.Errorf("read compact interval: %w", err)
	}
	if len(r.left) == 1 && r.left[0] == 0 {
		return nil
	}
	return r.bins(&d.Latency)
}

// reader reads the compact form. After its end there are zeros.
type reader struct {
	left  []byte
	short bool // it has ended too early
}

func (r *reader) err(what string) error {
	if r.short {
		return fmt.Errorf("read compact interval: %s: %w", what, ErrBins)
	}
	return nil
}

// bytes returns n bytes.
func (r *reader) bytes(n int) (b []byte) {
	if n > len(r.left) {
		r.left, r.short = nil, true
		return make([]byte, n)
	}
	b, r.left = r.left[:n], r.left[n:]
	return b
}

func (r *reader) uint() uint64 {
	x, size := binary.Uvarint(r.left)
	if size <= 0 {
		r.left, r.short = nil, true
		return 0
	}
	r.left = r.left[size:]
	return x
}

func (r *reader) int() int64 {
	x := r.uint()
	return int64(x>>1) ^ -int64(x&1)
}

func (r *reader) number(steps float64) float64 {
	if n := r.uint(); n != 1 {
		return float64(n/2) / steps
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(r.bytes(8)))
}

// length returns the length of a list whose items have at least size bytes.
func (r *reader) length(size int) int {
	n := r.uint()
	if n > uint64(len(r.left)/size) {
		r.left, r.short = nil, true
		return 0
	}
	return int(n)
}

// bins reads the bins of a latency, whose layout is known.
func (r *reader) bins(lat *Latency) error {
	l, err := ParseLayout(lat.Layout)
	if err != nil {
		return fmt.Errorf("read compact interval: %w", err)
	}
	n := r.length(1)
	bins := Bins{make([]float64, n), make([]int64, n)}
	middles, next := tableOf(l).middles, uint64(0) // next is the index after the bin before
	for i := range n {
		count, between := r.uint(), uint64(0)
		if count%2 == 1 {
			between = r.uint()
		}
		if r.short || between >= uint64(len(middles)) || next+between >= uint64(len(middles)) {
			return fmt.Errorf("read compact interval: bin %d of %d: %w", i, n, ErrBins)
		}
		index := next + between
		bins.Values[i], bins.Counts[i], next = middles[index], int64(count/2), index+1
	}
	lat.Bins = bins
	return r.err("number of bins")
}

// indexOf returns the bin of a latency of v microseconds.
func indexOf(l hist.Layout, v float64) int { return l.Index(int64(math.Round(v * 1000))) }
