// Package late makes what takes time to make when it is used first, so that starting the program does not take it.
package late

import (
	"regexp"
	"sync"
)

// Regexp returns a function that returns the compiled expression.
func Regexp(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
