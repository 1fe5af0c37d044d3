package term

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"
)

// Display is a terminal that shows one screen of text after another. Close brings back what it showed before.
type Display struct {
	f    *os.File
	open bool
}

// NewDisplay is a display on a terminal. Show opens it.
func NewDisplay(f *os.File) *Display { return &Display{f: f} }

// Size is the size in characters.
func (d *Display) Size() (columns, lines int) {
	const usualColumns, usualLines = 80, 24
	columns, lines, err := term.GetSize(int(d.f.Fd()))
	if err != nil || columns <= 0 || lines <= 0 {
		return usualColumns, usualLines
	}
	return columns, lines
}

// Show shows lines, which fit the terminal and have no controls but colours.
func (d *Display) Show(lines []string) error {
	var b strings.Builder
	if !d.open {
		d.open = true
		b.WriteString("\x1b[?1049h\x1b[?25l") // another screen, and no cursor
	}
	b.WriteString("\x1b[H")
	for i, line := range lines {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString(line + "\x1b[K")
	}
	b.WriteString("\x1b[J")
	_, err := fmt.Fprint(d.f, b.String())
	return err
}

// Close brings back what the terminal showed before. It may be called several times, and Show afterwards.
func (d *Display) Close() {
	if d.open {
		d.open = false
		fmt.Fprint(d.f, "\x1b[?25h\x1b[?1049l")
	}
}
