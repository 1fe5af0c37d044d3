package mapping

import (
	"reflect"
	"strconv"
	"sync"

	"github.com/fio2es/fio2es/hist"
)

// binTable is what stands in JSON for the bins of a layout. A histogram is nine tenths of a
// document, and its values are always the same few, middles of bins. So their texts are made
// once for each layout, and those of neighbours, as most bins are, copied at once: without
// that, to write documents of 300 bins takes an eighth longer, reading the logs included.
type binTable struct {
	values []float64 // the middles in microseconds
	text   []byte    // each of them with a comma
	starts []int     // in text, of each bin, and its end
}

// binTables are those that were needed so far: *binTable by hist.Layout.
var binTables sync.Map

func tableOf(l hist.Layout) *binTable {
	t, ok := binTables.Load(l)
	if !ok {
		t, _ = binTables.LoadOrStore(l, newBinTable(l))
	}
	return t.(*binTable)
}

func newBinTable(l hist.Layout) *binTable {
	t := &binTable{starts: []int{0}}
	for i := range l.Len() {
		middle := l.Middle(i) / 1000
		t.values = append(t.values, middle)
		t.text = append(appendFloat(t.text, middle), ',')
		t.starts = append(t.starts, len(t.text))
	}
	return t
}

// appendValues appends the middles of bins, a comma after each.
func appendValues(b []byte, layout string, values []float64) []byte {
	l, err := parseLayout(layout)
	if err != nil {
		for _, v := range values {
			b = append(appendFloat(b, v), ',')
		}
		return b
	}
	t := tableOf(l)
	for len(values) > 0 {
		first := indexOf(l, values[0])
		n := equal(t.values[first:], values)
		if n == 0 {
			b, n = append(appendFloat(b, values[0]), ','), 1
		} else {
			b = append(b, t.text[t.starts[first]:t.starts[first+n]]...)
		}
		values = values[n:]
	}
	return b
}

// equal is how many numbers are the same at the begin of both lists.
func equal(x, y []float64) int {
	n := min(len(x), len(y))
	for i := range n {
		if x[i] != y[i] {
			return i
		}
	}
	return n
}

func appendCounts(b []byte, counts []int64) []byte {
	for _, n := range counts {
		b = append(strconv.AppendInt(b, n, 10), ',')
	}
	return b
}

// append appends the object. One of averages has only their mean.
func (lat *Latency) append(b []byte) []byte {
	b = append(b, '{')
	if !lat.Bins.IsZero() {
		b = appendValues(append(b, `"histogram":{"values":[`...), lat.Layout, lat.Bins.Values)
		b = append(closeWith(b, ']'), `,"counts":[`...)
		b = appendCounts(b, lat.Bins.Counts)
		b = append(closeWith(b, ']'), '}', ',')
	}
	switch {
	case lat.IsZero():
	case lat.Layout == "" && lat.Bins.IsZero():
		b = append(appendFloat(append(b, `"mean":`...), lat.Mean), ',')
	default:
		b = membersOf(reflect.TypeFor[Latency]())[1:].append(b, reflect.ValueOf(lat).Elem()) // but for the histogram
	}
	return closeWith(b, '}')
}
