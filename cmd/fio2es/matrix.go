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
	fl.StringSliceVar(&c.by, "by", nil, "a matrix of the runs by `settings`, such as bs,iodepth: rows, columns, and a matrix for each value of further ones")
	fl.StringSliceVar(&c.show, "show", []string{"p99"}, "`numbers` in the cells of --by: percentiles, iops, bandwidth, min, mean, max")
	fl.StringSliceVar(&c.directions, "direction", nil, "`directions` of --by: read, write, trim, sync, or all together without syncs (default: a matrix for each)")
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
		if !slices.Contains(append(mapping.Directions[:], mapping.AllDirections), d) {
			return usagef("--direction %s: want read, write, trim, sync or all", d)
		}
	}
	if c.settings, err = matrix.Settings(c.by); err != nil {
		return usagef("--by: %w", err)
	}
	if c.metrics, err = workload.NumbersOf(c.show...); err != nil {
		return usagef("--show %w", err)
	}
	isOfSyncs := func(m facts.Metric) bool { return m.IsOf(mapping.Sync) }
	if slices.Contains(c.directions, mapping.Sync) && !slices.ContainsFunc(c.metrics, isOfSyncs) {
		return usagef("--direction sync: syncs have no IOPS and no bandwidth: --show a latency")
	}
	return nil
}

// write writes the matrices of each direction and number of runs.
func (c *matrixCall) write(e *env, w io.Writer, collected *matrix.Collection, format string) error {
	if list := collected.Incomplete(); len(list) > 0 {
		e.log.Info(fmt.Sprintf("note: %s incomplete: %s", unit.Plural(len(list), "run"), query.List(list)))
	}
	if n := collected.Live; n > 0 {
		e.log.Info("note: " + unit.Plural(n, "live run") + " left out: not over")
	}
	runs, note := collected.Runs()
	if note != "" {
		e.log.Info("note: " + note)
	}
	by := matrix.Depths(c.settings, runs)
	directions := c.directions
	if len(directions) == 0 {
		directions = matrix.Directions(runs)
	}
	isTable := format == table.Text || format == table.Markdown
	cells, between := table.New(w, format, matrix.Columns(by)), ""
	var pictures []*matrix.Picture
	for _, direction := range directions {
		list := matrix.New(by, direction, runs)
		if len(list) == 0 {
			e.log.Info("note: no run has " + mapping.Plural(direction))
		}
		metrics := slices.DeleteFunc(slices.Clone(c.metrics), func(m facts.Metric) bool { return !m.IsOf(direction) })
		if len(metrics) == 0 {
			continue
		}
		for _, m := range list {
			if isTable && c.drawing == "" {
				fmt.Fprint(w, between)
				if err := m.Write(w, format, false, metrics...); err != nil {
					return err
				}
				between = "\n"
				continue
			}
			for _, metric := range metrics {
				var err error
				switch {
				case !isTable:
					for _, cell := range m.Cells() {
						if err := cells.Write(matrix.Row{Cell: cell, Number: cell.Number(metric)}); err != nil {
							return err
						}
					}
				case c.output != "":
					var picture *matrix.Picture
					picture, err = c.picture(m, metric)
					pictures = append(pictures, picture)
				default:
					fmt.Fprint(w, between)
					err = c.draw(w, m, metric)
					between = "\n"
				}
				if err != nil {
					return fmt.Errorf("--draw %s: %w", c.drawing, err)
				}
			}
		}
	}
	switch {
	case len(pictures) > 0:
		return e.writeOutput(c.output, func(w io.Writer) error { return matrix.WriteSVG(w, pictures...) })
	case isTable:
		return nil
	}
	return cells.End()
}

func (c *matrixCall) picture(m *matrix.Matrix, metric facts.Metric) (*matrix.Picture, error) {
	if c.drawing == drawHeat {
		return m.Heat(metric)
	}
	curve, err := m.Curve(metric)
	if err != nil {
		return nil, err
	}
	return curve.Picture(), nil
}

func (c *matrixCall) draw(w io.Writer, m *matrix.Matrix, metric facts.Metric) error {
	if c.drawing == drawHeat {
		return m.Write(w, table.Text, true, metric)
	}
	curve, err := m.Curve(metric)
	if err != nil {
		return err
	}
	columns, lines := plainWidth, plainLines
	if screen, ok := w.(*term.Screen); ok {
		if wide, high := screen.Size(); wide > 0 {
			columns, lines = wide, min(high, plainLines)
		}
	}
	text, legend := curve.Text(columns, lines)
	for _, line := range append([]string{legend}, curve.Notes()...) {
		text += term.FillFor(w, term.Clean(line)) + "\n"
	}
	_, err = io.WriteString(w, text)
	return err
}
