package table

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fio2es/fio2es/internal/term"
)

// Lengths in characters to which texts are cut: before columns are left out, and afterwards.
const (
	shortText    = 20
	shortestText = 10
)

// fit makes a table fit into lines of this many characters, and returns a note on what is not shown. It shortens
// texts of the columns in cut, and then leaves out the columns in drop, one after another. It never shortens
// numbers.
func (g *grid) fit(characters int) string {
	if characters <= 0 || g.total() <= characters {
		return ""
	}
	needed := slices.Clone(g.width)
	g.cutTexts(characters, shortText)
	var gone []string
	for _, name := range g.drop {
		if i := slices.Index(g.headings, name); g.total() > characters && g.width[i] > 0 {
			g.width[i] = 0
			gone = append(gone, name)
		}
	}
	for i, name := range g.headings { // fewer columns leave room for longer texts
		if slices.Contains(g.cut, name) && g.width[i] > 0 {
			g.width[i] = needed[i]
		}
	}
	g.cutTexts(characters, shortestText)
	var short []string
	for i, name := range g.headings {
		if g.width[i] > 0 && g.width[i] < needed[i] {
			short = append(short, name)
		}
	}
	var parts []string
	if len(gone) > 0 {
		parts = append(parts, "without "+strings.Join(gone, ", "))
	}
	if len(short) > 0 {
		parts = append(parts, "with short texts of "+strings.Join(short, ", "))
	}
	if len(parts) == 0 {
		return ""
	}
	note := fmt.Sprintf("(%s: the terminal has %d columns; \"| cat\" shows all)", strings.Join(parts, ", "), characters)
	return strings.Join(term.Fill(note, characters), "\n")
}

// cutTexts makes the widest texts that may be cut narrower, but not below least.
func (g *grid) cutTexts(characters, least int) {
	for over := g.total() - characters; over > 0; over = g.total() - characters {
		widest := -1
		for _, name := range g.cut {
			i := slices.Index(g.headings, name)
			if g.width[i] > max(least, utf8.RuneCountInString(name)) && (widest < 0 || g.width[i] > g.width[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		g.width[widest]--
	}
}

// total returns the width of a line.
func (g *grid) total() int {
	sum := 0
	for _, w := range g.width {
		if w > 0 {
			sum += w + len(gap)
		}
	}
	return sum - len(gap)
}
