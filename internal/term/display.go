package term

import (
	"cmp"
	"fmt"
	"os"
	"strings"
)

// Display is a terminal that shows one screen of text after another. Close restores what the terminal showed before.
type Display struct {
	f    *os.File
	open bool
}

// NewDisplay returns a display on a terminal. The first Show opens it.
func NewDisplay(f *os.File) *Display { return &Display{f: f} }

// Size returns the size in characters.
func (d *Display) Size() (columns, lines int) {
	const usualColumns, usualLines = 80, 24
	columns, lines = size(d.f)
	return cmp.Or(columns, usualColumns), cmp.Or(lines, usualLines)
}

// Show shows lines. They must fit the terminal, and have no control characters except colours.
func (d *Display) Show(lines []string) error {
	var b strings.Builder
	if !d.open {
		d.open = true
		b.WriteString("\x1b[?1049h\x1b[?25l") // switch to the alternate screen, and hide the cursor
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

// Close restores what the terminal showed before. It may be called several times; Show may be called again
// afterwards.
func (d *Display) Close() {
	if d.open {
		d.open = false
		fmt.Fprint(d.f, "\x1b[?25h\x1b[?1049l")
	}
}
