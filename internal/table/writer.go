package table

import (
	"bufio"
	"encoding/csv"
	"io"
	"strings"
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
	csv     *csvWriter
	cells   []string // cells of a row of CSV
	json    *object
	people  *grid
}

// New returns a writer of rows to w. format must be one of [Formats].
func New[R any](w io.Writer, format string, columns []Column[R]) *Writer[R] {
	return NewNarrow(w, format, columns, nil, nil)
}

// NewNarrow is like [New], for a table that may be wider than the terminal. cut and drop are headings. Texts of the
// columns in cut are shortened first. Then the columns in drop are left out, one after another. If w is not a
// terminal, the table is complete.
func NewNarrow[R any](w io.Writer, format string, columns []Column[R], cut, drop []string) *Writer[R] {
	t := &Writer[R]{w: w}
	forPeople := format == Text || format == Markdown
	var headings, keys []string
	for _, c := range columns {
		if forPeople && c.isForPeople() || !forPeople && c.Value != nil {
			t.columns = append(t.columns, c)
			headings, keys = append(headings, strings.ToUpper(c.Heading)), append(keys, c.key())
		}
	}
	switch format {
	case Text, Markdown:
		t.people = newGrid(format == Markdown, headings, cut, drop)
	case JSON:
		t.json = newObject(keys)
	default:
		t.csv = &csvWriter{Writer: csv.NewWriter(w)}
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
	if t.json != nil {
		t.json.line.Reset()
		for i := range t.columns {
			if v := known(t.columns[i].Value(row)); !t.columns[i].Sparse || !isEmpty(v) {
				t.json.add(i, v)
			}
		}
		t.json.line.WriteString("}\n")
		_, err := t.w.Write(t.json.line.Bytes())
		return err
	}
	if t.csv != nil {
		for i := range t.columns {
			t.cells[i] = cell(t.columns[i].Value(row))
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
	if len(notes) > 0 {
		out.WriteString(g.blank())
	}
	g.text(t.w, out, notes)
	return out.Flush()
}
