package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/internal/compare"
)

// errMet ends what was done, but for a condition that is to fail: of --fail-if, or an
// objective that is broken. Which, was told.
var errMet = errors.New("a condition that is to fail was met")

// condition is one of --fail-if: a change that is not wanted.
type condition struct {
	text      string
	direction string // empty: any
	metric    compare.Metric
	above     bool // the limit, else below it
	limit     float64
}

var conditionForm = regexp.MustCompile(`^\s*(?:(read|write|trim)\s*\.)?\s*(\w[\w.]*)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*%\s*$`)

// parseCondition reads "[read.]p99 > +10%".
func parseCondition(text string) (condition, error) {
	m := conditionForm.FindStringSubmatch(text)
	if m == nil {
		return condition{}, usagef("--fail-if %q: want [DIRECTION.]METRIC > N%% or < N%%, such as 'p99 > +10%%' or 'write.iops < -5%%'", text)
	}
	metric, err := compare.ParseMetric(m[2])
	if err != nil {
		return condition{}, usagef("--fail-if %q: %w", text, err)
	}
	limit, err := strconv.ParseFloat(m[4], 64)
	if err != nil {
		return condition{}, usagef("--fail-if %q: %w", text, err)
	}
	return condition{strings.TrimSpace(text), m[1], metric, m[3] == ">", limit / 100}, nil
}

// isAbout tells whether the line is one that the condition is about.
func (c *condition) isAbout(l *compareLine) bool {
	return c.metric == l.Metric && (c.direction == "" || c.direction == l.direction)
}

// isMet tells whether the change is beyond the limit, and not by chance: the interval
// does not hold 0.
func (c *condition) isMet(l *compareLine) bool {
	if l.Verdict != compare.Better && l.Verdict != compare.Worse {
		return false
	}
	if c.above {
		return l.Change.Change > c.limit
	}
	return l.Change.Change < c.limit
}

// check tells which conditions are met, and which are open: there is no interval.
func (a *app) check(conditions []condition, base, other *compareSide, lines []compareLine) (isMet, isOpen bool) {
	for i := range conditions {
		c := &conditions[i]
		for j := range lines {
			l := &lines[j]
			switch {
			case !c.isAbout(l):
			case c.isMet(l):
				isMet = true
				a.log.Error(fmt.Sprintf("--fail-if %s: %s against %s: %s %s from %s to %s, %s (%s)", c.text, other.arg, base.arg, l.direction,
					l.Metric, baseText(&l.Change), otherText(&l.Change), changeText(&l.Change), interval(&l.Change)))
			case l.Verdict == compare.Unknown:
				isOpen = true
				a.log.Warn(fmt.Sprintf("--fail-if %s: %s against %s: %s: not checked: %s", c.text, other.arg, base.arg, l.direction, l.Why))
			}
		}
	}
	return isMet, isOpen
}

// absentIn are the conditions whose direction the sides do not both have.
func absentIn(conditions []condition, base, other *compareSide, lines []compareLine) (absent []error) {
	for i := range conditions {
		c := &conditions[i]
		if !slices.ContainsFunc(lines, func(l compareLine) bool { return c.isAbout(&l) }) {
			absent = append(absent, fmt.Errorf("--fail-if %s: %s and %s do not both have %ss", c.text, base.arg, other.arg, c.direction))
		}
	}
	return absent
}
