package term

import (
	"io"
	"os"

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
func (s *Screen) Size() (columns, lines int) {
	columns, lines, err := term.GetSize(int(s.f.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, lines
}

// Unfiltered returns the writer for text with escapes, whose other parts must be clean.
func (s *Screen) Unfiltered() io.Writer { return s.w }
