// Package term writes for people at a terminal: tables, log lines, and a line of progress.
// What is in them is the caller's. Names from archives and answers of servers are in them,
// too, so all text is cleaned of what a terminal would act on (see Clean).
package term

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"
)

// Table is rows of text under a header. Columns of numbers are aligned to the right.
type Table struct {
	header []string
	right  []bool
	rows   [][]string
}

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

// Write writes the table, without columns that have nothing in any row.
func (t *Table) Write(w io.Writer) error {
	width := make([]int, len(t.header))
	for _, row := range t.rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for i, h := range t.header {
		if width[i] > 0 {
			width[i] = max(width[i], utf8.RuneCountInString(h))
		}
	}
	out := bufio.NewWriter(w)
	t.line(out, width, t.header)
	for _, row := range t.rows {
		t.line(out, width, row)
	}
	return out.Flush()
}

func (t *Table) line(out *bufio.Writer, width []int, cells []string) {
	var b strings.Builder
	for i, w := range width {
		if w == 0 {
			continue
		}
		cell := ""
		if i < len(cells) {
			cell = cells[i]
		}
		pad := strings.Repeat(" ", w-utf8.RuneCountInString(cell))
		if b.Len() > 0 {
			b.WriteString("  ")
		}
		if t.right[i] {
			b.WriteString(pad + cell)
		} else {
			b.WriteString(cell + pad)
		}
	}
	out.WriteString(strings.TrimRight(b.String(), " ") + "\n")
}
