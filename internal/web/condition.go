package web

import (
	"errors"
	"time"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/where"
)

// condition is the condition of a search as the user wrote it.
type condition struct {
	Text    string
	Problem string // the mistake; empty if there is none
	Before  string // text before the mistake
	Rest    string // text from the mistake on
}

// parseCondition parses a condition. The second result is nil if there is a mistake.
func parseCondition(text string) (condition, *where.Condition) {
	c := condition{Text: text}
	parsed, err := where.Parse(text, time.Now())
	if err == nil {
		return c, parsed
	}
	c.Problem = err.Error()
	if at := (*expr.Error)(nil); errors.As(err, &at) {
		characters := []rune(text)
		place := min(max(at.Column-1, 0), len(characters))
		c.Before, c.Rest = string(characters[:place]), string(characters[place:])
	}
	return c, nil
}
