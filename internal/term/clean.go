// Package term writes for people at a terminal: log lines and a line of progress. Names from archives and answers of
// servers are in what it writes, so all text is cleaned of what a terminal would act on: see [Clean].
package term

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean is a text from elsewhere, such as the name of a file or the reason of a server, as a terminal can show it on
// one line. Characters without a picture are written as in Go strings: \x1b, \n, \u009b, \u202e. So no name can move
// the cursor, end the line, change a title or reverse the text.
func Clean(s string) string { return clean(s, "") }

// clean is Clean with runes that are kept.
func clean(s, keep string) string {
	if !dirty(s, keep) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if shown(r, n, keep) {
			b.WriteString(s[i : i+n])
		} else {
			quoted := strconv.QuoteToASCII(s[i : i+n])
			b.WriteString(quoted[1 : len(quoted)-1])
		}
		i += n
	}
	return b.String()
}

func dirty(s, keep string) bool {
	for i := 0; i < len(s); {
		if ' ' <= s[i] && s[i] <= '~' { // nearly all: a table of a day has a million numbers
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if !shown(r, n, keep) {
			return true
		}
		i += n
	}
	return false
}

// shown reports whether a rune of n bytes can be shown as it is. Letters, marks, digits, punctuation, symbols and
// spaces can. Controls (C0, C1), formats (bidi and zero width), line separators, and bytes that are not UTF-8 cannot.
func shown(r rune, n int, keep string) bool {
	if r == utf8.RuneError && n <= 1 {
		return false
	}
	return unicode.IsGraphic(r) || strings.ContainsRune(keep, r)
}
