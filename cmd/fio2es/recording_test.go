package main

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/fio2es/fio2es/internal/golden"
	"github.com/fio2es/fio2es/internal/live"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/align"
)

// TestRecording draws the live view of a recorded run of fio as README.md shows it, at several moments of the run.
// -update writes the picture.
func TestRecording(t *testing.T) {
	files, err := query.Open(t.Context(), []string{filepath.Join("testdata", "live")}, query.FileOptions{Options: pipeline.Options{Weighting: align.Completion}})
	check(t, err)
	defer files.Close()
	var windows []*window.Window
	q := &query.Query{}
	for run, err := range files.Runs(t.Context()) {
		check(t, err)
		_, err = run.Read(t.Context(), q, func(w *window.Window) error {
			windows = append(windows, w)
			return nil
		})
		check(t, err)
	}
	rule, err := slo.Parse("p99 <= 20ms in every window")
	check(t, err)
	view := live.New([]slo.Rule{rule})
	view.Title, view.Every = "fio demo.fio", time.Second
	stage, began := live.Stage{Length: 75 * time.Second, ToEnd: 75 * time.Second}, windows[0].Run.Start
	const late, columns, lines = 2 * time.Second, 80, 24 // run reads fio's reports every two seconds
	var frames []string
	for elapsed := time.Duration(0); elapsed <= stage.Length; elapsed += time.Second {
		now := began.Add(elapsed)
		for len(windows) > 0 && !windows[0].End.Add(late).After(now) {
			check(t, view.Add(windows[0], stage, now))
			windows = windows[1:]
		}
		if elapsed%(5*time.Second) == 3*time.Second {
			shown, err := view.Lines(now, live.Size{Columns: columns, Lines: lines, Colour: true})
			check(t, err)
			frames = append(frames, frame(t, shown))
		}
	}
	golden.File(t, filepath.Join("..", "..", "docs", "live.svg"), film(frames, columns, lines))
}

// film shows frames one after another, each for a second. For users who want no motion it shows the last one.
func film(frames []string, columns, lines int) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<style>text{white-space:pre}path{stroke-width:8.5;shape-rendering:crispEdges}.f{visibility:hidden;animation:f %ds infinite step-end}@keyframes f{0%%{visibility:visible}%.3f%%{visibility:hidden}}`,
		len(frames), 100/float64(len(frames)))
	b.WriteString("@media (prefers-reduced-motion){.f{animation:none}.f:last-of-type{visibility:visible}}</style>\n")
	for i, f := range frames {
		fmt.Fprintf(&b, `<g class="f" style="animation-delay:%ds">`+"\n%s</g>\n", i, f)
	}
	return picture(columns, lines, b.String())
}

var (
	colours = regexp.MustCompile(`\x1b\[([0-9;]*)m`)
	words   = regexp.MustCompile(`\S+(?: \S+)*`)
)

// frame draws a screen: characters as text, and half blocks as lines.
func frame(t *testing.T, shown []string) string {
	t.Helper()
	var b strings.Builder
	blocks := map[string]string{} // paths by colour
	for y, line := range shown {
		var upper, lower [80]string // colours of the upper and lower halves
		x, fore, back := 0, plainColour, ""
		for line != "" {
			text, codes, rest := line, "", ""
			if at := colours.FindStringSubmatchIndex(line); at != nil {
				text, codes, rest = line[:at[0]], line[at[2]:at[3]], line[at[1]:]
			}
			if strings.ContainsAny(text, "▀▄█") {
				for i, r := range []rune(text) {
					halves := map[rune][2]string{'▀': {fore, back}, '▄': {back, fore}, '█': {fore, fore}}[r]
					upper[x+i], lower[x+i] = halves[0], halves[1]
				}
			} else {
				b.WriteString(texts(text, x, y, fore))
			}
			x, line = x+utf8.RuneCountInString(text), rest
			if codes != "" {
				fore, back = colour(t, codes)
			}
		}
		addLines(blocks, upper[:], 2*y)
		addLines(blocks, lower[:], 2*y+1)
	}
	for _, c := range slices.Sorted(maps.Keys(blocks)) {
		fmt.Fprintf(&b, `<path stroke="%s" d="%s"/>`+"\n", c, blocks[c])
	}
	return b.String()
}

// addLines adds the half blocks of a row to the paths of their colours.
func addLines(blocks map[string]string, row []string, y int) {
	for x := 0; x < len(row); {
		begin := x
		for x < len(row) && row[x] == row[begin] {
			x++
		}
		if c := row[begin]; c != "" {
			blocks[c] += fmt.Sprintf("M%s %sh%s", decimal(16+float64(begin)*charWidth), decimal(16+(float64(y)+0.5)*charHeight/2), decimal(float64(x-begin)*charWidth))
		}
	}
}

// texts returns the words of a part of a line that begins in column x.
func texts(text string, x, y int, colour string) string {
	var b strings.Builder
	for _, at := range words.FindAllStringIndex(text, -1) {
		var escaped bytes.Buffer
		_ = xml.EscapeText(&escaped, []byte(text[at[0]:at[1]]))
		fill, left := "", float64(x+utf8.RuneCountInString(text[:at[0]]))*charWidth
		if colour != plainColour {
			fill = fmt.Sprintf(` fill="%s"`, colour)
		}
		fmt.Fprintf(&b, `<text x="%s" y="%s" textLength="%s"%s>%s</text>`+"\n",
			decimal(16+left), decimal(float64(y)*charHeight+29), decimal(float64(utf8.RuneCountInString(text[at[0]:at[1]]))*charWidth), fill, &escaped)
	}
	return b.String()
}

// colour returns the colours that an escape sequence sets. back is empty if there is none.
func colour(t *testing.T, codes string) (fore, back string) {
	t.Helper()
	fore = plainColour
	switch list := strings.Split(codes, ";"); {
	case codes == "0":
	case codes == "1;31":
		fore = "#ff7b72"
	case len(list) == 3 && list[0] == "38":
		fore = cube(list[2])
	case len(list) == 6 && list[0] == "38" && list[3] == "48":
		fore, back = cube(list[2]), cube(list[5])
	default:
		t.Fatalf("escape sequence %q", codes)
	}
	return fore, back
}

// cube returns one of the 216 colours of terminals.
func cube(code string) string {
	n, _ := strconv.Atoi(code)
	n -= 16
	of := func(level int) int { return max(0, 55+40*level) * min(level, 1) }
	return fmt.Sprintf("#%02x%02x%02x", of(n/36), of(n/6%6), of(n%6))
}

func decimal(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
