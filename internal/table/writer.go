// Package table writes rows as a table for people, as CSV, as JSON or as Markdown, from one list of columns. A
// column has one function for programs and one for people, so all formats have the same values.
package table

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// The formats of [New].
const (
	Text     = "table"
	CSV      = "csv"
	JSON     = "json" // one object on each line
	Markdown = "markdown"
)

// Formats are all formats.
var Formats = []string{Text, CSV, JSON, Markdown}

// mostRows is how many rows of a table for people are kept to find the widths of its columns. It is more than an
// hour of one-second windows in both directions. A longer table is written in parts.
const mostRows = 10_000

// Writer writes rows in one format.
type Writer[R any] struct {
	w       io.Writer
	columns []Column[R]
	csv     *csv.Writer
	cells   []string // of a row of CSV
	json    *json.Encoder
	keys    []string     // of JSON, quoted, with colons
	line    bytes.Buffer // of JSON
	people  *grid
}

// New returns a writer of rows to w. format must be one of [Formats].
func New[R any](w io.Writer, format string, columns []Column[R]) *Writer[R] {
	return NewNarrow(w, format, columns, nil, nil)
}

// NewNarrow is like [New], for a table that may be wider than the terminal. cut and drop are headings. Texts of the
// columns in cut are shortened first; behind "<" is a heading whose texts keep their end, behind ":" one of times, which lose their seconds. Then the columns in drop are left out, one after another. If w is not a
// terminal, the table is complete.
func NewNarrow[R any](w io.Writer, format string, columns []Column[R], cut, drop []string) *Writer[R] {
	t := &Writer[R]{w: w}
	forPeople := format == Text || format == Markdown
	var headings, keys []string
	for _, c := range columns {
		if forPeople && (c.Text != nil || c.Heading != "") || !forPeople && c.Value != nil {
			key := c.Name
			if c.Unit != "" {
				key += "_" + c.Unit
			}
			heading := c.Heading
			if !c.IsValue {
				heading = strings.ToUpper(heading)
			}
			t.columns, headings, keys = append(t.columns, c), append(headings, heading), append(keys, key)
		}
	}
	switch format {
	case Text, Markdown:
		t.people = newGrid(format == Markdown, headings, cut, drop)
	case JSON:
		t.json = json.NewEncoder(&t.line)
		t.json.SetEscapeHTML(false) // otherwise < and > in rules would be escaped
		for _, key := range keys {
			t.keys = append(t.keys, strconv.Quote(key)+":")
		}
	default:
		t.csv = csv.NewWriter(w)
		t.csv.Write(keys)
		t.cells = keys
	}
	return t
}

// Begin begins a table for people, with lines of a title.
func (t *Writer[R]) Begin(title ...string) {
	if t.people != nil {
		t.people.begin(title)
	}
}

// Write writes a row. For tables for people and CSV it may be buffered until End.
func (t *Writer[R]) Write(row R) error {
	if t.json != nil { // an object on one line, whose keys have the order of the columns
		t.line.Reset()
		separator := byte('{')
		for i := range t.columns {
			v := known(t.columns[i].Value(row))
			if t.columns[i].Sparse && isEmpty(v) {
				continue
			}
			t.line.WriteByte(separator)
			t.line.WriteString(t.keys[i])
			_ = t.json.Encode(v)              // cannot fail for the types that [Column] allows
			t.line.Truncate(t.line.Len() - 1) // remove the newline
			separator = ','
		}
		t.line.WriteString("}\n")
		_, err := t.w.Write(t.line.Bytes())
		return err
	}
	if t.csv != nil {
		for i := range t.columns {
			t.cells[i] = safeCell(cell(t.columns[i].Value(row)))
		}
		return t.csv.Write(t.cells)
	}
	cells := make([]string, len(t.columns))
	for i := range t.columns {
		cells[i] = t.columns[i].TextOf(row)
	}
	t.people.add(cells)
	if len(t.people.rows) < mostRows {
		return nil
	}
	return t.people.write(t.w)
}

// End ends a table. For people, it writes notes below. Another table may follow; in CSV and JSON its rows just
// follow.
func (t *Writer[R]) End(notes ...string) error {
	switch {
	case t.csv != nil:
		t.csv.Flush()
		return t.csv.Error()
	case t.json != nil:
		return nil
	}
	if err := t.people.write(t.w); err != nil {
		return err
	}
	g := t.people
	g.begin(nil)
	out := bufio.NewWriter(t.w)
	if len(notes) > 0 && g.isMarkdown {
		out.WriteString("\n")
	}
	g.text(t.w, out, notes)
	return out.Flush()
}

// safeCell returns a cell that a spreadsheet does not run. It runs a cell that begins with =, +, -, @, a tab or a line end
// as a formula, and names come from archives of others. So such a cell gets an apostrophe in front, which makes it a
// text. Decimal numbers do not; ParseFloat alone would also accept -Inf.
func safeCell(cell string) string {
	first, _ := utf8.DecodeRuneInString(strings.TrimLeft(cell, " "))
	_, err := strconv.ParseFloat(cell, 64)
	isNumber := err == nil && strings.Trim(cell, "+-.eE0123456789") == ""
	if isNumber || !strings.ContainsRune("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20", first) {
		return cell
	}
	return "'" + cell
}
