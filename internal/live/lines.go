package live

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
)

// Size is the size of a terminal in characters, and what it can show.
type Size struct {
	Columns, Lines int
	Colour         bool
}

// reset ends a colour.
const reset = "\x1b[0m"

// Lines draws the screen. No line is wider than the terminal, and there are not more lines than it has.
func (v *View) Lines(now time.Time, size Size) ([]string, error) {
	lines := v.head(now, size.Columns)
	rows, err := v.table(size.Columns)
	if err != nil {
		return nil, err
	}
	foot := v.foot(now, size)
	lines = append(lines, rows...)
	room := size.Lines - len(lines) - len(foot)
	picture, err := v.heatmap(size, room)
	if err != nil {
		return nil, err
	}
	lines = append(append(lines, picture...), foot...)
	return lines[:min(len(lines), max(size.Lines, 1))], nil
}

// head returns the title, the stage that runs if there are several, and the remaining time. The time before the first window,
// in which fio lays out files, is no run time.
func (v *View) head(now time.Time, columns int) []string {
	lines := []string{fit(v.Title, columns)}
	if v.run == nil {
		return lines
	}
	if v.run.Stages > 1 {
		lines = append(lines, fit(fmt.Sprintf("stage %d of %d: %s", v.run.Stage, v.run.Stages, v.run.StageName), columns))
	}
	elapsed, length := max(now.Sub(v.run.Start), 0).Truncate(time.Second), v.stage.Length
	if length <= 0 {
		return append(lines, fit(unit.Short(elapsed), columns))
	}
	elapsed = min(elapsed, length) // its last windows, or the first of the next stage, have not come yet
	left := length - elapsed
	text := fmt.Sprintf(" %s of %s, %s left", unit.Short(elapsed), unit.Short(length), unit.Short(left))
	if later := v.stage.ToEnd - length + v.Later; v.stage.ToEnd > 0 && later > 0 {
		text += ", " + unit.Short((left + later).Truncate(time.Second)) + " in all"
	}
	share, wide := float64(elapsed)/float64(length), columns-term.Width(text)-2
	if wide < 10 {
		return append(lines, fit(text[1:], columns))
	}
	return append(lines, term.Bar(share, wide)+text)
}

type column struct {
	heading string
	width   int
	text    func(w *window.Window, a *facts.Latencies) string
}

// tableColumns are the columns of the table, the most important first. If there is no room, the last ones are left out.
var tableColumns = []column{
	{"IOPS", 7, func(w *window.Window, _ *facts.Latencies) string { return unit.Rate(w.KnownIOPS()) }},
	{"P99", 8, func(_ *window.Window, a *facts.Latencies) string { return a.Text("p99") }},
	{"P50", 8, func(_ *window.Window, a *facts.Latencies) string { return a.Text("p50") }},
	{"MAX", 8, func(_ *window.Window, a *facts.Latencies) string { return a.Text("max") }},
	{"P99.9", 8, func(_ *window.Window, a *facts.Latencies) string { return a.Text("p99_9") }},
	{"BANDWIDTH", 11, func(w *window.Window, _ *facts.Latencies) string { return unit.Bandwidth(w.Bandwidth) }},
	{"P95", 8, func(_ *window.Window, a *facts.Latencies) string { return a.Text("p95") }},
	{"MEAN", 8, func(_ *window.Window, a *facts.Latencies) string { return a.Text("mean") }},
}

// order are the headings of the table from left to right.
var order = []string{"IOPS", "BANDWIDTH", "MEAN", "P50", "P95", "P99", "P99.9", "MAX"}

// table returns the table of the last seconds.
func (v *View) table(columns int) ([]string, error) {
	sums, span, err := v.last()
	if err != nil || len(sums) == 0 {
		return []string{"", fit("waiting for fio's first reports; before it runs, it may lay out files", columns), ""}, err
	}
	const first = 6
	shown, room := map[string]column{}, columns-first
	for _, c := range tableColumns {
		if room -= c.width; room < 0 {
			break
		}
		shown[c.heading] = c
	}
	row := func(first string, text func(column) string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "%-6s", first)
		for _, heading := range order {
			if c, ok := shown[heading]; ok {
				fmt.Fprintf(&b, "%*s", c.width, text(c))
			}
		}
		return fit(b.String(), columns)
	}
	lines := []string{
		"", fit("last "+span.Round(time.Second).String()+"; times in "+unit.ZoneName(), columns),
		row("DIR", func(c column) string { return c.heading }),
	}
	for _, w := range sums {
		a := facts.LatenciesOfWindow(&w.Latency, w.Bounds)
		lines = append(lines, row(w.Direction, func(c column) string { return c.text(w, &a) }))
	}
	return append(lines, ""), nil
}

// aroundMap is the number of lines of a heat map besides its cells.
const aroundMap = 3

// heatmap draws all windows. The map has room for all of the run time; if that is not known, for a second a column, and for
// twice as long each time it is full.
func (v *View) heatmap(size Size, room int) ([]string, error) {
	wide := size.Columns - heatmap.MarginWidth
	const least = 3
	if room < aroundMap+least || wide < 2*least || v.run == nil {
		return nil, nil
	}
	length := v.run.Start.Sub(v.began) + v.stage.ToEnd
	if v.stage.ToEnd == 0 {
		newest := v.windows[len(v.windows)-1].End.Sub(v.began)
		for length = time.Duration(wide) * time.Second; length < newest; {
			length *= 2
		}
	}
	m := v.cells.MapOf(wide, length)
	if m.Total == 0 {
		return nil, nil
	}
	var text strings.Builder
	err := m.WriteText(&text, heatmap.Text{
		Columns: wide, Lines: room - aroundMap, Colour: size.Colour,
	})
	lines := strings.Split(strings.TrimRight(text.String(), "\n"), "\n")
	if len(lines) > room { // the legend may have two lines
		lines = slices.Delete(lines, len(lines)-2, len(lines)-1)
	}
	for i := range lines {
		lines[i] = cut(lines[i], size.Columns)
	}
	return lines, err
}

// foot returns the lines about broken rules, and other notes.
func (v *View) foot(now time.Time, size Size) (lines []string) {
	const most = 4
	v.alerts.Tick(now)
	for _, a := range v.alerts.Alerts() {
		text := fmt.Sprintf("%s: %s met now, broken until %s", a.Rule, a.Direction, unit.Time(a.Until, unit.OfDay))
		if a.Active {
			text = fmt.Sprintf("%s BROKEN since %s: %s", a.Rule, unit.Time(a.Since, unit.OfDay), a.Text)
		}
		text = fit(text, size.Columns)
		if a.Active && size.Colour {
			text = "\x1b[1;31m" + text + reset
		}
		if lines = append(lines, text); len(lines) == most {
			break
		}
	}
	if silent := now.Sub(v.came).Truncate(time.Second); !v.came.IsZero() && silent >= 3*max(v.Every, time.Second) {
		lines = append(lines, fit(fmt.Sprintf("no report of fio for %v: it waits for jobs that hang or sleep", silent), size.Columns))
	}
	if v.Message != "" {
		lines = append(lines, fit(v.Message, size.Columns))
	}
	return lines
}

// cut returns the first columns characters of a line with colours.
func cut(line string, columns int) string {
	characters, inColour, end := 0, false, ""
	for i, r := range line {
		switch {
		case r == '\x1b':
			inColour, end = true, reset
		case inColour:
			inColour = r != 'm'
		case characters == columns:
			return line[:i] + end
		default:
			characters++
		}
	}
	return line
}

// fit returns a text without control characters, cut to the width.
func fit(text string, columns int) string { return term.Shorten(term.Clean(text), max(columns, 2)) }
