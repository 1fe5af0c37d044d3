package compare

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Condition is a change that is not wanted.
type Condition struct {
	Text      string // as it was written
	Direction string // empty: any
	Metric    Metric
	above     bool // the limit, else below it
	limit     float64
}

var conditionForm = regexp.MustCompile(`^\s*(?:(read|write|trim)\s*\.)?\s*(\w[\w.]*)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*%\s*$`)

// ParseCondition reads "[read.]p99 > +10%".
func ParseCondition(text string) (Condition, error) {
	m := conditionForm.FindStringSubmatch(text)
	if m == nil {
		return Condition{}, fmt.Errorf("%q: want [DIRECTION.]METRIC > N%% or < N%%, such as 'p99 > +10%%' or 'write.iops < -5%%'", text)
	}
	metric, err := ParseMetric(m[2])
	if err != nil {
		return Condition{}, fmt.Errorf("%q: %w", text, err)
	}
	limit, err := strconv.ParseFloat(m[4], 64)
	if err != nil {
		return Condition{}, fmt.Errorf("%q: %w", text, err)
	}
	return Condition{strings.TrimSpace(text), m[1], metric, m[3] == ">", limit / 100}, nil
}

// IsAbout reports whether the condition is about a line.
func (c *Condition) IsAbout(l *Line) bool {
	return c.Metric == l.Metric && (c.Direction == "" || c.Direction == l.Direction)
}

// IsMet reports whether the change is beyond the limit, and not by chance: 0 is outside the
// interval.
func (c *Condition) IsMet(l *Line) bool {
	if l.Verdict != Better && l.Verdict != Worse {
		return false
	}
	if c.above {
		return l.Change.Change > c.limit
	}
	return l.Change.Change < c.limit
}
