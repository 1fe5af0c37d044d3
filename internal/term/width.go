package term

import (
	"unicode"

	"golang.org/x/text/width"
)

// Width returns how many columns of a terminal a text takes: two for each wide character, such as 試, and none for a mark on the character
// before it.
func Width(text string) (columns int) {
	for _, r := range text {
		columns += widthOf(r)
	}
	return columns
}

func widthOf(r rune) int {
	const firstMark = 0x300
	if r < firstMark {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// Begin returns the longest beginning of a text that is at most most columns wide.
func Begin(text string, most int) string {
	for i, r := range text {
		if most -= widthOf(r); most < 0 {
			return text[:i]
		}
	}
	return text
}

// End returns the longest end of a text that is at most most columns wide.
func End(text string, most int) string {
	over := Width(text) - most
	for i, r := range text {
		if over <= 0 && widthOf(r) > 0 { // a mark stays with its character
			return text[i:]
		}
		over -= widthOf(r)
	}
	return ""
}

// Shorten cuts out the middle of a text that is wider than most columns of a terminal.
func Shorten(text string, most int) string {
	if Width(text) <= most {
		return text
	}
	tail := (most - 1) / 2
	return Begin(text, most-1-tail) + "…" + End(text, tail)
}
