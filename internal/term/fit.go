package term

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Screen is a Filter for a terminal, which knows how many columns that has.
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

// Columns is how wide the terminal is; 0 if that is not known.
func (s *Screen) Columns() int { return s.columns() }

// Narrow says what becomes of a table that is wider than the terminal: texts of the columns
// in cut are shortened, then the columns in drop are left out one after another, and what
// became of them stands below the table. Texts alone are shortened, no number is. What is
// written to anything but a terminal is always whole.
func (t *Table) Narrow(cut, drop []string) { t.cut, t.drop = cut, drop }

// Texts are cut to so many characters before columns are dropped, and to so many afterwards.
const (
	shortText    = 20
	shortestText = 10
)

// fit makes the columns fit into so many characters, and says what is not shown; "" if all is.
func (t *Table) fit(columns int) string {
	if columns <= 0 || t.total() <= columns {
		return ""
	}
	whole := slices.Clone(t.width)
	t.cutTexts(columns, shortText)
	var gone []string
	for _, name := range t.drop {
		if i := slices.Index(t.header, name); t.total() > columns && t.width[i] > 0 {
			t.width[i] = 0
			gone = append(gone, name)
		}
	}
	for i, name := range t.header { // there may be room for texts now
		if slices.Contains(t.cut, name) && t.width[i] > 0 {
			t.width[i] = whole[i]
		}
	}
	t.cutTexts(columns, shortestText)
	var cut []string
	for i, name := range t.header {
		if t.width[i] > 0 && t.width[i] < whole[i] {
			cut = append(cut, name)
		}
	}
	var parts []string
	if len(gone) > 0 {
		parts = append(parts, "without "+strings.Join(gone, ", "))
	}
	if len(cut) > 0 {
		parts = append(parts, "with short texts of "+strings.Join(cut, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("(%s: the terminal has %d columns; \"| cat\" shows all)", strings.Join(parts, ", "), columns)
}

// cutTexts makes the widest texts that may be cut narrower, down to least at most.
func (t *Table) cutTexts(columns, least int) {
	for over := t.total() - columns; over > 0; over = t.total() - columns {
		widest := -1
		for _, name := range t.cut {
			i := slices.Index(t.header, name)
			if t.width[i] > max(least, utf8.RuneCountInString(name)) && (widest < 0 || t.width[i] > t.width[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		t.width[widest]--
	}
}

// total is how wide a line is.
func (t *Table) total() int {
	sum := 0
	for _, w := range t.width {
		if w > 0 {
			sum += w + len(gap)
		}
	}
	return sum - len(gap)
}

// shorten cuts the middle out of a text that is longer than so many characters.
func shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	r := []rune(text)
	tail := (width - 1) / 2
	return string(r[:width-1-tail]) + "…" + string(r[len(r)-tail:])
}
