package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/night"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// testColumn is a column of a table of tests.
type testColumn struct {
	heading string
	text    func(*night.Test) string
	cell    func(*night.Test, *Cell) // adds what only pages have; may be nil
}

// Best returns the table of the best throughput of each workload. It is nil if no workload has several tests: then the table of all
// has it.
func (v *nightView) Best() *Table {
	if !slices.ContainsFunc(v.Rows, func(r *night.Row) bool { return len(r.Tests) > 1 }) {
		return nil
	}
	var rows []*night.Test
	for _, r := range v.Rows {
		if best := r.Best(); best != nil {
			rows = append(rows, best)
		}
	}
	columns := []testColumn{{"Workload", func(t *night.Test) string { return t.Title }, func(t *night.Test, to *Cell) {
		to.Class, to.Note = "text name", "at "+t.DepthText()
	}}, direction}
	columns = append(slices.Concat(columns, v.repeats(), numbersOfTest(facts.IOPS, facts.Bandwidth, facts.Mean, p99)), v.level()...)
	for _, a := range v.against() {
		if v.Part != "" {
			break
		}
		best := func(t *night.Test) *night.Test {
			if i := slices.IndexFunc(a.Base.Rows, t.IsSame); i >= 0 {
				return a.Base.Rows[i].Best()
			}
			return nil
		}
		columns = append(columns, testColumn{"Best " + a.what, func(t *night.Test) string {
			if was := best(t); was != nil {
				return was.Number(facts.IOPS).ValueText() + " at " + was.Number(facts.Mean).ValueText()
			}
			return "-"
		}, func(t *night.Test, to *Cell) {
			to.Class = "text"
			if was := best(t); was != nil {
				to.Note = "at " + was.DepthText()
			}
		}})
	}
	return testTable("list tests best", append(columns, v.changeColumns()...), rows)
}

// All returns the table of all tests, with links to their runs.
func (v *nightView) All() *Table {
	columns := []testColumn{{"Workload", func(t *night.Test) string {
		if t != t.Row.Tests[0] {
			return ""
		}
		return t.Title
	}, func(_ *night.Test, to *Cell) { to.Class = "text name" }},
		direction, {"Depth", (*night.Test).DepthText, func(_ *night.Test, to *Cell) { to.Class = "text" }}}
	numbers := numbersOfTest(facts.IOPS, facts.Bandwidth, facts.Mean, p99, workload.MustNumbers("p99.9")[0], facts.Max)
	columns = slices.Concat(columns, v.repeats(), numbers, v.level(), v.changeColumns())
	return testTable("list tests", append(columns, testColumn{"Run", func(t *night.Test) string { return runText(t.Runs[0]) }, func(t *night.Test, to *Cell) {
		to.Class, to.Link, to.Note = "text", v.link(t.Runs[0]), facts.State(t.Runs[0])
		for _, run := range t.Runs[1:] {
			to.Labels = append(to.Labels, Cell{Text: runText(run), Link: v.link(run)})
		}
	}}), v.Tests())
}

// testTable returns a table of tests, or nil if there are none.
func testTable(class string, columns []testColumn, rows []*night.Test) *Table {
	var list []table.Column[*night.Test]
	cells := map[string]func(*night.Test, *Cell){}
	for _, c := range columns {
		cells[c.heading], list = c.cell, append(list, table.Column[*night.Test]{Name: c.heading, Heading: ">" + c.heading, Text: c.text})
	}
	to := NewTable(class, "", list, rows, func(t *night.Test, column string, to *Cell) {
		if cells[column] != nil {
			cells[column](t, to)
		}
	})
	var marks facts.Marks
	for _, t := range rows {
		for _, run := range t.Runs {
			for _, d := range run.ByDirection() {
				if l := facts.LatenciesOfTotals(d.Totals); d.Direction == t.Direction {
					marks.Add(&l)
				}
			}
		}
	}
	if to != nil {
		for i := range to.Headings { // as the cells below it
			if class := to.Rows[0][i].Class; strings.HasPrefix(class, "text") || to.Rows[0][i].IsHead {
				to.Headings[i].Class = "text"
			}
		}
		to.Note = strings.Join(marks.Notes(), ". ")
	}
	return to
}

// runText names a run: its id or, in files, its path.
func runText(run *mapping.Run) string {
	if run.Run.ID != "" {
		return facts.ShortID(run.Run.ID)
	}
	return run.ShortName()
}

var direction = testColumn{"Dir", func(t *night.Test) string { return t.Direction }, func(_ *night.Test, to *Cell) { to.IsHead = true }}

// numbersOfTest returns columns of numbers.
func numbersOfTest(list ...facts.Metric) (columns []testColumn) {
	for _, m := range list {
		heading := m.Text()
		if m.Quantile == 0 {
			heading = strings.ToUpper(heading[:1]) + heading[1:]
		}
		columns = append(columns, testColumn{heading, func(t *night.Test) string { return t.Number(m).ValueText() }, nil})
	}
	return columns
}

// repeats returns the column of the numbers of runs, if any test has several.
func (v *nightView) repeats() []testColumn {
	if !slices.ContainsFunc(v.Tests(), func(t *night.Test) bool { return len(t.Runs) > 1 }) {
		return nil
	}
	return []testColumn{{"Runs", func(t *night.Test) string { return unit.Count(int64(len(t.Runs))) }, nil}}
}

// level returns the column of the level in the history, or none without a history.
func (v *nightView) level() []testColumn {
	if v.levels == nil {
		return nil
	}
	return []testColumn{{"Level", func(t *night.Test) string {
		if row := v.levels[t]; row != nil {
			return row.Verdict()
		}
		return "-"
	}, func(t *night.Test, to *Cell) {
		to.Class = "text"
		if row := v.levels[t]; row != nil && row.HasChange() {
			to.Class = "text verdict " + row.Verdict()
			to.Note = fmt.Sprintf("%s %s since %s", row.Number.Text(), row.Change.Text(), workload.Day(row.Change.After))
		}
	}}}
}

// changeColumns returns the columns of the changes of IOPS and a latency against each other night: p99, or the mean where no p99 is
// known, as of averages.
func (v *nightView) changeColumns() (columns []testColumn) {
	for _, a := range v.against() {
		latency := facts.Mean
		if slices.ContainsFunc(a.Pairs(), func(p *night.Pair) bool { l := p.Line(p99); return l != nil && l.Verdict != compare.Unknown }) {
			latency = p99
		}
		for _, m := range []facts.Metric{facts.IOPS, latency} {
			heading := m.Text() + " change"
			if len(v.against()) > 1 {
				heading = m.Text() + ", " + a.what
			}
			columns = append(columns, testColumn{heading, func(t *night.Test) string {
				if p := a.Of(t); p != nil && p.Line(m) != nil {
					return p.Line(m).Text()
				}
				return "-"
			}, func(t *night.Test, to *Cell) {
				p := a.Of(t)
				switch {
				case p == nil:
					to.Note = "not in " + a.Base.Name
				case p.Line(m) == nil:
					to.Note = p.Why
				default:
					l := p.Line(m)
					to.Class, to.Note, to.Title = "verdict "+string(l.Verdict), string(l.Verdict), l.Why
					if l.HasInterval() {
						to.Title = fmt.Sprintf("from %s to %s; %s interval %s", l.BaseText(), l.OtherText(), share(confidence), l.IntervalText())
					}
				}
			}})
		}
	}
	return columns
}

// Circumstances returns how the runs around changes of level differ, without repetitions.
func (v *nightView) Circumstances() (list []string) {
	for _, t := range v.Tests() {
		if row := v.levels[t]; row != nil {
			if text := row.Circumstances(); text != "" && !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	return list
}
