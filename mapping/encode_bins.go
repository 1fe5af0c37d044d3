package mapping

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/fio2es/fio2es/hist"
)

// A histogram is nine tenths of a document, and its values are always the same few:
// middles of bins. So their texts are made once for each layout, one after another, and
// copied: of neighbours, as most bins are, all at once. So are those of small counts.

// binTable is what stands in JSON for the bins of a layout.
type binTable struct {
	layout hist.Layout
	values []float64 // the middles in microseconds
	text   []byte    // each of them with a comma, and block bytes of nothing
	starts []int32   // in text, of each bin and of what would come after the last
}

// block is what is copied of a few bins, however short they are: to look at the size would
// take longer.
const block = 64

const layouts = 7 // coarseness 0 … 6

// binTables make a table when it is asked for: fio 3's, then fio 2's, by coarseness.
var binTables = func() (makers [2 * layouts]func() *binTable) {
	for i := range makers {
		makers[i] = sync.OnceValue(func() *binTable {
			if i < layouts {
				return newBinTable(hist.Fio3(i))
			}
			return newBinTable(hist.Fio2(i - layouts))
		})
	}
	return makers
}()

// rareTables are the tables of layouts with other numbers of groups: *binTable by
// hist.Layout.
var rareTables sync.Map

func tableOf(l hist.Layout) *binTable {
	switch {
	case !l.IsUsual():
		t, ok := rareTables.Load(l)
		if !ok {
			t, _ = rareTables.LoadOrStore(l, newBinTable(l))
		}
		return t.(*binTable)
	case l.Fio2():
		return binTables[layouts+l.Coarseness()]()
	}
	return binTables[l.Coarseness()]()
}

func newBinTable(l hist.Layout) *binTable {
	t := &binTable{layout: l, values: make([]float64, l.Len()), starts: make([]int32, l.Len()+1)}
	for i := range t.values {
		t.values[i] = l.Middle(i) / 1000
		t.text = append(appendFloat(t.text, t.values[i]), ',')
		t.starts[i+1] = int32(len(t.text))
	}
	t.text = append(t.text, make([]byte, block)...)
	return t
}

// find is the bin whose middle is v, which is mostly one of those from next on.
func (t *binTable) find(v float64, next int) (int, bool) {
	for i := next; i < min(next+4, len(t.values)); i++ {
		if t.values[i] == v {
			return i, true
		}
	}
	i := t.layout.Index(int64(math.Round(v * 1000)))
	return i, t.values[i] == v
}

// end is the first bin after at that is not the next of values, of which the first is at's.
func (t *binTable) end(at int, values []float64) int {
	bins := t.values[at:]
	bins = bins[:min(len(bins), len(values))]
	for n, v := range bins {
		if values[n] != v {
			return at + n
		}
	}
	return at + len(bins)
}

// append appends the middles of the bins from … to-1, a comma after each.
func (t *binTable) append(b []byte, from, to int) []byte {
	start, end := t.starts[from], t.starts[to]
	if end-start > block {
		return append(b, t.text[start:end]...)
	}
	at := len(b)
	b = slices.Grow(b, block)
	copy(b[at:at+block], t.text[start:start+block])
	return b[:at+int(end-start)]
}

// appendValues appends the middles of bins, as appendFloat would write them.
func appendValues(b []byte, layout string, values []float64) []byte {
	l, err := parseLayout(layout)
	if err != nil {
		return appendFloats(b, values)
	}
	t, next := tableOf(l), 0
	b = append(b, '[')
	for len(values) > 0 {
		from, ok := t.find(values[0], next)
		if !ok {
			b = append(appendFloat(b, values[0]), ',')
			values = values[1:]
			continue
		}
		next = t.end(from, values)
		b = t.append(b, from, next)
		values = values[next-from:]
	}
	return closeList(b)
}

// closeList ends an array whose items have commas after them.
func closeList(b []byte) []byte {
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	return append(b, ']')
}

// numbers are the texts of 0 … 999 with a comma, in the low bytes, and their sizes in the
// high one; padded are the same with three digits each.
type numbers struct{ short, padded [1000]uint64 }

// smallNumbers are what nearly all counts are made of.
var smallNumbers = sync.OnceValue(func() *numbers {
	t := new(numbers)
	for n := range t.short {
		t.short[n] = word(append(strconv.AppendInt(nil, int64(n), 10), ','))
		t.padded[n] = word([]byte{byte('0' + n/100), byte('0' + n/10%10), byte('0' + n%10), ','})
	}
	return t
})

func word(text []byte) uint64 {
	var w [8]byte
	copy(w[:], text)
	w[7] = byte(len(text))
	return binary.LittleEndian.Uint64(w[:])
}

// widestWhole is as much as is written of a whole number, or beyond it.
const widestWhole = 24

// appendCounts appends whole numbers. It writes the small ones itself: with a call for each
// it takes twice as long.
func appendCounts(b []byte, counts []int64) []byte {
	t := smallNumbers()
	b = append(b, '[')
	at := len(b)
	for _, n := range counts {
		if cap(b)-at < widestWhole {
			b = slices.Grow(b[:at], 64*widestWhole)
		}
		b = b[:cap(b)]
		if uint64(n) < uint64(len(t.short)) {
			w := t.short[n]
			binary.LittleEndian.PutUint64(b[at:], w)
			at += int(w >> 56)
		} else {
			b = t.append(b[:at], n)
			at = len(b)
		}
	}
	return closeList(b[:at])
}

// append appends n and a comma.
func (t *numbers) append(b []byte, n int64) []byte {
	at := len(b)
	b = slices.Grow(b, widestWhole)
	room := b[at : at+widestWhole]
	switch {
	case uint64(n) < 1000:
		w := t.short[n]
		binary.LittleEndian.PutUint64(room, w)
		return b[:at+int(w>>56)]
	case uint64(n) < 1000_000:
		w := t.short[n/1000]
		size := int(w>>56) - 1 // without its comma
		binary.LittleEndian.PutUint64(room, w)
		binary.LittleEndian.PutUint64(room[size:], t.padded[n%1000])
		return b[:at+size+4]
	}
	return append(strconv.AppendInt(b, n, 10), ',')
}

// appendPadded appends three digits.
func (t *numbers) appendPadded(b []byte, n int64) []byte {
	at := len(b)
	b = slices.Grow(b, 8)
	binary.LittleEndian.PutUint64(b[at:at+8], t.padded[n])
	return b[:at+3]
}
