package compare

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/junit"
	"github.com/fio2es/fio2es/mapping"
)

// Condition is a change that must not happen.
type Condition struct {
	Text      string // as the user wrote it
	Direction string // empty: any direction
	Metric    facts.Metric
	above     bool // the change must not be above the limit; otherwise not below it
	limit     float64
}

// ParseCondition parses text such as "read.p99 > +10%" or "p99 > +10%".
func ParseCondition(text string) (Condition, error) {
	p := expr.New(text)
	c, at := Condition{Text: strings.TrimSpace(text)}, p.At()
	var ok bool
	if c.Direction, c.Metric, ok = facts.ReadSubject(p); !ok || !isCompared(c.Metric) {
		p.Want(at, wantMetric)
	}
	if c.Direction == mapping.Sync && !c.Metric.IsOf(c.Direction) {
		p.Want(at, "a latency: syncs have no IOPS")
	}
	if c.above = p.Op(">") != ""; !c.above && p.Op("<") == "" {
		p.Want(p.At(), "> or <")
	}
	c.limit, _ = p.Quantity(expr.Percent)
	if p.End("the end"); p.Err() != nil {
		return Condition{}, fmt.Errorf("%q, %w", text, p.Err())
	}
	return c, nil
}

// state evaluates the condition. It is met if the change is beyond the limit and not by chance, because 0 is outside
// its interval. It is unclear if it is not met but the interval reaches beyond the limit.
func (c *Condition) state(l *Line) State {
	switch {
	case !l.HasInterval():
		return NotChecked
	case (l.Verdict == Better || l.Verdict == Worse) && c.isBeyond(l.Change.Change):
		return Met
	case c.isBeyond(l.Low) || c.isBeyond(l.High):
		return Undecided
	}
	return NotMet
}

func (c *Condition) isBeyond(change float64) bool {
	if c.above {
		return change > c.limit
	}
	return change < c.limit
}

// State is the result of a condition.
type State string

// The results of a condition.
const (
	Met        State = "met"
	NotMet     State = "not met"
	Undecided  State = "unclear"
	NotChecked State = "not checked" // there is no interval
	Absent     State = "absent"      // a side lacks the direction
)

// Gate has the conditions of comparisons that must not be met, and their outcomes.
type Gate struct {
	Conditions []Condition
	OnUnclear  bool // an unclear condition fails the gate
	outcomes   []outcome
}

// outcome is the result of a condition in one direction. The case names no direction if the condition is about any and
// none is on both sides. Its text has the numbers, or why there are none.
type outcome struct {
	junit.Case
	condition *Condition
	state     State
	log       string // the text for people; it says a reason once
}

// Check checks the conditions on a comparison of two sides. title names the workload, if there are several. It returns
// the reasons of lines that the outcomes say.
func (g *Gate) Check(title string, base, other *Side, lines []Line) (said map[string]bool) {
	said = map[string]bool{}
	sides := other.Name + " against " + base.Name
	if title != "" {
		sides = title + ": " + sides
	}
	results := map[State]junit.Result{Met: junit.Failed, NotMet: junit.Passed, Undecided: junit.Skipped, NotChecked: junit.Errored, Absent: junit.Errored}
	if g.OnUnclear {
		results[Undecided] = junit.Failed
	}
	add := func(c *Condition, direction string, state State, detail string) {
		o := outcome{junit.Case{Class: sides, Name: c.Text, Result: results[state]}, c, state, ""}
		if direction != "" {
			o.Name += ": " + direction
		}
		o.Text = fmt.Sprintf("%s: %s: %s: %s", c.Text, state, sides, detail)
		if o.log = "--fail-if " + o.Text; said[detail] {
			o.log = fmt.Sprintf("--fail-if %s: %s: %s: as above", c.Text, state, direction)
		}
		g.outcomes = append(g.outcomes, o)
	}
	for i := range g.Conditions {
		c, isAbsent := &g.Conditions[i], true
		for j := range lines {
			l := &lines[j]
			if c.Metric != l.Metric || c.Direction != "" && c.Direction != l.Direction {
				continue
			}
			isAbsent = false
			state, detail := c.state(l), l.Reason()
			if state != NotChecked {
				detail = fmt.Sprintf("%s %s from %s to %s, %s (%s)", l.Direction, l.Metric, l.BaseText(), l.OtherText(), l.Change.Text(), l.IntervalText())
			}
			add(c, l.Direction, state, detail)
			said[detail] = true
		}
		if isAbsent {
			add(c, c.Direction, Absent, fmt.Sprintf("at least one of them has no %s", mapping.Plural(c.Direction)))
		}
	}
	return said
}

// Log logs what each condition of --fail-if comes to. isMet reports whether one is met, so that the gate fails, and
// unchecked whether one could not be checked. The error says that both sides lack the direction of a condition.
func (g *Gate) Log(log *slog.Logger) (isMet, unchecked bool, err error) {
	var absent []error
	for _, o := range g.outcomes {
		switch text := o.log; {
		case o.state == Absent:
			absent = append(absent, errors.New(text))
		case o.Result == junit.Failed:
			log.Error(text)
			isMet = true
		case o.Result == junit.Passed:
			log.Info(text)
		default:
			log.Warn(text)
			unchecked = unchecked || o.Result == junit.Errored
		}
	}
	return isMet, unchecked, errors.Join(absent...)
}

// Cases returns the conditions as test cases.
func (g *Gate) Cases() (list []junit.Case) {
	for _, o := range g.outcomes {
		list = append(list, o.Case)
	}
	return list
}

// DropAbsent removes the outcomes of conditions that are absent in a workload, unless they are absent in all.
func (g *Gate) DropAbsent() {
	isThere := map[*Condition]bool{}
	for _, o := range g.outcomes {
		isThere[o.condition] = isThere[o.condition] || o.state != Absent
	}
	g.outcomes = slices.DeleteFunc(g.outcomes, func(o outcome) bool { return o.state == Absent && isThere[o.condition] })
}
