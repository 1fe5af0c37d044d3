package unit

import (
	"cmp"
	"strings"
)

// Compare orders names and paths as people do: runs of digits by their value, and a folder's content before a longer name.
func Compare(a, b string) int {
	const digits = "0123456789"
	x, y := a, b
	for x != "" && y != "" {
		c, d := x[0], y[0]
		if '0' <= c && c <= '9' && '0' <= d && d <= '9' {
			afterX, afterY := strings.TrimLeft(x, digits), strings.TrimLeft(y, digits)
			m := strings.TrimLeft(x[:len(x)-len(afterX)], "0")
			n := strings.TrimLeft(y[:len(y)-len(afterY)], "0")
			if c := cmp.Or(cmp.Compare(len(m), len(n)), strings.Compare(m, n)); c != 0 {
				return c
			}
			x, y = afterX, afterY
			continue
		}
		switch {
		case c == d:
		case c == '/':
			return -1
		case d == '/':
			return 1
		default:
			return cmp.Compare(c, d)
		}
		x, y = x[1:], y[1:]
	}
	// Equal but for leading zeros: any fixed order will do.
	return cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(a, b))
}
