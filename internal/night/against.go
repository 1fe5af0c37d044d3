package night

import (
	"slices"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Comparison is a night against another one.
type Comparison struct {
	Base   *Night
	Absent []*Test // of the base: those that the night lacks
	pairs  map[*Test]*Pair
	tests  []*Test // in the order of the night
}

// Pair is a test and the one of the same workload that it is compared with.
type Pair struct {
	*Test
	Base  *Test
	Lines []compare.Line // set by [Comparison.Compare]
	Why   string         // why there are none
}

// Against pairs the tests of a night with those of another that have the same workload.
func (n *Night) Against(base *Night) *Comparison {
	c := &Comparison{Base: base, pairs: map[*Test]*Pair{}, tests: n.Tests()}
	isSame := func(a *Test) func(*Test) bool {
		return func(b *Test) bool { return a.Key == b.Key && a.Direction == b.Direction }
	}
	from := base.Tests()
	for _, t := range c.tests {
		if i := slices.IndexFunc(from, isSame(t)); i >= 0 {
			c.pairs[t] = &Pair{Test: t, Base: from[i]}
		}
	}
	for _, t := range from {
		if !slices.ContainsFunc(c.tests, isSame(t)) {
			c.Absent = append(c.Absent, t)
		}
	}
	return c
}

// Of returns the pair of a test, or nil if the base does not have its workload.
func (c *Comparison) Of(t *Test) *Pair { return c.pairs[t] }

// Pairs returns the pairs in the order of the night.
func (c *Comparison) Pairs() (list []*Pair) {
	for _, t := range c.tests {
		if p := c.pairs[t]; p != nil {
			list = append(list, p)
		}
	}
	return list
}

// Compare compares each pair. read returns a run of either side with its windows, or nil if it cannot be read. Runs that lack some
// of their files are not compared, as everywhere.
func (c *Comparison) Compare(read func(*mapping.Run) *compare.Run, opt compare.Options) {
	side := func(runs []*mapping.Run) *compare.Side {
		s := &compare.Side{}
		for _, run := range runs {
			if one := read(run); one != nil && !run.Run.Partial && !one.IsEmpty() {
				s.Runs = append(s.Runs, one)
			}
		}
		return s
	}
	type answer struct {
		lines []compare.Line
		why   string
	}
	of := map[string]answer{} // by workload: the tests of two directions have the same runs
	for _, p := range c.Pairs() {
		a, ok := of[p.Key]
		if !ok {
			base, other := side(p.Base.Runs), side(p.Runs)
			switch {
			case len(base.Runs) == 0:
				a.why = why(p.Base.Runs)
			case len(other.Runs) == 0:
				a.why = why(p.Runs)
			default:
				lines, _, err := compare.Compare(base, other, opt)
				if a.lines = lines; err != nil {
					a.why = err.Error()
				}
			}
			of[p.Key] = a
		}
		p.Why = a.why
		for _, l := range a.lines {
			if l.Direction == p.Direction {
				p.Lines = append(p.Lines, l)
			}
		}
	}
}

func why(runs []*mapping.Run) string {
	if runs[0].Run.Partial {
		return "without some of its files"
	}
	return "nothing to compare"
}

// Line returns how a number changed, or nil if it is not compared.
func (p *Pair) Line(m facts.Metric) *compare.Line {
	if i := slices.IndexFunc(p.Lines, func(l compare.Line) bool { return l.Metric == m }); i >= 0 {
		return &p.Lines[i]
	}
	return nil
}

// Verdict returns the verdict on all numbers of the pair: worse if one is worse, else better if one is better, and so on.
func (p *Pair) Verdict() compare.Verdict {
	for _, v := range []compare.Verdict{compare.Worse, compare.Better, compare.Unclear, compare.Same, compare.NoInterval} {
		if slices.ContainsFunc(p.Lines, func(l compare.Line) bool { return l.Verdict == v }) {
			return v
		}
	}
	return compare.Unknown
}

// Before returns the night before another one, of the runs of a history: those of the newest archive that has one of its workloads
// and began before it. It is nil if there is none.
func Before(n *Night, history []*mapping.Run) *Night {
	keys := map[string]bool{}
	for _, t := range n.Tests() {
		keys[t.Key] = true
	}
	var earlier []*mapping.Run
	for _, run := range history {
		if !run.Run.Live() && workload.LeftOut(run) != "without a date" && run.Run.Start.Before(n.Start()) {
			earlier = append(earlier, run)
		}
	}
	slices.SortStableFunc(earlier, byStart)
	for _, run := range slices.Backward(earlier) {
		if slices.ContainsFunc(facts.Parts(run), func(part *mapping.Run) bool { return keys[workload.Key(part)] }) {
			name := run.Run.Archive
			return New(nameOf([]string{name}), slices.DeleteFunc(earlier, func(other *mapping.Run) bool { return other.Run.Archive != name }))
		}
	}
	return nil
}

// Levels returns what is known of the level of each test in a history: of the usual numbers the row that says most, with the
// latest change. history may have the runs of the night, and later ones do not count.
func Levels(n *Night, history []*mapping.Run) map[*Test]*workload.Row {
	tests := map[string][]*Test{}
	for _, t := range n.Tests() {
		tests[t.Key] = append(tests[t.Key], t)
	}
	have := map[string]bool{}
	var runs []*mapping.Run
	for _, run := range slices.Concat(n.Runs, history) {
		id := workload.Key(run) + run.Run.Start.String() // those of the night may be in files, which have no id
		if !have[id] && !run.Run.Start.After(n.End()) {
			have[id], runs = true, append(runs, run)
		}
	}
	runs = slices.DeleteFunc(facts.Parts(runs...), func(part *mapping.Run) bool { return tests[workload.Key(part)] == nil })
	levels := map[*Test]*workload.Row{}
	for _, w := range workload.Group(runs) {
		for _, row := range workload.Foremost(w.Series(workload.MustNumbers(workload.Usual()...), workload.LeastChange)) {
			for _, t := range tests[workload.Key(w.Runs[0])] {
				if t.Direction == row.Direction {
					levels[t] = row
				}
			}
		}
	}
	return levels
}
