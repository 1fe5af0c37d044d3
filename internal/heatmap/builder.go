package heatmap

import (
	"math"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
)

// Builder adds up windows to the columns of a map. Windows may come in any order.
type Builder struct {
	limit   int
	longest int64   // longest window, in milliseconds
	open    float64 // OpenUS of the map
	columns *window.Columns[Column]
	bands   map[hist.Layout][]int
}

// spare is how many times the columns of the map are kept while more windows may come. With only 2, the map could
// end with half as many columns as it may have.
const spare = 8

// NewBuilder returns a builder of a map with at most this number of columns.
func NewBuilder(columns int) *Builder {
	return &Builder{limit: columns, columns: window.NewColumns(spare*columns, (*Column).merge), bands: map[hist.Layout][]int{}}
}

// Add adds a window and the histogram of its requests, whose counts must be whole.
func (b *Builder) Add(w *window.Window, requests *hist.Histogram) {
	if requests.IsEmpty() {
		return
	}
	layout := requests.Layout()
	if b.bands[layout] == nil {
		b.bands[layout] = bandsOf(layout)
	}
	c := b.columns.At(w.ElapsedMS)
	c.Span.Add(w)
	for i, n := range requests.All() {
		c.Counts[b.bands[layout][i]] += int64(n)
		if layout.Open(i) {
			low, _ := layout.Bounds(i)
			b.open = max(b.open, float64(low)/1000)
		}
	}
	c.Requests.Merge(requests)
	b.longest = max(b.longest, w.Length().Milliseconds())
}

// Map returns the map. The builder cannot be used afterwards.
func (b *Builder) Map() *Map {
	m := &Map{OpenUS: b.open}
	last := len(b.columns.All()) - 1
	if last < 0 {
		return m
	}
	slot := b.slot()
	total := slot.of(last) + slot.lasts(b.columns.All()[last])
	joined := (total + int64(b.limit) - 1) / int64(b.limit)
	b.columns.Group(func(i int) int64 { return slot.of(i) / joined })
	m.Width = time.Duration(slot.ms * float64(joined) * float64(time.Millisecond))
	m.Slots = int((total + joined - 1) / joined)
	m.place(b.columns)
	return m
}

// slots are the positions of columns on an even grid.
type slots struct {
	starts []int64
	ms     float64 // length of a slot
}

// slot returns the grid. Its step is that of the windows. If there are gaps between all windows, it is their length.
func (b *Builder) slot() slots {
	s := slots{b.columns.Starts(), float64(b.columns.Step())}
	width := float64(b.columns.Width())
	if len(s.starts) == 1 {
		s.ms = max(float64(b.longest), width)
	} else if b.longest > 0 {
		parts := math.Round(s.ms / float64(b.longest))
		s.ms /= min(max(parts, 1), s.ms/width)
	}
	return s
}

// of returns the slot of column i. Slots count from the second column, because a run may cut the first one.
func (s slots) of(i int) int64 {
	if i == 0 {
		return 0
	}
	apart := func(i, j int) int64 { return int64(math.Round(float64(s.starts[j]-s.starts[i]) / s.ms)) }
	return max(apart(0, 1), 1) + apart(1, i)
}

// lasts returns the length of a column in slots.
func (s slots) lasts(c *Column) int64 {
	return max(int64(math.Round(float64(c.Length().Milliseconds())/s.ms)), 1)
}
