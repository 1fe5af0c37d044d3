package term

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Screen is a Filter for a terminal that knows its size.
type Screen struct {
	*Filter
	f *os.File
}

// NewScreen filters what is written to w and shown by the terminal f.
func NewScreen(f *os.File, w io.Writer) *Screen { return &Screen{NewFilter(w), f} }

// Columns is the width of the terminal in characters, 0 if it is not known.
func (s *Screen) Columns() int {
	columns, _ := s.Size()
	return columns
}

// Size is the size of the terminal in characters, 0 if it is not known.
func (s *Screen) Size() (columns, lines int) {
	columns, lines, err := term.GetSize(int(s.f.Fd()))
	if err != nil {
		return 0, 0
	}
	return columns, lines
}

// Unfiltered is the terminal for text with escapes, whose other parts are cleaned.
func (s *Screen) Unfiltered() io.Writer { return s.w }
