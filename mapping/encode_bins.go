package mapping

import (
	"math"
	"strconv"
	"sync"

	"github.com/fio2es/fio2es/hist"
)

// A histogram is nine tenths of a document, and its values are always the same few:
// middles of bins. So their texts are made once for each layout and copied, and so are
// those of small counts.

// binText is a number and a comma.
type binText struct {
	text [15]byte
	size uint8
}

// binTable is what stands in JSON for the bins of a layout.
type binTable struct {
	layout hist.Layout
	values []float64 // the middles in microseconds
	texts  []binText
}

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

func tableOf(l hist.Layout) *binTable {
	if l.Fio2() {
		return binTables[layouts+l.Coarseness()]()
	}
	return binTables[l.Coarseness()]()
}

func newBinTable(l hist.Layout) *binTable {
	t := &binTable{layout: l, values: make([]float64, l.Len()), texts: make([]binText, l.Len())}
	for i := range t.values {
		t.values[i] = l.Middle(i) / 1000
		t.texts[i] = newBinText(appendFloat(nil, t.values[i]))
	}
	return t
}

func newBinText(number []byte) binText {
	if number = append(number, ','); len(number) > len(binText{}.text) {
		panic("mapping: the text of a bin's middle has no room: " + string(number))
	}
	b := binText{size: uint8(len(number))}
	copy(b.text[:], number)
	return b
}

// find is the bin whose middle is v. Bins come in order, so it is mostly one of the next.
func (t *binTable) find(v float64, next int) (int, bool) {
	for i := next; i < min(next+3, len(t.values)); i++ {
		if t.values[i] == v {
			return i, true
		}
	}
	i := t.layout.Index(int64(math.Round(v * 1000)))
	return i, t.values[i] == v
}

// smallCounts are the texts of the counts that most bins have.
var smallCounts = sync.OnceValue(func() *[1000]binText {
	var counts [1000]binText
	for n := range counts {
		counts[n] = newBinText(strconv.AppendInt(nil, int64(n), 10))
	}
	return &counts
})

// appendText copies the whole of t, which takes no longer, and leaves out the rest. b
// must have room.
func appendText(b []byte, t *binText) []byte {
	n := len(b)
	*(*[15]byte)(b[n : n+15]) = t.text
	return b[:n+int(t.size)]
}

// grow makes room for any whole number, or a bin's middle, and a comma.
func grow(b []byte) []byte {
	const room = 32
	if cap(b)-len(b) < room {
		b = append(b, make([]byte, room)...)[:len(b)]
	}
	return b
}

// closeList ends an array whose items have commas after them.
func closeList(b []byte) []byte {
	if b[len(b)-1] == ',' {
		b = b[:len(b)-1]
	}
	return append(b, ']')
}

// appendValues appends the middles of bins, as appendFloat would write them.
func appendValues(b []byte, layout string, values []float64) []byte {
	l, err := parseLayout(layout)
	if err != nil {
		return appendFloats(b, values)
	}
	t, next := tableOf(l), 0
	b = append(b, '[')
	for _, v := range values {
		at, ok := t.find(v, next)
		if !ok {
			b = append(appendFloat(b, v), ',')
			continue
		}
		b, next = appendText(grow(b), &t.texts[at]), at
	}
	return closeList(b)
}

func appendCounts(b []byte, counts []int64) []byte {
	small := smallCounts()
	b = append(b, '[')
	for _, n := range counts {
		b = appendCount(b, n, small)
	}
	return closeList(b)
}

func appendCount(b []byte, n int64, small *[1000]binText) []byte {
	b = grow(b)
	if n >= 0 && n < int64(len(small)) {
		return appendText(b, &small[n])
	}
	return append(strconv.AppendInt(b, n, 10), ',')
}
