// Package term writes for people at a terminal: tables, log lines, and a line of progress.
// What is in them is the caller's. Names from archives and answers of servers are in them,
// too, so all text is cleaned of what a terminal would act on (see Clean).
package term

import (
	"bufio"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// Table is rows of text under a header. Columns of numbers are aligned to the right.
type Table struct {
	header []string
	right  []bool
	rows   [][]string
	width  []int // of the columns; 0 is one that has nothing in any row so far
	shown  int   // columns under the last header
	cut    []string
	drop   []string
}

// gap is between columns.
const gap = "  "

// NewTable makes a table of so many columns; a header that begins with ">" is that of
// a column of numbers.
func NewTable(header ...string) *Table {
	t := &Table{}
	for _, h := range header {
		name, right := strings.CutPrefix(h, ">")
		t.header, t.right = append(t.header, name), append(t.right, right)
	}
	return t
}

// Add adds a row; cells that are missing are empty. Each cell is cleaned.
func (t *Table) Add(cells ...string) {
	row := make([]string, len(cells))
	for i, cell := range cells {
		row[i] = Clean(cell)
	}
	t.rows = append(t.rows, row)
}

// Rows is how many rows there are that are not written yet.
func (t *Table) Rows() int { return len(t.rows) }

// Write writes the rows, without columns that have nothing in any row, and forgets them.
// A table of very many rows is written in parts, so that it need not fit into memory:
// columns only get wider from part to part, and the header comes again where a column is new.
func (t *Table) Write(w io.Writer) error {
	t.measure()
	out := bufio.NewWriter(w)
	needed, note := slices.Clone(t.width), ""
	if screen, ok := w.(interface{ Columns() int }); ok {
		note = t.fit(screen.Columns())
	}
	shown := 0
	for _, w := range t.width {
		shown += min(w, 1)
	}
	if shown != t.shown || shown == 0 {
		t.line(out, t.header)
	}
	t.shown = shown
	for _, row := range t.rows {
		t.line(out, row)
	}
	if note != "" {
		out.WriteString(note + "\n")
	}
	t.width = needed
	clear(t.rows)
	t.rows = t.rows[:0]
	return out.Flush()
}

// measure makes the columns as wide as the rows need.
func (t *Table) measure() {
	if t.width == nil {
		t.width = make([]int, len(t.header))
	}
	for _, row := range t.rows {
		for i, cell := range row {
			t.width[i] = max(t.width[i], utf8.RuneCountInString(cell))
		}
	}
	for i, h := range t.header {
		if t.width[i] > 0 {
			t.width[i] = max(t.width[i], utf8.RuneCountInString(h))
		}
	}
}

func (t *Table) line(out *bufio.Writer, cells []string) {
	var b strings.Builder
	for i, w := range t.width {
		if w == 0 {
			continue
		}
		cell := ""
		if i < len(cells) {
			cell = shorten(cells[i], w)
		}
		pad := strings.Repeat(" ", w-utf8.RuneCountInString(cell))
		if b.Len() > 0 {
			b.WriteString(gap)
		}
		if t.right[i] {
			b.WriteString(pad + cell)
		} else {
			b.WriteString(cell + pad)
		}
	}
	out.WriteString(strings.TrimRight(b.String(), " ") + "\n")
}
