package compare

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/internal/window"
)

// Condition is a change that is not wanted.
type Condition struct {
	Text      string // as it was written
	Direction string // empty: any
	Metric    window.Metric
	above     bool // the limit, else below it
	limit     float64
}

var conditionForm = regexp.MustCompile(`^\s*(?:(read|write|trim)\s*\.)?\s*(\w[\w.]*)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*%\s*$`)

// ParseCondition reads "[read.]p99 > +10%".
func ParseCondition(text string) (Condition, error) {
	m := conditionForm.FindStringSubmatch(text)
	if m == nil {
		return Condition{}, fmt.Errorf("%q: want [DIRECTION.]METRIC > N%% or < N%%, "+
			"such as 'p99 > +10%%' or 'write.iops < -5%%'", text)
	}
	metrics, err := ParseMetrics(m[2])
	if err != nil {
		return Condition{}, fmt.Errorf("%q: %w", text, err)
	}
	limit, err := strconv.ParseFloat(m[4], 64)
	if err != nil {
		return Condition{}, fmt.Errorf("%q: %w", text, err)
	}
	return Condition{strings.TrimSpace(text), m[1], metrics[0], m[3] == ">", limit / 100}, nil
}

// isAbout reports whether the condition is about a line.
func (c *Condition) isAbout(l *Line) bool {
	return c.Metric == l.Metric && (c.Direction == "" || c.Direction == l.Direction)
}

// isMet reports whether the change is beyond the limit, and not by chance: 0 is outside the
// interval.
func (c *Condition) isMet(l *Line) bool {
	if l.Verdict != Better && l.Verdict != Worse {
		return false
	}
	if c.above {
		return l.Change.Change > c.limit
	}
	return l.Change.Change < c.limit
}

// Gate is what conditions come to, as messages.
type Gate struct {
	Met     []string // changes that are not wanted
	Unknown []string // conditions that cannot be checked, because there is no interval
	Absent  []string // conditions whose direction the sides do not both have
}

// Check checks conditions on a comparison.
func Check(conditions []Condition, base, other *Side, lines []Line) (g Gate) {
	for i := range conditions {
		c, isAbsent := &conditions[i], true
		for j := range lines {
			l := &lines[j]
			if !c.isAbout(l) {
				continue
			}
			isAbsent = false
			if c.isMet(l) {
				g.Met = append(g.Met, fmt.Sprintf("%s: %s against %s: %s %s from %s to %s, %s (%s)", c.Text, other.Name, base.Name,
					l.Direction, l.Metric, l.BaseText(), l.OtherText(), l.Change.Text(), l.IntervalText()))
			} else if l.Verdict == Unknown {
				g.Unknown = append(g.Unknown, fmt.Sprintf("%s: %s against %s: %s: not checked: %s",
					c.Text, other.Name, base.Name, l.Direction, l.Why))
			}
		}
		if isAbsent {
			g.Absent = append(g.Absent, fmt.Sprintf("%s: %s and %s do not both have %ss", c.Text, base.Name, other.Name, c.Direction))
		}
	}
	return g
}
