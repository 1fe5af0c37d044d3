package term

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Screen is a Filter for a terminal whose size is known.
type Screen struct {
	*Filter
	f *os.File
}

// HasColour reports whether the user accepts colours on terminals (NO_COLOR and TERM).
func HasColour() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// NewScreen returns a filter of what is written to w. f is the terminal that shows it.
func NewScreen(f *os.File, w io.Writer) *Screen { return &Screen{NewFilter(w), f} }

// Columns returns the width of [Screen.Size].
func (s *Screen) Columns() int {
	columns, _ := s.Size()
	return columns
}

// Size returns the size of the terminal in characters, or 0 if it is not known.
func (s *Screen) Size() (columns, lines int) { return size(s.f) }

// size returns the size of a terminal in characters, or 0 if it is not known.
func size(f *os.File) (columns, lines int) {
	columns, lines, _ = term.GetSize(int(f.Fd())) // 0 after an error
	return max(columns, 0), max(lines, 0)
}

// Unfiltered returns the writer for text with escapes, whose other parts must be clean.
func (s *Screen) Unfiltered() io.Writer { return s.w }

// Fill breaks a text into lines of at most columns characters. A longer word gets its own line.
func Fill(text string, columns int) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(text) {
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) > columns:
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
	if columns := screen.Columns(); columns > 0 && Width(text) > columns {
		return strings.Join(Fill(text, columns), "\n")
	}
	return text
}
