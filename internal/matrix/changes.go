package matrix

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Pair has the runs of two sides with the same values of settings.
type Pair struct {
	*Cell                           // of both sides together
	workload.Matched                // with repeats: the runs of a side do the same
	Why              string         // why they are not compared, such as "only base"; empty: they are
	Because          string         // the same as a sentence, with what to do
	Lines            []compare.Line // set by the caller
}

// Match arranges the runs of two sides, also if these differ in other settings. A run that is on both sides counts only for
// other.
func Match(by []Setting, base, other []*mapping.Run) (list []*Pair) {
	base = workload.Without(base, other)
	for _, m := range New(by, mapping.AllDirections, RunsOf(slices.Concat(base, other))) {
		for _, c := range m.Cells() {
			p := &Pair{Cell: c, Matched: workload.Matched{Title: c.Name()}}
			for _, run := range c.Runs {
				p.Add(run.Like, slices.Contains(other, run.Like))
			}
			switch {
			case len(p.Base) == 0:
				p.Why, p.Because = "only other", "only the other side has it"
			case len(p.Other) == 0:
				p.Why, p.Because = "only base", "only the base has it"
			case len(workload.Varying(p.Base))+len(workload.Varying(p.Other)) > 0:
				p.Why, p.Because = mixed, "the runs of a side differ in other settings: choose with conditions, or add a setting to --by"
			}
			list = append(list, p)
		}
	}
	return list
}

// change is a row of a table of changes.
type change struct {
	*Pair
	settings   []string   // the values of the settings
	sides      [2]string  // the numbers of base and other
	throughput [2]float64 // the first rate of these, or 0
	changes    []string   // of each metric, with its verdict
}

// WriteChanges writes a table for each direction that was compared. A row is a combination of settings, with the numbers of
// both sides and the change of each. Where runs differ in how many requests there are at the same time, a row below them has the
// highest throughput of each side, and where it is. sides names the two, such as "after against before".
func WriteChanges(w io.Writer, format, sides string, metrics []facts.Metric, pairs []*Pair) error {
	if len(pairs) == 0 {
		return nil
	}
	by := pairs[0].of.By
	var order, loads []int // of the columns: loads are last
	for i, s := range by {
		if s.isLoad() {
			loads = append(loads, i)
		} else {
			order = append(order, i)
		}
	}
	apart := len(order)
	order = append(order, loads...)
	pairs = slices.Clone(pairs)
	slices.SortStableFunc(pairs, func(a, b *Pair) int {
		for _, i := range order {
			if n := a.Values[i].compare(b.Values[i]); n != 0 {
				return n
			}
		}
		return 0
	})
	var names []string
	for _, i := range order {
		names = append(names, by[i].Name)
	}
	var drop []string // the values of the sides say it, too
	for _, m := range slices.Backward(metrics) {
		drop = append(drop, m.Text())
	}
	between := ""
	for _, direction := range append(mapping.Directions[:], mapping.AllDirections) {
		if !slices.ContainsFunc(pairs, func(p *Pair) bool {
			return slices.ContainsFunc(p.Lines, func(l compare.Line) bool { return l.Direction == direction })
		}) {
			continue
		}
		metrics := slices.DeleteFunc(slices.Clone(metrics), func(m facts.Metric) bool { return !m.IsOf(direction) })
		fmt.Fprint(w, between)
		between = "\n"
		to := table.NewNarrow(w, format, changeColumns(names, metrics), nil, drop)
		to.Begin(mapping.Plural(direction) + " by " + unit.List(names, len(names), ", ") + ": " + sides)
		var group []*change // the rows with the same values of settings that are no load
		end := func() error {
			if best := bestOf(group, apart, metrics); best != nil {
				return to.Write(best)
			}
			return nil
		}
		for _, p := range pairs {
			row := p.row(order, direction, metrics)
			if row == nil {
				continue
			}
			if len(group) > 0 && !slices.Equal(row.settings[:apart], group[0].settings[:apart]) {
				if err := end(); err != nil {
					return err
				}
				group = nil
			}
			group = append(group, row)
			if err := to.Write(row); err != nil {
				return err
			}
		}
		if err := cmp.Or(end(), to.End()); err != nil {
			return err
		}
	}
	return nil
}

func changeColumns(settings []string, metrics []facts.Metric) (list []table.Column[*change]) {
	for i, name := range settings {
		list = append(list, table.Column[*change]{Heading: name, Text: func(c *change) string { return c.settings[i] }})
	}
	list = append(list,
		table.Column[*change]{Heading: ">base", Text: func(c *change) string { return c.sides[0] }},
		table.Column[*change]{Heading: ">other", Text: func(c *change) string { return c.sides[1] }},
	)
	for i, m := range metrics {
		list = append(list, table.Column[*change]{Heading: m.Text(), Text: func(c *change) string { return c.changes[i] }})
	}
	return list
}

// row returns a row of a pair in one direction, or nil if neither side has it.
func (p *Pair) row(order []int, direction string, metrics []facts.Metric) *change {
	of := *p.of
	of.Direction = direction
	if !slices.ContainsFunc(p.Runs, func(run *Run) bool { return run.Of(direction) != nil }) {
		return nil
	}
	c := &change{Pair: p}
	for _, i := range order {
		c.settings = append(c.settings, p.Values[i].Text)
	}
	line := func(m facts.Metric) *compare.Line {
		for i := range p.Lines {
			if l := &p.Lines[i]; l.Direction == direction && l.Metric == m {
				return l
			}
		}
		return nil
	}
	for i, m := range metrics {
		text := ""
		if l := line(m); l != nil {
			if text = l.Text(); l.Verdict != compare.NoInterval { // which a note says
				text += " " + string(l.Verdict)
			}
		} else if i == 0 {
			text = p.Why
		}
		c.changes = append(c.changes, text)
	}
	for side, runs := range [][]*mapping.Run{p.Base, p.Other} {
		cell := &Cell{Values: p.Values, Runs: RunsOf(runs), Mixed: differing(workload.Varying(runs)), of: &of}
		var rates, others []string
		for _, m := range metrics {
			value, n := cell.Number(m).ValueText(), cell.Number(m).N()
			if l := line(m); l != nil {
				value, n = []string{l.BaseText(), l.OtherText()}[side], []float64{l.Base, l.Other}[side]
			}
			if !m.LessIsBad() {
				others = append(others, value)
				continue
			}
			if rates = append(rates, value); len(rates) == 1 {
				c.throughput[side] = n
			}
		}
		text := strings.Join(slices.DeleteFunc([]string{strings.Join(rates, ", "), strings.Join(others, ", ")}, func(s string) bool { return s == "" }), " @ ")
		switch {
		case len(runs) == 0:
			text = "-"
		case len(cell.Mixed) > 0:
			text = mixed
		}
		c.sides[side] = text
	}
	return c
}

// bestOf returns a row with the highest throughput of each side among rows of different loads that both sides have, or nil if
// there are fewer than two.
func bestOf(rows []*change, apart int, metrics []facts.Metric) *change {
	rows = slices.DeleteFunc(slices.Clone(rows), func(c *change) bool { return !(c.throughput[0] > 0 && c.throughput[1] > 0) })
	if len(rows) < 2 || apart == len(rows[0].settings) {
		return nil
	}
	best := func(side int) *change {
		return slices.MaxFunc(rows, func(a, b *change) int { return cmp.Compare(a.throughput[side], b.throughput[side]) })
	}
	base, other := best(0), best(1)
	row := &change{settings: slices.Clone(base.settings), sides: [2]string{base.sides[0], other.sides[1]}, changes: base.changes}
	at := strings.Join(base.settings[apart:], "/")
	if base != other {
		at += ", " + strings.Join(other.settings[apart:], "/")
		row.changes = make([]string, len(metrics))
		c := compare.Change{Change: other.throughput[1]/base.throughput[0] - 1}
		row.changes[0] = c.Text()
	}
	for i := range row.settings[apart:] {
		row.settings[apart+i] = ""
	}
	row.settings[apart] = "best at " + at
	return row
}

// ChangeColumns returns the columns of changes for programs: the values of the settings, and those of a comparison. pair
// returns the pair of a row.
func ChangeColumns(by []Setting, confidence float64, pair func(*compare.Row) *Pair) []table.Column[*compare.Row] {
	columns := slices.DeleteFunc(compare.Columns(confidence), func(c table.Column[*compare.Row]) bool { return c.Name == "workload" }) // the settings say it
	return append(settingColumns(by, func(r *compare.Row) *Cell { return pair(r).Cell }), columns...)
}
