// Package alike limits repeated messages: a million files may have the same fault. The first ten messages of a kind
// are shown, and the others are counted.
package alike

import (
	"strings"
	"unicode"
)

const (
	// shown is how many messages of a kind are shown.
	shown = 10
	// maxKinds bounds the memory: messages of further kinds count as one kind.
	maxKinds = 1000
)

// Counter counts messages by their kind. The zero value is ready to use. It is not safe for
// concurrent use.
type Counter struct {
	seen map[string]int
	kept []string // kinds in the order of their first messages
}

// Add counts a message and reports whether it is one of the first ten of its kind. Messages are of one kind if they
// differ only in words that look like names and numbers: words with a digit, a quote, a slash, a dot or an equals
// sign.
func (c *Counter) Add(message string) bool {
	kind := Kind(message)
	if c.seen == nil {
		c.seen = map[string]int{}
	}
	if _, ok := c.seen[kind]; !ok && len(c.seen) >= maxKinds {
		kind = "…"
	}
	if c.seen[kind]++; c.seen[kind] == 1 {
		c.kept = append(c.kept, kind)
	}
	return c.seen[kind] <= shown
}

// More calls each with the number of messages of a kind beyond the first ten, in the order of the kinds' first
// messages.
func (c *Counter) More(each func(kind string, n int)) {
	for _, kind := range c.kept {
		if n := c.seen[kind] - shown; n > 0 {
			each(kind, n)
		}
	}
}

// Kind is a message without its names and numbers.
func Kind(message string) string {
	const most = 300 // bytes: longer ones differ in their names
	if len(message) > most {
		message = strings.ToValidUTF8(message[:most], "")
	}
	words := strings.Fields(message)
	kept := words[:0]
	for _, w := range words {
		if !strings.ContainsFunc(strings.TrimRight(w, ".:,;"), isOfName) {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

func isOfName(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune(`"'/\.=`, r) }
