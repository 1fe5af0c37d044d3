package term

import (
	"io"
	"strings"
	"unicode/utf8"
)

// Fill divides a text into lines that fit the columns, if its words allow it.
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

// FillFor divides a text that is longer than the lines of w, if w is a terminal. Elsewhere a text is one line.
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
