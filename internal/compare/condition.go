package compare

import (
	"fmt"
	"strings"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/window"
)

// Condition is a change that must not happen.
type Condition struct {
	Text      string // as the user wrote it
	Direction string // empty: any direction
	Metric    window.Metric
	above     bool // the change must not be above the limit; otherwise not below it
	limit     float64
}

// ParseCondition parses text such as "read.p99 > +10%" or "p99 > +10%".
func ParseCondition(text string) (Condition, error) {
	p := expr.New(text)
	c, at := Condition{Text: strings.TrimSpace(text)}, p.At()
	var ok bool
	if c.Direction, c.Metric, ok = window.ParseSubject(p.Until("<>=!~")); !ok || !isCompared(c.Metric) {
		p.Want(at, wantMetric)
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

// isAbout reports whether the condition applies to a line.
func (c *Condition) isAbout(l *Line) bool {
	return c.Metric == l.Metric && (c.Direction == "" || c.Direction == l.Direction)
}

// state evaluates the condition. It is met if the change is beyond the limit and not by chance, because 0 is outside
// its interval. It is unclear if it is not met but the interval reaches beyond the limit.
func (c *Condition) state(l *Line) State {
	switch {
	case l.Verdict == Unknown:
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

// Outcome is the result of a condition in one direction.
type Outcome struct {
	Condition *Condition
	Sides     string // "new against old"
	Direction string // empty if the condition is about any direction and none is on both sides
	State     State
	Detail    string // the numbers, or why there are none
}

// String returns the outcome as a message.
func (o *Outcome) String() string {
	return fmt.Sprintf("%s: %s: %s: %s", o.Condition.Text, o.State, o.Sides, o.Detail)
}

// Check evaluates conditions on a comparison.
func Check(conditions []Condition, base, other *Side, lines []Line) (list []Outcome) {
	sides := other.Name + " against " + base.Name
	for i := range conditions {
		c, isAbsent := &conditions[i], true
		for j := range lines {
			l := &lines[j]
			if !c.isAbout(l) {
				continue
			}
			isAbsent = false
			o := Outcome{c, sides, l.Direction, c.state(l), l.Direction + ": " + l.Why}
			if o.State != NotChecked {
				o.Detail = fmt.Sprintf("%s %s from %s to %s, %s (%s)", l.Direction, l.Metric, l.BaseText(), l.OtherText(), l.Change.Text(), l.IntervalText())
			}
			list = append(list, o)
		}
		if isAbsent {
			list = append(list, Outcome{c, sides, c.Direction, Absent, fmt.Sprintf("at least one of them has no %ss", c.Direction)})
		}
	}
	return list
}
