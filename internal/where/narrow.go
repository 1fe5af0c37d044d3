package where

import (
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Equals returns settings and labels (as paths in documents) and the value that each run must have there to meet the
// condition. A store can look these up. Other runs may have the same values.
func (c *Condition) Equals() iter.Seq2[string, string] {
	return func(yield func(path, value string) bool) {
		for _, t := range c.required() {
			if value, ok := t.equal(); ok && !yield(t.field.Path, value) {
				return
			}
		}
	}
}

// Started returns bounds of the start of all runs that meet the condition: [from, to). A zero time is no bound.
func (c *Condition) Started() (from, to time.Time) {
	for _, t := range c.required() {
		if t.field.Path != "run.start" {
			continue
		}
		begin, end, _ := period(t.text, t.now)
		switch t.op {
		case ">":
			begin, end = end, time.Time{}
		case ">=":
			end = time.Time{}
		case "<":
			begin, end = time.Time{}, begin
		case "<=":
			begin = time.Time{}
		case "=":
		default:
			continue
		}
		if begin.After(from) {
			from = begin
		}
		if !end.IsZero() && (to.IsZero() || end.Before(to)) {
			to = end
		}
	}
	return from, to
}

// Live reports whether only live runs can meet the condition.
func (c *Condition) Live() bool {
	return slices.ContainsFunc(c.required(), func(t test) bool { return t.field.Name == "live" && t.passes(true) == yes && t.passes(false) == no })
}

// required returns the tests that a run must pass to meet the condition.
func (c *Condition) required() []test {
	if c == nil {
		return nil
	}
	return testsOf(c.root, true)
}

// equal returns the only value, as in documents, with which a setting or a label passes the test. ok is false if
// there are several.
func (t test) equal() (value string, ok bool) {
	if t.op != "=" || !strings.HasPrefix(t.field.Path, "cbt.") && !strings.HasPrefix(t.field.Path, "run.labels.") {
		return "", false
	}
	if t.field.Kind == Text {
		_, isNumber := Size.number(t.text)
		return t.text, !isNumber
	}
	n, ok := t.field.Kind.number(t.text)
	return strconv.FormatInt(int64(n), 10), ok && n == math.Trunc(n) && math.Abs(n) < maxExact
}
