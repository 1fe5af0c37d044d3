package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/matrix"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// matrixCall is what runs --by shows.
type matrixCall struct {
	by, show, directions []string // as the user wrote them

	drawing, output string // empty: a table

	settings []matrix.Setting
	metrics  []facts.Metric
}

// The values of --draw.
const (
	drawCurve = "curve"
	drawHeat  = "heatmap"
)

func (c *matrixCall) addFlags(fl *pflag.FlagSet) {
	fl.StringSliceVar(&c.by, "by", nil, "a matrix of the runs by one or two `settings`, such as bs,iodepth: rows, then columns")
	fl.StringSliceVar(&c.show, "show", []string{"p99"}, "`numbers` in the cells of --by: percentiles, iops, bandwidth, min, mean, max")
	fl.StringSliceVar(&c.directions, "direction", nil, "`directions` of --by: read, write, trim, or all together (default: a matrix for each)")
	addChoice(fl, &c.drawing, "draw", "draw --by: curve (a latency against IOPS, a line for each value of the first setting) or heatmap", []string{drawCurve, drawHeat})
	fl.StringVarP(&c.output, "output", "o", "", "draw SVG into this `file`; - is stdout")
}

// check checks the flags. changed reports whether the user gave a flag.
func (c *matrixCall) check(changed func(name string) bool, format string) (err error) {
	if len(c.by) == 0 {
		for _, name := range []string{"show", "direction", "draw", "output"} {
			if changed(name) {
				return usagef("--%s is for a matrix: add --by with settings, such as --by bs,iodepth", name)
			}
		}
		return nil
	}
	for _, name := range []string{"columns", "sort", "reverse", "limit"} {
		if changed(name) {
			return usagef("--%s is for a list of runs, and --by makes a matrix: leave one out", name)
		}
	}
	if !slices.Contains(table.Formats, format) {
		return usagef("--format %s is for a list of runs, and --by makes a matrix: want %s", format, strings.Join(table.Formats, ", "))
	}
	switch {
	case c.output != "" && c.drawing == "":
		return usagef("--output is for a drawing: add --draw curve or --draw heatmap, or send stdout to a file")
	case c.drawing != "" && changed("format"):
		return usagef("--draw makes a picture, and --format %s a table: leave one out", format)
	case c.output != "" && c.output != "-" && !strings.HasSuffix(strings.ToLower(c.output), ".svg"):
		return usagef("--output %s: want a name that ends in .svg", c.output)
	}
	for _, d := range c.directions {
		if !slices.Contains(append(mapping.Directions[:], matrix.AllDirections), d) {
			return usagef("--direction %s: want read, write, trim or all", d)
		}
	}
	if c.settings, err = matrix.Settings(c.by); err != nil {
		return usagef("--by: %w", err)
	}
	if c.metrics, err = workload.NumbersOf(c.show...); err != nil {
		return usagef("--show %w", err)
	}
	return nil
}

// write writes a matrix for each direction and number of runs.
func (c *matrixCall) write(e *env, runs []*mapping.Run, format string) error {
	runs = over(e, runs)
	directions := c.directions
	if len(directions) == 0 {
		directions = matrix.Directions(runs)
	}
	if pictures := len(directions) * len(c.metrics); c.output != "" && pictures > 1 {
		return usagef("an SVG file has one picture, and these are %d: %s of %s; choose one with --show and --direction", pictures, strings.Join(c.show, ", "), strings.Join(directions, ", "))
	}
	cells := table.New(e.stdout, format, matrix.Columns(c.settings))
	shown := 0
	for _, direction := range directions {
		m := matrix.New(c.settings, direction, runs)
		if len(m.Rows) == 0 {
			e.log.Info("note: no run has " + matrix.RequestsOf(direction))
			continue
		}
		for _, metric := range c.metrics {
			if format == table.Text || format == table.Markdown {
				if shown++; shown > 1 {
					fmt.Fprintln(e.stdout)
				}
				if err := c.writeOne(e, m, metric, format); err != nil {
					return err
				}
				continue
			}
			for _, cell := range m.Cells() {
				if err := cells.Write(matrix.Row{Cell: cell, Number: cell.Number(metric)}); err != nil {
					return err
				}
			}
		}
	}
	if format == table.Text || format == table.Markdown {
		return nil
	}
	return cells.End()
}

// writeOne writes the table or the drawing of a matrix.
func (c *matrixCall) writeOne(e *env, m *matrix.Matrix, metric facts.Metric, format string) error {
	var picture matrix.Drawing
	var err error
	switch c.drawing {
	case drawCurve:
		picture, err = m.Curve(metric)
	case drawHeat:
		picture, err = m.Heat(metric)
	default:
		return m.Grid(metric).Write(e.stdout, format)
	}
	if err != nil {
		return fmt.Errorf("--draw %s: %w", c.drawing, err)
	}
	if c.output != "" {
		return e.writeOutput(c.output, func(w io.Writer) error { return matrix.WriteSVG(w, picture) })
	}
	w, columns, lines, isColoured := e.stdout, plainWidth, plainLines, false
	if screen, ok := e.stdout.(*term.Screen); ok {
		isColoured = term.HasColour()
		if wide, high := screen.Size(); wide > 0 {
			columns, lines = wide, min(high, plainLines)
		}
		if isColoured { // unfiltered, because the map has escapes for colours; its texts are cleaned
			w = screen.Unfiltered()
		}
	}
	text, below := picture.Text(columns, lines, isColoured)
	for _, line := range append(below, picture.Notes()...) {
		text += term.FillFor(e.stdout, term.Clean(line)) + "\n"
	}
	_, err = io.WriteString(w, text)
	return err
}

// over leaves out live runs, and says which runs are incomplete.
func over(e *env, runs []*mapping.Run) []*mapping.Run {
	isLive := func(run *mapping.Run) bool { return run.Run.Live() }
	var cut []*mapping.Run
	for _, run := range runs {
		if !run.Run.Complete && !isLive(run) {
			cut = append(cut, run)
		}
	}
	if len(cut) > 0 {
		e.log.Info(fmt.Sprintf("note: %s incomplete: %s", unit.Plural(len(cut), "run"), query.Shorts(cut)))
	}
	n := len(runs)
	if runs = slices.DeleteFunc(runs, isLive); len(runs) < n {
		e.log.Info("note: " + unit.Plural(n-len(runs), "live run") + " left out: not over")
	}
	return runs
}
