package term

import (
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
