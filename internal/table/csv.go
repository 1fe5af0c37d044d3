package table

import (
	"encoding/csv"
	"strconv"
	"strings"
	"unicode/utf8"
)

// csvWriter writes CSV that is safe for spreadsheets. They run a cell that begins with =, +, -, @, a tab or a line
// end as a formula, and names come from archives of others. So such a cell gets an apostrophe in front, which makes
// it a text. Numbers do not.
type csvWriter struct {
	*csv.Writer
	safe []string // cells of a row
}

// Write writes a row. Like [csv.Writer.Write], it may buffer the row until Flush.
func (w *csvWriter) Write(cells []string) error {
	w.safe = w.safe[:0]
	for _, c := range cells {
		w.safe = append(w.safe, safeCell(c))
	}
	return w.Writer.Write(w.safe)
}

// safeCell returns a cell that a spreadsheet does not run.
func safeCell(cell string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(cell, " "))
	if !strings.ContainsRune("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20", first) || isNumber(cell) {
		return cell
	}
	return "'" + cell
}

// isNumber reports whether a cell is a decimal number. ParseFloat alone would also accept -Inf.
func isNumber(cell string) bool {
	_, err := strconv.ParseFloat(cell, 64)
	return err == nil && strings.Trim(cell, "+-.eE0123456789") == ""
}
