// Package term writes for people at a terminal: log lines, a progress line and screens. Texts may contain names from
// archives and answers of servers. So all control characters in them are escaped: see [Clean].
package term

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean returns a text from an untrusted source as a terminal can show it on one line. Characters that cannot be
// shown are written as in Go strings: \x1b,
// , \u009b, \u202e. So no name can move the cursor, end the line, change a title or reverse the text.
func Clean(s string) string { return clean(s, "") }

// clean is Clean, except for the runes in keep. Letters, marks, digits, punctuation, symbols and spaces can be shown.
// Controls (C0, C1), formats (bidi and zero width), line separators, and bytes that are not UTF-8 cannot.
func clean(s, keep string) string {
	var b []byte
	done := 0 // bytes of s that are in b
	for i := 0; i < len(s); {
		if ' ' <= s[i] && s[i] <= '~' { // nearly all characters, and a table of a day has a million numbers
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError && n <= 1 || !unicode.IsGraphic(r) && !strings.ContainsRune(keep, r) {
			quoted := strconv.QuoteToASCII(s[i : i+n])
			b = append(append(b, s[done:i]...), quoted[1:len(quoted)-1]...)
			done = i + n
		}
		i += n
	}
	if done == 0 {
		return s
	}
	return string(append(b, s[done:]...))
}

// ownLines are the control characters that texts of several lines may have.
const ownLines = "\n\t"

// Line writes a line of text, and cleans all of it.
func Line(w io.Writer, format string, args ...any) error {
	_, err := io.WriteString(w, Clean(fmt.Sprintf(format, args...))+"\n")
	return err
}

// Filter is a writer to a terminal that cleans its text, except newlines and tabs. It is the last protection for
// texts with parts that were not cleaned.
type Filter struct {
	w    io.Writer
	rest []byte // first bytes of a character that the next Write completes
}

// NewFilter returns a filter of what is written to w.
func NewFilter(w io.Writer) *Filter { return &Filter{w: w} }

// Write implements [io.Writer].
func (f *Filter) Write(p []byte) (int, error) {
	text := append(f.rest, p...)
	end := len(text)
	for i := max(0, end-utf8.UTFMax+1); i < end; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			end = i
			break
		}
	}
	f.rest = append([]byte(nil), text[end:]...)
	if _, err := io.WriteString(f.w, clean(string(text[:end]), ownLines)); err != nil {
		return 0, err
	}
	return len(p), nil
}
