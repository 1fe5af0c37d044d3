package heatmap

import (
	"math"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/window"
)

// Builder adds windows up into columns. If there are more than spare times the columns of the map, it joins
// neighbours. The order of windows does not matter.
type Builder struct {
	limit   int
	unit    int64   // milliseconds of nominal time in a key
	longest int64   // window, milliseconds
	open    float64 // as in Map
	columns []*building
	bands   map[hist.Layout][]int
}

// spare is how many columns there are for each of the map's while more windows may come. With 2, as many windows as
// fit could end in half as many columns.
const spare = 8

// building is a column under construction, and its place.
type building struct {
	key int64
	Column
}

// NewBuilder makes a map of at most so many columns.
func NewBuilder(columns int) *Builder {
	return &Builder{limit: columns, unit: 1, bands: map[hist.Layout][]int{}}
}

// Add adds a window and the histogram of its requests, whose counts are whole.
func (b *Builder) Add(w *window.Window, requests *hist.Histogram) {
	if requests.IsEmpty() {
		return
	}
	layout := requests.Layout()
	if b.bands[layout] == nil {
		b.bands[layout] = bandsOf(layout)
	}
	one := Column{Start: w.Start, End: w.End}
	for i, n := range requests.All() {
		one.Counts[b.bands[layout][i]] += int64(n)
		if layout.Open(i) {
			low, _ := layout.Bounds(i)
			b.open = max(b.open, float64(low)/1000)
		}
	}
	b.longest = max(b.longest, w.End.Sub(w.Start).Milliseconds())
	c := b.at(w.ElapsedMS / b.unit)
	c.add(&one, requests)
	for len(b.columns) > spare*b.limit {
		b.join()
	}
}

// at is the column of a key, which is usually the last one.
func (b *Builder) at(key int64) *building {
	i := len(b.columns)
	for i > 0 && b.columns[i-1].key >= key {
		i--
	}
	if i == len(b.columns) || b.columns[i].key != key {
		b.columns = slices.Insert(b.columns, i, &building{key: key})
	}
	return b.columns[i]
}

// join makes columns twice as long.
func (b *Builder) join() {
	factor := 2 * b.step()
	b.unit *= factor
	b.regroup(func(_ int, c *building) int64 { return c.key / factor })
}

// regroup gives columns new keys, in the same order, and adds up those with the same key.
func (b *Builder) regroup(key func(i int, c *building) int64) {
	kept := b.columns[:0]
	for i, c := range b.columns {
		k := key(i, c)
		if n := len(kept); n > 0 && kept[n-1].key == k {
			kept[n-1].add(&c.Column, &c.Requests)
			continue
		}
		c.key = k
		kept = append(kept, c)
	}
	clear(b.columns[len(kept):])
	b.columns = kept
}

// step divides the distances between all keys. The first key does not count, because a run may cut its first window.
func (b *Builder) step() int64 {
	step := int64(0)
	for i := len(b.columns) - 1; i > 1 || i == 1 && step == 0; i-- {
		step = gcd(step, b.columns[i].key-b.columns[i-1].key)
	}
	return max(step, 1)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Map ends the map. The builder cannot be used afterwards.
func (b *Builder) Map() *Map {
	m := &Map{OpenUS: b.open}
	if len(b.columns) == 0 {
		return m
	}
	slot, last := b.slot(), len(b.columns)-1
	total := slot.of(last) + slot.lasts(&b.columns[last].Column)
	joined := (total + int64(b.limit) - 1) / int64(b.limit)
	b.regroup(func(i int, _ *building) int64 { return slot.of(i) / joined })
	m.Width = time.Duration(slot.ms * float64(joined) * float64(time.Millisecond))
	m.Slots = int((total + joined - 1) / joined)
	m.place(b.columns)
	return m
}

// slots are the places of columns on an even grid.
type slots struct {
	keys []int64
	step float64 // keys in a slot
	ms   float64 // the same in milliseconds
}

// slot finds the grid: its step is that of the windows. If all windows have gaps between them, it is their length.
func (b *Builder) slot() slots {
	s := slots{step: float64(b.step())}
	for _, c := range b.columns {
		s.keys = append(s.keys, c.key)
	}
	if len(s.keys) == 1 {
		s.step = max(float64(b.longest)/float64(b.unit), 1)
	} else if b.longest > 0 {
		parts := math.Round(s.step * float64(b.unit) / float64(b.longest))
		s.step /= min(max(parts, 1), s.step)
	}
	s.ms = s.step * float64(b.unit)
	return s
}

// of is the slot of a column. Slots count from the second column, because a run may cut the first one.
func (s slots) of(i int) int64 {
	if i == 0 {
		return 0
	}
	apart := func(i, j int) int64 { return int64(math.Round(float64(s.keys[j]-s.keys[i]) / s.step)) }
	return max(apart(0, 1), 1) + apart(1, i)
}

// lasts is the length of a column in slots.
func (s slots) lasts(c *Column) int64 {
	return max(int64(math.Round(float64(c.End.Sub(c.Start).Milliseconds())/s.ms)), 1)
}
