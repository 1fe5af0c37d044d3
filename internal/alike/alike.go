// Package alike groups messages, because a million files may have the same fault: the first messages of a kind are kept,
// and the last of these says how many more there are.
package alike

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// maxKinds bounds the memory: messages of further kinds count as one kind.
const maxKinds = 100

// List has messages and what they are about. Of a kind it keeps the first few and counts the others. It is not safe for
// concurrent use.
type List[T any] struct {
	Shown int // number of messages of a kind that are kept

	kept  []one[T]
	kinds map[string]*kind
}

type one[T any] struct {
	value   T
	message string
	kind    *kind
}

type kind struct{ kept, more int }

// Add adds a message, and reports whether it is kept. Messages are of one kind if they differ only in words that look like names and numbers: words with
// a digit, a quote, a slash, a dot, a colon or an equals sign, and words in brackets.
func (l *List[T]) Add(message string, value T) (isKept bool) {
	if l.kinds == nil {
		l.kinds = map[string]*kind{}
	}
	message, n := cut(message)
	name := Kind(message)
	k := l.kinds[name]
	if k == nil && len(l.kinds) >= maxKinds {
		name = "…"
		k = l.kinds[name]
	}
	if k == nil {
		k = &kind{}
		l.kinds[name] = k
	}
	if k.more += n; k.kept == l.Shown {
		k.more++
		return false
	}
	k.kept++
	l.kept = append(l.kept, one[T]{value, message, k})
	return true
}

// Sort sorts what is kept by its messages.
func (l *List[T]) Sort() {
	slices.SortStableFunc(l.kept, func(a, b one[T]) int { return strings.Compare(a.message, b.message) })
}

// Each calls do with each message that is kept, its value, and the number of further messages of its kind. The number is
// with the last one of a kind, and 0 with the others.
func (l *List[T]) Each(do func(message string, value T, more int)) {
	last := map[*kind]int{}
	for i := range l.kept {
		last[l.kept[i].kind] = i
	}
	for i, one := range l.kept {
		more := 0
		if last[one.kind] == i {
			more = one.kind.more
		}
		do(one.message, one.value, more)
	}
}

const before, after = " (and ", " more like this)"

// And returns a message that also stands for more like it.
func And(message string, more int) string {
	if more == 0 {
		return message
	}
	return fmt.Sprint(message, before, more, after)
}

// Wrap returns an error that also stands for more like it.
func Wrap(err error, more int) error {
	if more == 0 {
		return err
	}
	return fmt.Errorf("%w%s%d%s", err, before, more, after)
}

// cut is the inverse of And.
func cut(text string) (message string, more int) {
	if text, ok := strings.CutSuffix(text, after); ok {
		if i := strings.LastIndex(text, before); i >= 0 {
			if n, err := strconv.Atoi(text[i+len(before):]); err == nil {
				return text[:i], n
			}
		}
	}
	return text, 0
}

// Kind is a message without its names and numbers.
func Kind(message string) string {
	const most = 1000 // bytes: longer ones differ in their names
	if len(message) > most {
		message = strings.ToValidUTF8(message[:most], "")
	}
	words := strings.Fields(message)
	kept := words[:0]
	for _, w := range words {
		w = strings.TrimRight(w, ".:,;")
		isName := strings.HasPrefix(w, "(") && strings.HasSuffix(w, ")") || strings.ContainsFunc(w, isOfName)
		if !isName {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

func isOfName(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune(`"'/\.:=`, r) }
