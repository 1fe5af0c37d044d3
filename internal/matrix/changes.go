package matrix

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Changes is a matrix that lies over another: in each cell, how the runs of one side differ from those of the other.
type Changes struct {
	By    []Setting
	Pairs []*Pair // the cells that have runs on any side, row by row
	all   *Matrix // of the runs of both sides
}

// Pair has the runs of both sides with the same values of the settings.
type Pair struct {
	*Cell                      // of both sides together
	Base, Other []*mapping.Run // repeats: the runs of a side do the same
	Why         string         // why they are not compared, such as "only base"; empty: they are
	Differ      string         // how the other side differs in other settings, such as "ioengine io_uring, not libaio"
	Lines       []compare.Line // set by the caller
}

// Match arranges the runs of two sides. A run that is on both sides counts only for other.
func Match(by []Setting, base, other []*mapping.Run) *Changes {
	base = workload.Without(base, other)
	of, with := New(by, AllDirections, base), New(by, AllDirections, other)
	c := &Changes{By: by, all: New(by, AllDirections, slices.Concat(base, other))}
	for _, cell := range c.all.Cells() {
		p := &Pair{Cell: cell}
		from, to := of.Cell(cell.Row, cell.Column), with.Cell(cell.Row, cell.Column)
		switch {
		case from == nil:
			p.Why = "only other"
		case to == nil:
			p.Why = "only base"
		case len(from.Mixed)+len(to.Mixed) > 0:
			p.Why = mixed
		default:
			p.Base, p.Other, p.Differ = from.Runs, to.Runs, workload.Doubt(from.Runs[0], to.Runs[0])
		}
		c.Pairs = append(c.Pairs, p)
	}
	return c
}

// Grids returns a table for each direction and metric that was compared, with the change and its verdict in each cell.
// sides names the two, such as "after against before".
func (c *Changes) Grids(sides string) (list []*Grid) {
	type number struct {
		direction string
		metric    facts.Metric
	}
	var numbers []number
	for _, p := range c.Pairs {
		for _, l := range p.Lines {
			if n := (number{l.Direction, l.Metric}); !slices.Contains(numbers, n) {
				numbers = append(numbers, n)
			}
		}
	}
	slices.SortStableFunc(numbers, func(a, b number) int {
		return cmp.Compare(slices.Index(mapping.Directions[:], a.direction), slices.Index(mapping.Directions[:], b.direction))
	})
	for _, n := range numbers {
		of := &Matrix{By: c.By, Direction: n.direction}
		texts := map[[2]string]string{} // of the cells whose runs have the direction
		for _, p := range c.Pairs {
			at := [2]string{p.Row.Text, p.Column.Text}
			if slices.ContainsFunc(p.Runs, func(run *mapping.Run) bool { return of.totals(run) != nil }) {
				texts[at] = p.Why
			}
			for _, l := range p.Lines {
				if l.Direction == n.direction && l.Metric == n.metric {
					texts[at] = l.Text() + " " + string(l.Verdict)
				}
			}
		}
		isEmpty := func(is func(at [2]string) bool) bool {
			for at, text := range texts {
				if is(at) && text != "" {
					return false
				}
			}
			return true
		}
		list = append(list, &Grid{
			By: c.By, Heading: n.metric.Text(), Title: of.Title(n.metric) + ": " + sides,
			Rows: slices.DeleteFunc(slices.Clone(c.all.Rows), func(v Value) bool {
				return isEmpty(func(at [2]string) bool { return at[0] == v.Text })
			}),
			Columns: slices.DeleteFunc(slices.Clone(c.all.Columns), func(v Value) bool {
				return isEmpty(func(at [2]string) bool { return at[1] == v.Text })
			}),
			Cell: func(row, column Value) string { return texts[[2]string{row.Text, column.Text}] },
		})
	}
	return list
}

// Notes says which cells have no change, and how the sides differ apart from what is compared.
func (c *Changes) Notes() (notes []string) {
	cells := map[string][]string{}
	count := map[string]int{}
	var differ []string
	for _, p := range c.Pairs {
		cells[p.Why] = append(cells[p.Why], p.Name())
		if p.Differ != "" {
			if count[p.Differ]++; count[p.Differ] == 1 {
				differ = append(differ, p.Differ)
			}
		}
	}
	for _, why := range []struct{ is, means string }{
		{"only base", "not compared, because only the base has it"},
		{"only other", "not compared, because only the other side has it"},
		{mixed, "not compared, because the runs of a side differ in other settings: choose with conditions, or add a setting to --by"},
	} {
		for _, name := range cells[why.is] {
			notes = append(notes, name+": "+why.means)
		}
	}
	for _, text := range differ {
		notes = append(notes, fmt.Sprintf("the other side also differs in %d of %d cells: %s", count[text], len(c.Pairs), text))
	}
	return notes
}

// ChangeColumns returns the columns of changes for programs: the values of the settings, and those of a comparison. pairs
// returns the pair of a row.
func ChangeColumns(by []Setting, confidence float64, pair func(*compare.Row) *Pair) []table.Column[*compare.Row] {
	columns := []table.Column[*compare.Row]{{Name: by[0].Name, Value: func(r *compare.Row) any { return pair(r).Row.raw }}}
	if len(by) > 1 {
		columns = append(columns, table.Column[*compare.Row]{Name: by[1].Name, Value: func(r *compare.Row) any { return pair(r).Column.raw }})
	}
	return append(columns, compare.Columns(confidence)...)
}
