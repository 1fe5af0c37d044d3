package term

import (
	"io"
	"os"

	"golang.org/x/term"
)

// Screen is a Filter for a terminal that knows its width.
type Screen struct {
	*Filter
	columns func() int
}

// NewScreen filters what is written to w and shown by the terminal f.
func NewScreen(f *os.File, w io.Writer) *Screen {
	return &Screen{NewFilter(w), func() int {
		n, _, err := term.GetSize(int(f.Fd()))
		if err != nil {
			return 0
		}
		return n
	}}
}

// Columns is the width of the terminal in characters, 0 if it is not known.
func (s *Screen) Columns() int { return s.columns() }
