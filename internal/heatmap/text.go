package heatmap

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/unit"
)

// Text says how a map is drawn with characters.
type Text struct {
	Columns, Lines int  // most columns and lines of cells
	Colour         bool // with 256 colours; otherwise with shades
	IsSmall        bool // without the lines that explain cells and shades
}

// MarginWidth is the width of the latencies and totals beside the cells.
const MarginWidth = 9 + 16

// Grounds are indices of the 256 colours of terminals, lighter for more requests. All are visible on black and on white.
var Grounds = []int{25, 62, 98, 169, 203, 209, 214, 221}

// Shades are characters, darker for more requests, for terminals without colours.
var Shades = []rune("░▒▓█")

// canvas is a map drawn with lines of characters.
type canvas struct {
	*Map
	how   Text
	bands int // bands of the map in a row
	rows  int // rows in a line: 2 with colours, as half blocks
	area  int // characters of all slots
	first int // band of the lowest row
	cells [][]int64
	scale scale
	most  int64 // most requests in a cell
}

// WriteText draws the map, with latencies on the left, the totals of lines on the right, and times below.
func (m *Map) WriteText(w io.Writer, t Text) error {
	c := m.canvas(t)
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%7s%*s\n", "LATENCY", c.area+2+unitsWidth, "REQUESTS")
	for line := (len(c.cells)+c.rows-1)/c.rows - 1; line >= 0; line-- {
		total := int64(0)
		for row := line * c.rows; row < min((line+1)*c.rows, len(c.cells)); row++ {
			for _, n := range c.cells[row] {
				total += n
			}
		}
		bound := (c.first + line*c.rows) * c.bands
		isTop := c.OpenUS > 0 && bound <= c.High-1 && c.High-1 < bound+c.rows*c.bands
		fmt.Fprintf(out, "%7s  %s%*s\n", unit.OrMore(unit.Latency(Bound(bound)), isTop), c.line(line), unitsWidth, unit.Count(total))
	}
	fmt.Fprintf(out, "%9s%s\n", "", c.times())
	if !t.IsSmall {
		for _, line := range c.legend() {
			fmt.Fprintf(out, "%9s%s\n", "", line)
		}
	}
	return out.Flush()
}

const unitsWidth = MarginWidth - 9

// canvas chooses the finest rows that fit, and half blocks only where whole ones do not.
func (m *Map) canvas(t Text) *canvas {
	const widest = 8
	c := &canvas{Map: m, how: t, area: max(min(t.Columns, m.Slots*widest), m.Slots)}
	levels, halves := len(Shades), 1
	if t.Colour {
		levels, halves = len(Grounds), 2
	}
	for fits, sizes := false, []int{1, 2, 4, 5, 10, 20}; !fits && len(sizes) > 0; sizes = sizes[1:] {
		c.bands = sizes[0]
		for c.rows = 1; ; c.rows++ {
			c.first = m.Low / c.bands / c.rows * c.rows
			fits = ((m.High-1)/c.bands-c.first)/c.rows < t.Lines
			if fits || c.rows == halves {
				break
			}
		}
	}
	c.cells = make([][]int64, (m.High-1)/c.bands-c.first+1)
	most := int64(0)
	for row := range c.cells {
		c.cells[row] = make([]int64, len(m.Columns))
		for i := range m.Columns {
			for band := (c.first + row) * c.bands; band < min((c.first+row+1)*c.bands, bands); band++ {
				c.cells[row][i] += m.Columns[i].Counts[band]
			}
			most = max(most, c.cells[row][i])
		}
	}
	c.scale, c.most = newScale(most, levels), most
	return c
}

func (c *canvas) line(line int) string {
	var b strings.Builder
	slot := 0
	for i, column := range c.Columns {
		b.WriteString(strings.Repeat(" ", c.x(column.First)-c.x(slot)))
		wide := c.x(column.Last) - c.x(column.First)
		short := max(int(math.Round(float64(column.End.Sub(column.Start))/float64(c.Width)*float64(c.area)/float64(c.Slots))), 1)
		if i == len(c.Columns)-1 && short < wide {
			b.WriteString(c.cell(line, i, short) + strings.Repeat(" ", wide-short))
		} else {
			b.WriteString(c.cell(line, i, wide))
		}
		slot = column.Last
	}
	b.WriteString(strings.Repeat(" ", c.area-c.x(slot)))
	return b.String()
}

// x returns the character at which a slot begins.
func (c *canvas) x(slot int) int { return slot * c.area / c.Slots }

func (c *canvas) level(column int, n int64) int {
	return c.scale.level(min(c.shownAs(&c.Columns[column], n), c.most))
}

// cell draws a cell, or two cells one above the other.
func (c *canvas) cell(line, column, wide int) string {
	if c.rows == 1 {
		n := c.cells[line][column]
		switch {
		case n == 0:
			return strings.Repeat(" ", wide)
		case c.how.Colour:
			return fmt.Sprintf("\x1b[38;5;%dm%s\x1b[0m", Grounds[c.level(column, n)], strings.Repeat("█", wide))
		}
		return strings.Repeat(string(Shades[c.level(column, n)]), wide)
	}
	below, above := c.cells[2*line][column], int64(0)
	if 2*line+1 < len(c.cells) {
		above = c.cells[2*line+1][column]
	}
	ground := func(n int64) int { return Grounds[c.level(column, n)] }
	switch {
	case above == 0 && below == 0:
		return strings.Repeat(" ", wide)
	case above == 0:
		return fmt.Sprintf("\x1b[38;5;%dm%s\x1b[0m", ground(below), strings.Repeat("▄", wide))
	case below == 0:
		return fmt.Sprintf("\x1b[38;5;%dm%s\x1b[0m", ground(above), strings.Repeat("▀", wide))
	}
	return fmt.Sprintf("\x1b[38;5;%d;48;5;%dm%s\x1b[0m", ground(above), ground(below), strings.Repeat("▀", wide))
}

// times returns the labels below the cells. Each begins at the column of its time. If no round time fits, the label
// is the start of the map.
func (c *canvas) times() string {
	area := c.area
	text := []rune(strings.Repeat(" ", area+unitsWidth))
	free := 0
	put := func(at int, label string) {
		mark := []rune("╵" + label)
		if at >= free && at < area && at+len(mark) <= len(text) {
			free = at + copy(text[at:], mark) + 1
		}
	}
	for _, t := range chart.Ticks(c.Origin, c.Origin.Add(time.Duration(c.Slots)*c.Width), area/10) {
		put(int(t.At*float64(area)+0.001), t.Label)
	}
	if free == 0 {
		put(0, chart.Label(c.Origin, time.Millisecond, c.Origin))
	}
	return strings.TrimRight(string(text), " ")
}

// legend explains the size of a cell and the shades, in two lines if the map is too narrow for one.
func (c *canvas) legend() []string {
	cells := fmt.Sprintf("cells of %s by 1/%d of a power of ten", unit.Short(c.Width.Round(time.Millisecond)), BandsPerDecade/c.bands)
	marks, width := make([]string, 0, len(c.scale)), 0
	for level := range c.scale {
		if !c.scale.has(level) {
			continue
		}
		mark, n := string(Shades[min(level, len(Shades)-1)]), unit.Count(c.scale[level])
		if c.how.Colour {
			mark = fmt.Sprintf("\x1b[38;5;%dm█\x1b[0m", Grounds[level])
		}
		marks, width = append(marks, mark+" "+n), width+3+len(n) // " █ " has three characters
	}
	shown := strings.Join(marks, " ") + " or more requests"
	if len(cells)+len(":")+width+len(" or more requests") > c.how.Columns+unitsWidth {
		return []string{cells, shown}
	}
	return []string{cells + ": " + shown}
}
