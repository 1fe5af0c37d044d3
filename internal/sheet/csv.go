// Package sheet writes CSV that can be opened in a spreadsheet. A cell that begins with =, +,
// -, @, a tab or a line's end is run as a formula there, and names come from archives of
// others, so such a cell gets an apostrophe in front, which makes it a text. Numbers stay as
// they are.
package sheet

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
)

// Exact is the name of the format without apostrophes, for programs that need each byte.
const Exact = "csv-exact"

// Writer writes rows.
type Writer struct {
	*csv.Writer
	exact bool
	safe  []string // of a row
}

// NewWriter writes rows to w. Where exact is set, cells are written as they are.
func NewWriter(w io.Writer, exact bool) *Writer {
	return &Writer{Writer: csv.NewWriter(w), exact: exact}
}

// Write writes a row. Like that of [csv.Writer], it may keep it until Flush.
func (w *Writer) Write(cells []string) error {
	if w.exact {
		return w.Writer.Write(cells)
	}
	w.safe = w.safe[:0]
	for _, c := range cells {
		w.safe = append(w.safe, Text(c))
	}
	return w.Writer.Write(w.safe)
}

// Text is a cell that a spreadsheet shows and does not run.
func Text(cell string) string {
	r := strings.TrimLeft(cell, " ")
	if r == "" || !strings.ContainsAny(first(r), "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20") || isNumber(cell) {
		return cell
	}
	return "'" + cell
}

// first is the first character of a text that has one.
func first(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}

// isNumber reports whether a cell is a decimal number; ParseFloat alone takes -Inf, too.
func isNumber(cell string) bool {
	_, err := strconv.ParseFloat(cell, 64)
	return err == nil && strings.Trim(cell, "+-.eE0123456789") == ""
}
