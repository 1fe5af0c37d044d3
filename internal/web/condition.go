package web

import (
	"errors"
	"time"

	"github.com/fio2es/fio2es/internal/where"
)

// condition is the condition of a search as the user writes it.
type condition struct {
	Text    string
	Problem string // why it cannot be read; empty if it can
	Before  string // the text before the place of the problem
	Rest    string // the text from there on
}

// parseCondition reads a condition. It returns nil if the condition is wrong.
func parseCondition(text string) (condition, *where.Condition) {
	c := condition{Text: text}
	parsed, err := where.Parse(text, time.Now())
	if err == nil {
		return c, parsed
	}
	c.Problem = err.Error()
	if at := (*where.SyntaxError)(nil); errors.As(err, &at) {
		characters := []rune(text)
		place := min(max(at.Column-1, 0), len(characters))
		c.Before, c.Rest = string(characters[:place]), string(characters[place:])
	}
	return c, nil
}
