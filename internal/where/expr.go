package where

import (
	"slices"
	"time"

	"github.com/fio2es/fio2es/mapping"
)

// Condition is a condition on runs. Every run meets the zero value.
type Condition struct {
	root node
	text string
}

// Matches reports whether a run certainly meets the condition.
func (c *Condition) Matches(run *mapping.Run) bool { return c.of(run) == yes }

// Undecided reports whether it is unknown if a run meets the condition, because a latency in it is an [AtLeast].
func (c *Condition) Undecided(run *mapping.Run) bool { return c.of(run) == undecided }

func (c *Condition) of(run *mapping.Run) verdict {
	if c == nil || c.root == nil {
		return yes
	}
	return c.root.of(run)
}

// String returns the condition as the user wrote it.
func (c *Condition) String() string {
	if c == nil {
		return ""
	}
	return c.text
}

// Beyond returns the fields, as paths in documents, that are needed beyond [mapping.Run.Brief] to decide the
// condition. ok is false if [mapping.Run.Brief] with fields is not enough.
func (c *Condition) Beyond() (fields []string, ok bool) {
	for _, f := range c.Fields() {
		if !f.isBrief() {
			fields = append(fields, f.Path)
		}
	}
	return fields, true
}

// Fields returns the fields that the condition names, each once.
func (c *Condition) Fields() []*Field {
	if c == nil {
		return nil
	}
	var list []*Field
	for _, t := range testsOf(c.root, false) {
		if !slices.Contains(list, t.field) {
			list = append(list, t.field)
		}
	}
	return list
}

type node interface {
	of(run *mapping.Run) verdict
}

// testsOf returns the tests in a part. With isRequired, it returns only the tests that a run must pass to meet the
// part.
func testsOf(n node, isRequired bool) (list []test) {
	switch n := n.(type) {
	case test:
		return []test{n}
	case inverse:
		if !isRequired {
			return testsOf(n.node, false)
		}
	case group:
		if isRequired && n.any {
			return nil
		}
		for _, part := range n.parts {
			list = append(list, testsOf(part, isRequired)...)
		}
	}
	return list
}

// group is met if all of its parts are met, or if any of them is.
type group struct {
	parts []node
	any   bool
	texts []string // the parts as the user wrote them
}

func (g group) of(run *mapping.Run) verdict {
	result := verdictOf(!g.any)
	for _, part := range g.parts {
		if g.any {
			result = max(result, part.of(run))
		} else {
			result = min(result, part.of(run))
		}
		if result == verdictOf(g.any) {
			break
		}
	}
	return result
}

// inverse is met if its part is not met.
type inverse struct{ node }

func (i inverse) of(run *mapping.Run) verdict { return yes - i.node.of(run) }

// decided is met if a function returns true.
type decided func(*mapping.Run) bool

func (d decided) of(run *mapping.Run) verdict { return verdictOf(d(run)) }

// test compares a field of a run.
type test struct {
	field  *Field
	passes func(value any) verdict // the best verdict of the field's values counts

	op, text string // as the user wrote them; empty for a field without an operator
	now      time.Time
}

func (t test) of(run *mapping.Run) verdict {
	result := no
	for _, v := range t.field.Values(run) {
		result = max(result, t.passes(v))
	}
	return result
}
