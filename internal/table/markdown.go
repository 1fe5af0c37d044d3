package table

import (
	"bufio"
	"io"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/term"
)

// markdown is a table of GitHub's Markdown, without the columns that have nothing in any row.
type markdown struct {
	headings []string
	rows     [][]string
	shown    []bool // columns that have something so far
	header   []bool // columns under the last header
}

func newMarkdown(headings []string) *markdown {
	return &markdown{headings: headings, shown: make([]bool, len(headings))}
}

// Add adds a row.
func (m *markdown) Add(cells ...string) {
	for i, cell := range cells {
		m.shown[i] = m.shown[i] || cell != ""
	}
	m.rows = append(m.rows, cells)
}

// Rows is how many rows are not written yet.
func (m *markdown) Rows() int { return len(m.rows) }

// Write writes the rows, and forgets them. The header comes again where a column is new.
func (m *markdown) Write(w io.Writer) error {
	if len(m.rows) == 0 {
		return nil
	}
	out := bufio.NewWriter(w)
	if !slices.Equal(m.header, m.shown) {
		if m.header != nil {
			out.WriteString("\n")
		}
		m.header = slices.Clone(m.shown)
		names, rules := make([]string, len(m.headings)), make([]string, len(m.headings))
		for i, h := range m.headings {
			name, right := strings.CutPrefix(h, ">")
			if names[i], rules[i] = plain(name), "---"; right {
				rules[i] = "--:"
			}
		}
		m.line(out, names)
		m.line(out, rules)
	}
	for _, row := range m.rows {
		for i := range row {
			row[i] = plain(row[i])
		}
		m.line(out, row)
	}
	m.rows = m.rows[:0]
	return out.Flush()
}

func (m *markdown) line(out *bufio.Writer, cells []string) {
	out.WriteString("|")
	for i, cell := range cells {
		if m.shown[i] {
			out.WriteString(" " + cell + " |")
		}
	}
	out.WriteString("\n")
}

// special are the characters that Markdown acts on inside a line.
var special = strings.NewReplacer(func() (pairs []string) {
	for _, c := range "\\`*_[]<>|~&" {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return pairs
}()...)

// plain is a text that Markdown shows as it is, on one line.
func plain(text string) string { return special.Replace(term.Clean(text)) }
