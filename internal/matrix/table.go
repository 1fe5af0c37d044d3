package matrix

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
)

// Grid is a pivot table for people: a row for each value of the first setting, a column for each of the second.
type Grid struct {
	By            []Setting
	Rows, Columns []Value
	Title         string
	Heading       string                         // of the only column, if there is one setting
	Cell          func(row, column Value) string // empty: no run has these values
	Notes         []string
}

// Write writes the grid as a table or as Markdown.
func (g *Grid) Write(w io.Writer, format string) error {
	corner := g.By[0].Name
	if len(g.By) > 1 {
		corner += `\` + g.By[1].Name
	}
	columns := []table.Column[Value]{{Heading: corner, Text: func(row Value) string { return row.Text }}}
	var drop []string
	for _, column := range g.Columns {
		name := column.Text
		if len(g.By) == 1 {
			name = g.Heading
		}
		columns = append(columns, table.Column[Value]{Heading: ">" + name, Text: func(row Value) string { return g.Cell(row, column) }})
		drop = append([]string{strings.ToUpper(name)}, drop...)
	}
	to := table.NewNarrow(w, format, columns, []string{strings.ToUpper(corner)}, drop)
	to.Begin(g.Title)
	for _, row := range g.Rows {
		if err := to.Write(row); err != nil {
			return err
		}
	}
	return to.End(g.Notes...)
}

// mixed marks a cell whose runs are not of one workload.
const mixed = "mixed"

// Grid returns the table of a number. A cell of several runs has their median, and how far the farthest run is from it.
func (m *Matrix) Grid(metric facts.Metric) *Grid {
	text := m.texts(metric)
	return &Grid{
		By: m.By, Rows: m.Rows, Columns: m.Columns, Title: m.Title(metric), Heading: metric.Text(), Notes: m.Notes(metric),
		Cell: func(row, column Value) string {
			if c := m.Cell(row, column); c != nil {
				return text(c)
			}
			return ""
		},
	}
}

// texts returns a function that returns a number of a cell for people, such as "1.23ms ±6%", or with the number of runs if
// that is not the same in all cells: "1.23ms ±6% ×3".
func (m *Matrix) texts(metric facts.Metric) func(*Cell) string {
	least, most := m.repeats(metric)
	return func(c *Cell) string {
		if len(c.Mixed) > 0 {
			return mixed
		}
		n := c.Number(metric)
		text := n.ValueText()
		if n.Runs > 1 {
			text += " ±" + n.spreadText()
			if least < most {
				text += fmt.Sprintf(" ×%d", n.Runs)
			}
		}
		return text
	}
}

// repeats returns the lowest and the highest number of runs in a cell.
func (m *Matrix) repeats(metric facts.Metric) (least, most int) {
	for _, c := range m.Cells() {
		if n := c.Number(metric).Runs; n > 0 {
			least, most = min(cmp.Or(least, n), n), max(most, n)
		}
	}
	return least, most
}

// RequestsOf names the requests of a direction: "reads", "all requests".
func RequestsOf(direction string) string {
	if direction == AllDirections {
		return "all requests"
	}
	return direction + "s"
}

// Title names the number and the settings, such as "p99 of reads by bs and iodepth".
func (m *Matrix) Title(metric facts.Metric) string {
	text := metric.Text() + " of " + RequestsOf(m.Direction) + " by " + m.By[0].Name
	if len(m.By) > 1 {
		text += " and " + m.By[1].Name
	}
	return text
}

// Notes explains the marks of cells, and names the other settings in which runs differ.
func (m *Matrix) Notes(metric facts.Metric) (notes []string) {
	switch least, most := m.repeats(metric); {
	case most > 1 && least == most:
		notes = append(notes, fmt.Sprintf("A cell is the median of %d runs; ± is the farthest of them.", most))
	case most > 1:
		notes = append(notes, "A cell with ×N is the median of N runs; ± is the farthest of them.")
	}
	return append(notes, m.doubts(metric)...)
}

// doubts says what cells lack, and in which other settings runs differ.
func (m *Matrix) doubts(metric facts.Metric) (notes []string) {
	var apart []string
	byFio := false
	for _, c := range m.Cells() {
		for _, text := range c.Mixed {
			if name, _, _ := strings.Cut(text, " "); !slices.Contains(apart, name) {
				apart = append(apart, name)
			}
		}
		byFio = byFio || c.Number(metric).ByFio
	}
	if len(apart) > 0 {
		notes = append(notes, "mixed: runs of one cell also differ in "+strings.Join(apart, ", ")+", so it has no number: choose with conditions, or add it to --by.")
	}
	if len(m.Also) > 0 {
		notes = append(notes, "Among these runs also differ: "+strings.Join(m.Also, "; ")+".")
	}
	return append(notes, facts.Notes(byFio)...)
}

// Row is a cell and a number of it, for programs.
type Row struct {
	Cell   *Cell
	Number Number
}

// Columns returns the columns of rows for programs. Values of settings are as in documents: sizes in bytes.
func Columns(by []Setting) []table.Column[Row] {
	columns := []table.Column[Row]{{Name: by[0].Name, Value: func(r Row) any { return r.Cell.Row.raw }}}
	if len(by) > 1 {
		columns = append(columns, table.Column[Row]{Name: by[1].Name, Value: func(r Row) any { return r.Cell.Column.raw }})
	}
	return append(columns, []table.Column[Row]{
		{Name: "direction", Value: func(r Row) any { return r.Cell.of.Direction }},
		{Name: "metric", Value: func(r Row) any { return r.Number.Metric.Column() }},
		{Name: "value", Value: func(r Row) any { return r.Number.N }},
		{Name: "low", Value: func(r Row) any { return r.Number.Low }},
		{Name: "high", Value: func(r Row) any { return r.Number.High }},
		{Name: "runs", Value: func(r Row) any { return len(r.Cell.Runs) }},
		{Name: "open", Sparse: true, Value: func(r Row) any { return r.Number.IsBound }}, // the value is a lower bound
		{Name: "source", Sparse: true, Value: func(r Row) any {
			if r.Number.ByFio {
				return "fio"
			}
			return nil
		}},
		{Name: "mixed", Sparse: true, Value: func(r Row) any { return r.Cell.Mixed }}, // then the values are not known
		{Name: "run", Sparse: true, Value: func(r Row) any {
			var ids []string
			for _, run := range r.Cell.Runs {
				if run.Run.ID != "" { // runs in files have none
					ids = append(ids, run.Run.ID)
				}
			}
			return ids
		}},
	}...)
}
