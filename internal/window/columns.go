package window

import "slices"

// Columns puts windows into columns, as charts and comparisons need them: in order of time, and with several windows
// in a column if there are many. So a run of any length needs bounded memory.
type Columns[C any] struct {
	// Origin is a time at which a column begins if columns have several windows. The others begin multiples of their
	// width before or after it.
	Origin int64

	most   int // most columns
	merge  func(to, from *C)
	width  int64 // width of a column; 1: each window has its own column
	starts []int64
	list   []*C
}

// NewColumns returns at most most columns, two or more. merge adds a later column to an earlier one.
func NewColumns[C any](most int, merge func(to, from *C)) *Columns[C] {
	return &Columns[C]{most: most, merge: merge, width: 1}
}

// All returns the columns in order of time.
func (c *Columns[C]) All() []*C { return c.list }

// Starts returns where the columns begin, in the unit of [Columns.At].
func (c *Columns[C]) Starts() []int64 { return c.starts }

// Width returns the width of columns of several windows, or 1 if each window has its own column.
func (c *Columns[C]) Width() int64 { return c.width }

// At returns the column of a window. time is the start of the window, such as [Window.ElapsedMS], or its number. A
// new column is the zero value. If there are too many columns, At makes all columns wider before.
func (c *Columns[C]) At(time int64) *C {
	i, isThere := c.find(c.start(time))
	for !isThere && len(c.list) == c.most {
		c.Widen(2 * max(c.width, c.Step()))
		i, isThere = c.find(c.start(time))
	}
	if !isThere {
		c.starts = slices.Insert(c.starts, i, c.start(time))
		c.list = slices.Insert(c.list, i, new(C))
	}
	return c.list[i]
}

// find returns the index of a column, which is usually at the end.
func (c *Columns[C]) find(start int64) (i int, isThere bool) {
	i = len(c.starts)
	for i > 0 && c.starts[i-1] >= start {
		i--
	}
	return i, i < len(c.starts) && c.starts[i] == start
}

func (c *Columns[C]) start(time int64) int64 {
	since := (time - c.Origin) % c.width
	if since < 0 {
		since += c.width
	}
	return time - since
}

// Step returns the greatest common divisor of the distances between columns. The first distance does not count,
// because a run may cut its first window.
func (c *Columns[C]) Step() int64 {
	step := int64(0)
	for i := len(c.starts) - 1; i > 1 || i == 1 && step == 0; i-- {
		step = gcd(step, c.starts[i]-c.starts[i-1])
	}
	return max(step, 1)
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Widen makes all columns this wide. width must be a multiple of their present width. Columns that now begin together become
// one.
func (c *Columns[C]) Widen(width int64) {
	c.width = width
	n := 0
	for i, column := range c.list {
		at := c.start(c.starts[i])
		if n > 0 && c.starts[n-1] == at {
			c.merge(c.list[n-1], column)
			continue
		}
		c.starts[n], c.list[n] = at, column
		n++
	}
	clear(c.list[n:])
	c.list, c.starts = c.list[:n], c.starts[:n]
}
