package where

import (
	"strings"

	"github.com/fio2es/fio2es/mapping"
)

// Parts returns the conditions that "and" joins. For other conditions it returns the condition itself; for the empty
// one, none.
func (c *Condition) Parts() (list []*Condition) {
	if c == nil || c.root == nil {
		return nil
	}
	g, ok := c.root.(group)
	if !ok || g.any {
		text := strings.TrimSpace(c.text)
		if ok && !isWrapped(text) {
			text = "(" + text + ")"
		}
		return []*Condition{{c.root, text}}
	}
	for i, n := range g.parts {
		list = append(list, &Condition{n, g.texts[i]})
	}
	return list
}

// All returns the condition that a run meets all conditions of a list. Every run meets nil.
func All(list ...*Condition) *Condition {
	all := group{}
	for _, c := range list {
		for _, p := range c.Parts() {
			all.parts, all.texts = append(all.parts, p.root), append(all.texts, p.text)
		}
	}
	return &Condition{all, strings.Join(all.texts, " and ")}
}

// That returns a condition that a function decides. The function may use [mapping.Run.Brief]. text says which runs
// meet the condition.
func That(text string, isMet func(*mapping.Run) bool) *Condition {
	return &Condition{decided(isMet), text}
}

// isWrapped reports whether the whole condition is in parentheses.
func isWrapped(text string) bool {
	list, err := tokens(text)
	depth := 0
	for i, t := range list {
		switch {
		case t.kind == operator && t.text == "(":
			depth++
		case t.kind == operator && t.text == ")":
			depth--
		}
		if depth == 0 && i < len(list)-2 {
			return false
		}
	}
	return err == nil
}

// quote puts a name or a value in quotes if necessary.
func quote(value string) string {
	if list, err := tokens(value); err == nil && len(list) == 2 && list[0].kind == word {
		return value
	}
	if strings.Contains(value, `"`) {
		return "'" + value + "'"
	}
	return `"` + value + `"`
}
