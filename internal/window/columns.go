package window

import "slices"

// Columns puts windows into columns, as charts and comparisons need them: in order of time, and several windows in a
// column if there are many. So a run of any length takes bounded memory.
type Columns[C any] struct {
	// Origin is the time at which columns of several windows begin, and all multiples of their width before and after it.
	Origin int64

	most   int // columns
	merge  func(to, from *C)
	width  int64 // of a column; 1: a window each
	starts []int64
	list   []*C
}

// NewColumns makes at most the given number of columns, two or more. merge adds a later column to another.
func NewColumns[C any](most int, merge func(to, from *C)) *Columns[C] {
	return &Columns[C]{most: most, merge: merge, width: 1}
}

// All are the columns in order of time.
func (c *Columns[C]) All() []*C { return c.list }

// Starts are where the columns begin, in the unit of [Columns.At].
func (c *Columns[C]) Starts() []int64 { return c.starts }

// Width is that of the columns of several windows, and else 1.
func (c *Columns[C]) Width() int64 { return c.width }

// At is the column of a window that begins at a time, such as [Window.ElapsedMS], or at its number. A new column is
// the zero value. If there is no room for it, all columns become wider before.
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

// find is the place of a column, which is usually at the end.
func (c *Columns[C]) find(start int64) (i int, isThere bool) {
	i = len(c.starts)
	for i > 0 && c.starts[i-1] >= start {
		i--
	}
	return i, i < len(c.starts) && c.starts[i] == start
}

// start is where the column of a time begins.
func (c *Columns[C]) start(time int64) int64 {
	since := (time - c.Origin) % c.width
	if since < 0 {
		since += c.width
	}
	return time - since
}

// Step divides the distances between all columns. The first does not count, because a run may cut its first window.
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

// Widen makes columns so wide, which is a multiple of their width.
func (c *Columns[C]) Widen(width int64) {
	c.width = width
	c.Group(func(i int) int64 { return c.start(c.starts[i]) })
}

// Group gives columns new starts, in the same order, and merges those with the same start.
func (c *Columns[C]) Group(start func(i int) int64) {
	n := 0
	starts := make([]int64, 0, len(c.starts))
	for i := range c.list {
		at := start(i)
		if n > 0 && starts[n-1] == at {
			c.merge(c.list[n-1], c.list[i])
			continue
		}
		c.list[n] = c.list[i]
		starts = append(starts, at)
		n++
	}
	clear(c.list[n:])
	c.list, c.starts = c.list[:n], starts
}
