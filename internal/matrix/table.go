package matrix

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

type gridColumn struct {
	heading string
	text    func(row Value) string // empty: no run has these values
}

// grid writes a table for people, with a row for each value of the first setting that has a text.
func (m *Matrix) grid(w io.Writer, format, title string, cells []gridColumn, notes []string) error {
	corner := m.By[0].Name
	if len(m.By) > 1 {
		corner += `\` + m.By[1].Name
	}
	columns := []table.Column[Value]{{Heading: corner, Text: func(row Value) string { return row.Text }}}
	var drop []string
	for _, c := range cells {
		if len(m.By) == 1 {
			c.heading = strings.ToUpper(c.heading)
		}
		columns = append(columns, table.Column[Value]{Heading: ">" + c.heading, IsValue: true, Text: c.text})
		drop = append([]string{c.heading}, drop...)
	}
	to := table.NewNarrow(w, format, columns, []string{strings.ToUpper(corner)}, drop)
	to.Begin(title)
	for _, row := range m.Rows {
		if slices.ContainsFunc(cells, func(c gridColumn) bool { return c.text(row) != "" }) {
			if err := to.Write(row); err != nil {
				return err
			}
		}
	}
	return to.End(notes...)
}

// columns returns a column for each value of the second setting. With one setting it is a single column.
func (m *Matrix) columns(heading string, text func(*Cell) string) (list []gridColumn) {
	for _, column := range m.Columns {
		if len(m.By) > 1 {
			heading = column.Text
		}
		list = append(list, gridColumn{heading, func(row Value) string {
			if c := m.Cell(row, column); c != nil {
				return text(c)
			}
			return ""
		}})
	}
	return list
}

// Write writes numbers as tables or as Markdown: a table for each, or with one setting a column for each. A cell of several
// runs has their median, and how far the farthest run is from it. If isShaded, each number is behind a shade, which is darker
// for higher ones; it fails as [Matrix.Heat] does.
func (m *Matrix) Write(w io.Writer, format string, isShaded bool, metrics ...facts.Metric) error {
	var columns []gridColumn
	var titles, notes []string
	for i, metric := range metrics {
		text, about := m.texts(metric), m.Notes(metric)
		if isShaded {
			if err := m.checkHeat(metric); err != nil {
				return err
			}
			low, high := m.ends(metric)
			const shades = 2
			shade := func(n float64) string {
				return strings.Repeat(string(heatmap.Shades[level(n, low, high, len(heatmap.Shades))]), shades)
			}
			plain := text
			text = func(c *Cell) string {
				if n := c.Number(metric).N(); n > 0 {
					return shade(n) + " " + plain(c)
				}
				return plain(c)
			}
			about = append([]string{fmt.Sprintf("%s … %s from %s to %s, logarithmic", shade(low), shade(high),
				facts.KindText(metric.Kind, low, false), facts.KindText(metric.Kind, high, false))}, about...)
		}
		for _, note := range about {
			if !slices.Contains(notes, note) {
				notes = append(notes, note)
			}
		}
		titles, columns = append(titles, metric.Text()), append(columns, m.columns(metric.Text(), text)...)
		if isLast := i == len(metrics)-1; len(m.By) > 1 || isLast {
			if err := m.grid(w, format, m.title(strings.Join(titles, " and ")), columns, notes); err != nil {
				return err
			}
			if columns, titles, notes = nil, nil, nil; !isLast {
				fmt.Fprintln(w)
			}
		}
	}
	return nil
}

// mixed marks a cell whose runs are not of one workload.
const mixed = "mixed"

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
			if percent := 100 * n.Spread(); percent < 9.95 {
				text += fmt.Sprintf(" ±%.1f%%", percent)
			} else {
				text += fmt.Sprintf(" ±%.0f%%", percent)
			}
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

// Title names the number and the settings, such as "p99 of reads by bs and iodepth".
func (m *Matrix) Title(metric facts.Metric) string { return m.title(metric.Text()) }

func (m *Matrix) title(numbers string) string {
	text := numbers + " of " + mapping.Plural(m.Direction) + " by " + m.By[0].Name
	if len(m.By) > 1 {
		text += " and " + m.By[1].Name
	}
	if len(m.at) > 0 {
		text += ", " + named(m.By[2:], m.at)
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
	var marks facts.Marks
	for _, c := range m.Cells() {
		for _, text := range c.Mixed {
			if name, _, _ := strings.Cut(text, " "); !slices.Contains(apart, name) {
				apart = append(apart, name)
			}
		}
		for _, run := range c.Runs {
			if of := run.Of(m.Direction); of != nil && metric.Kind == expr.Latency {
				marks.AddTotals(of)
			}
		}
	}
	if len(apart) > 0 {
		notes = append(notes, "mixed: runs of one cell also differ in "+strings.Join(apart, ", ")+", so it has no number: choose with conditions, or add it to --by.")
	}
	if len(m.Also) > 0 {
		notes = append(notes, "Among these runs also differ: "+strings.Join(m.Also, "; ")+".")
	}
	return append(notes, marks.Notes()...)
}

// Row is a cell and a number of it, for programs.
type Row struct {
	Cell   *Cell
	Number Number
}

// settingColumns returns the columns of the settings for programs. Their values are as in documents: sizes in bytes.
func settingColumns[R any](by []Setting, cell func(R) *Cell) (list []table.Column[R]) {
	for i, s := range by {
		list = append(list, table.Column[R]{Name: s.Name, Value: func(r R) any { return cell(r).Values[i].raw }})
	}
	return list
}

// Columns returns the columns of rows for programs.
func Columns(by []Setting) []table.Column[Row] {
	return append(settingColumns(by, func(r Row) *Cell { return r.Cell }), []table.Column[Row]{
		{Name: "direction", Value: func(r Row) any { return r.Cell.of.Direction }},
		{Name: "metric", Value: func(r Row) any { return r.Number.Metric.Column() }},
		{Name: "value", Value: func(r Row) any { return r.Number.N() }},
		{Name: "low", Value: func(r Row) any { return r.Number.Low }},
		{Name: "high", Value: func(r Row) any { return r.Number.High }},
		{Name: "runs", Value: func(r Row) any { return len(r.Cell.Runs) }},
		{Name: "open", Sparse: true, Value: func(r Row) any { return r.Number.Median.IsBound() }}, // the value is a lower bound
		{Name: "source", Sparse: true, Value: func(r Row) any {
			if r.Number.Median.ByFio {
				return "fio"
			}
			return nil
		}},
		{Name: "mixed", Sparse: true, Value: func(r Row) any { return r.Cell.Mixed }}, // then the values are not known
		{Name: "run", Sparse: true, Value: func(r Row) any {
			var ids []string
			for _, run := range r.Cell.Runs {
				if run.ID != "" { // runs in files have none
					ids = append(ids, run.ID)
				}
			}
			return ids
		}},
	}...)
}
