package term

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Fill breaks a text into lines of at most columns characters. A longer word gets its own line.
func Fill(text string, columns int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > columns:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	return append(lines, line)
}

// FillFor breaks a text that is longer than the lines of w, if w is a terminal. Otherwise the text stays on one
// line.
func FillFor(w io.Writer, text string) string {
	screen, ok := w.(interface{ Columns() int })
	if !ok {
		return text
	}
	if columns := screen.Columns(); columns > 0 && utf8.RuneCountInString(text) > columns {
		return strings.Join(Fill(text, columns), "\n")
	}
	return text
}
