package table

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/term"
)

// grid lays out tables for people, on a terminal or in Markdown. It leaves out columns that are empty in all rows.
type grid struct {
	isMarkdown bool
	headings   []string
	right      []bool // columns of numbers
	cut, drop  []int  // columns whose texts are cut, and columns that are left out
	keeps      []byte // by column, what a cut text keeps: '<' its end, ':' all but the seconds of a time, else both ends

	title []string   // lines above the table that are not written yet
	rows  [][]string // rows that are not written yet
	width []int      // by column; 0 if the column is empty in all rows so far
	shown int        // columns in the last header
	begun bool       // a table has been begun
}

// gap separates columns on a terminal.
const gap = "  "

// newGrid returns a grid. A heading that begins with ">" means a column of numbers.
func newGrid(isMarkdown bool, headings, cut, drop []string) *grid {
	g := &grid{isMarkdown: isMarkdown, keeps: make([]byte, len(headings))}
	for _, h := range headings {
		name, right := strings.CutPrefix(h, ">")
		g.headings, g.right = append(g.headings, g.clean(name)), append(g.right, right)
	}
	column := func(name string) int { return slices.Index(g.headings, strings.ToUpper(name)) } // which may name the time zone
	for _, name := range cut {
		if i := column(strings.TrimLeft(name, "<:")); i >= 0 {
			if g.keeps[i] = name[0]; name[0] != ':' {
				g.cut = append(g.cut, i)
			}
		}
	}
	for _, name := range drop {
		if i := column(name); i >= 0 {
			g.drop = append(g.drop, i)
		}
	}
	g.begin(nil)
	return g
}

func (g *grid) begin(title []string) {
	g.title, g.rows, g.width, g.shown = title, nil, make([]int, len(g.headings)), 0
}

// clean returns a text on one line, escaped for the format.
func (g *grid) clean(text string) string {
	text = term.Clean(text)
	if g.isMarkdown {
		text = special.Replace(text)
	}
	return text
}

// text writes lines of text. In Markdown, several lines become a list.
func (g *grid) text(w io.Writer, out *bufio.Writer, lines []string) {
	for _, line := range lines {
		line = g.clean(line)
		if g.isMarkdown && len(lines) > 1 {
			line = "- " + strings.Join(strings.Fields(line), " ")
		}
		if !g.isMarkdown {
			line = term.FillFor(w, line)
		}
		out.WriteString(line + "\n")
	}
}

// special escapes the characters that have a meaning within a line of Markdown.
var special = strings.NewReplacer(func() (pairs []string) {
	for _, c := range "\\`*_[]<>|~&" {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return pairs
}()...)

func (g *grid) add(cells []string) {
	for i, cell := range cells {
		cells[i] = g.clean(cell)
		if n := term.Width(cells[i]); n > 0 {
			g.width[i] = max(g.width[i], n, term.Width(g.headings[i]))
		}
	}
	g.rows = append(g.rows, cells)
}

// write writes the rows, after the title if that is not written yet, and drops them. A very long table is written in
// parts, so it need not fit into memory. From part to part columns only get wider. The header is repeated if there
// is a new column.
func (g *grid) write(w io.Writer) error {
	screen, isColoured := w.(interface{ Unfiltered() io.Writer })
	isColoured = isColoured && !g.isMarkdown && term.HasColour()
	out := bufio.NewWriter(w)
	if isColoured {
		out.Reset(screen.Unfiltered()) // safe, because all cells are clean
	}
	if len(g.title) > 0 && g.begun {
		out.WriteString("\n")
	}
	if g.isMarkdown && len(g.title) == 1 {
		out.WriteString("**" + g.clean(g.title[0]) + "**\n\n")
	} else {
		g.text(w, out, g.title)
		if len(g.title) > 0 && g.isMarkdown {
			out.WriteString("\n")
		}
	}
	g.title, g.begun = nil, true
	if g.isMarkdown && len(g.rows) == 0 {
		return out.Flush()
	}
	needed, note := slices.Clone(g.width), ""
	if screen, ok := w.(interface{ Columns() int }); ok && !g.isMarkdown {
		note = g.fit(screen.Columns())
	}
	shown := 0
	for _, w := range g.width {
		shown += min(w, 1)
	}
	if shown != g.shown || shown == 0 { // the header
		if g.isMarkdown && g.shown > 0 {
			out.WriteString("\n")
		}
		g.line(out, g.headings, false)
		if g.isMarkdown {
			rules := make([]string, len(g.headings))
			for i, right := range g.right {
				if rules[i] = "---"; right {
					rules[i] = "--:"
				}
			}
			g.line(out, rules, false)
		}
	}
	g.shown = shown
	for _, row := range g.rows {
		g.line(out, row, isColoured)
	}
	if note != "" {
		out.WriteString(note + "\n")
	}
	g.width = needed
	clear(g.rows)
	g.rows = g.rows[:0]
	return out.Flush()
}

// verdictHeading is the heading of columns of verdicts, which are coloured on terminals. Columns of numbers may have a
// verdict behind each number: "+12.3 % worse".
const verdictHeading = "VERDICT"

// painted returns a verdict in its colour: red is bad, green is good, yellow is unknown.
func painted(verdict string) string {
	first, _, _ := strings.Cut(verdict, " ")
	colours := map[string]string{"worse": "31", "broken": "31", "better": "32", "met": "32", "unclear": "33", "unknown": "33"}
	colour := colours[first]
	if at := strings.LastIndex(verdict, "% "); colour == "" && at >= 0 {
		colour = colours[verdict[at+2:]]
	}
	if colour == "" {
		return verdict
	}
	return "\x1b[" + colour + "m" + verdict + "\x1b[0m"
}

func (g *grid) line(out *bufio.Writer, cells []string, isColoured bool) {
	line := out.AvailableBuffer()
	if g.isMarkdown {
		line = append(line, '|')
	}
	for i, w := range g.width {
		switch {
		case w == 0:
		case g.isMarkdown:
			line = append(append(append(line, ' '), cells[i]...), " |"...)
		default:
			cell := cells[i]
			switch {
			case term.Width(cell) <= w:
			case g.keeps[i] == '<':
				cell = "…" + term.End(cell, w-1)
			case g.keeps[i] == ':':
				cell = term.Begin(cell, w)
			default:
				cell = term.Shorten(cell, w)
			}
			pad := w - term.Width(cell)
			if len(line) > 0 {
				line = append(line, gap...)
			}
			if isColoured && (g.right[i] || g.headings[i] == verdictHeading) {
				cell = painted(cell)
			}
			if spaces := strings.Repeat(" ", pad); g.right[i] {
				line = append(append(line, spaces...), cell...)
			} else {
				line = append(append(line, cell...), spaces...)
			}
		}
	}
	out.Write(append(bytes.TrimRight(line, " "), '\n'))
}

// Lengths in characters to which texts are cut: before columns are left out, of texts that keep their end because it says more,
// and afterwards.
const (
	shortText    = 16
	shortTail    = 22
	shortestText = 10
	toTheMinute  = len("2006-01-02 15:04")
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
	for i := range g.width {
		if g.total() > characters && g.width[i] > 0 && g.keeps[i] == ':' {
			g.width[i] = max(toTheMinute, term.Width(g.headings[i]))
		}
	}
	var gone []string
	for _, i := range g.drop {
		if g.total() > characters && g.width[i] > 0 {
			g.width[i] = 0
			gone = append(gone, g.headings[i])
		}
	}
	for _, i := range g.cut { // fewer columns leave room for longer texts
		if g.width[i] > 0 {
			g.width[i] = needed[i]
		}
	}
	g.cutTexts(characters, shortestText)
	if len(gone) == 0 {
		return ""
	}
	return strings.Join(term.Fill("(no room for "+strings.Join(gone, ", ")+"; \"| cat\" shows all)", characters), "\n")
}

// cutTexts makes the widest texts that may be cut narrower, but not below shortest.
func (g *grid) cutTexts(characters, shortest int) {
	for over := g.total() - characters; over > 0; over = g.total() - characters {
		widest := -1
		for _, i := range g.cut {
			least := max(shortest, term.Width(g.headings[i]))
			if g.keeps[i] == '<' && shortest == shortText {
				least = max(least, shortTail)
			}
			if g.width[i] > least && (widest < 0 || g.width[i] > g.width[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			return
		}
		g.width[widest]--
	}
}

func (g *grid) total() int {
	sum := 0
	for _, w := range g.width {
		if w > 0 {
			sum += w + len(gap)
		}
	}
	return sum - len(gap)
}
