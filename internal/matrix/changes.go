package matrix

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
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
	for _, m := range New(by, mapping.AllDirections, slices.Concat(base, other)) {
		for _, c := range m.Cells() {
			p := &Pair{Cell: c, Matched: workload.Matched{Title: c.Name()}}
			for _, run := range c.Runs {
				p.Add(run, slices.Contains(other, run))
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

// WriteChanges writes tables for each direction and metric that was compared, with the change and its verdict in each cell.
// sides names the two, such as "after against before".
func WriteChanges(w io.Writer, format, sides string, pairs []*Pair) error {
	type number struct {
		direction string
		metric    facts.Metric
	}
	var numbers []number
	var matrices []*Matrix
	pairOf := map[*Cell]*Pair{}
	for _, p := range pairs {
		if pairOf[p.Cell] = p; !slices.Contains(matrices, p.of) {
			matrices = append(matrices, p.of)
		}
		for _, l := range p.Lines {
			if n := (number{l.Direction, l.Metric}); !slices.Contains(numbers, n) {
				numbers = append(numbers, n)
			}
		}
	}
	slices.SortStableFunc(numbers, func(a, b number) int {
		return cmp.Compare(slices.Index(mapping.Directions[:], a.direction), slices.Index(mapping.Directions[:], b.direction))
	})
	between := ""
	for _, n := range numbers {
		for _, m := range matrices {
			text := func(c *Cell) string {
				p := pairOf[c]
				for _, l := range p.Lines {
					if l.Direction == n.direction && l.Metric == n.metric {
						return l.Text() + " " + string(l.Verdict)
					}
				}
				if !slices.ContainsFunc(c.Runs, func(run *mapping.Run) bool { return totalsOf(run, n.direction) != nil }) {
					return ""
				}
				return p.Why
			}
			if !slices.ContainsFunc(m.Cells(), func(c *Cell) bool { return text(c) != "" }) {
				continue
			}
			fmt.Fprint(w, between)
			of := *m
			of.Direction, between = n.direction, "\n"
			if err := of.grid(w, format, of.Title(n.metric)+": "+sides, m.columns(n.metric.Text(), text), nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// ChangeColumns returns the columns of changes for programs: the values of the settings, and those of a comparison. pair
// returns the pair of a row.
func ChangeColumns(by []Setting, confidence float64, pair func(*compare.Row) *Pair) []table.Column[*compare.Row] {
	return append(settingColumns(by, func(r *compare.Row) *Cell { return pair(r).Cell }), compare.Columns(confidence)...)
}
