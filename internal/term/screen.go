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

// HasColour reports whether the user wants colours on terminals, by the usual variables of the environment.
func HasColour() bool { return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" }

// ForcesColour reports whether the user wants colours wherever the output goes.
func ForcesColour() bool {
	force := os.Getenv("CLICOLOR_FORCE")
	return force != "" && force != "0" && HasColour()
}

// NewScreen filters what is written to w and shown by the terminal f.
func NewScreen(f *os.File, w io.Writer) *Screen { return &Screen{NewFilter(w), f} }

// Columns is the width of [Screen.Size].
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

// IsTerminal reports whether it is a terminal: with CLICOLOR_FORCE anything is a screen.
func (s *Screen) IsTerminal() bool { return IsTerminal(s.f) }

// Unfiltered is the terminal for text with escapes, whose other parts are cleaned.
func (s *Screen) Unfiltered() io.Writer { return s.w }
