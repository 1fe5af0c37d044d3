package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
)

// heatmapOptions says how a map is drawn, and where it is written.
type heatmapOptions struct {
	format  string // table, csv, json or svg
	output  string // file for the SVG; empty and - mean stdout
	columns int    // most columns; 0 means as many as fit
	lines   int    // lines of a table
	colour  bool
}

const (
	svgColumns = 240
	maxColumns = 1000 // more are not visible; a column takes 17 KB, and there are more of them while reading

	// size of a table if there is no terminal
	plainWidth = 100
	plainLines = 24
)

func heatmapCommand(e *env) *cobra.Command {
	how, q := heatmapOptions{format: table.Text}, &query.Query{}
	cmd := &cobra.Command{
		Use:   "heatmap X...",
		Short: "Requests by time and latency, as a heat map",
		Long: `Draws the number of requests by time and latency: as characters, with colours on a
terminal (unless NO_COLOR is set), or as an SVG file, which has one run.

` + chooseHelp + `

Time runs from left to right. A column is a window, or several joined. Latency runs up in
bands of equal ratio, 20 for each power of ten, or fewer on a small terminal; a request
counts in the band of the middle of its bin. The colours are logarithmic, so a single
slow request shows beside many fast ones. The SVG has lines for p50, p95 and p99 of each
column.

--from, --to, --direction, --host and --job choose requests as for rank; directions are
drawn together. Where fio's last bin has requests, the top row has all slower requests
too ("or more"; open in CSV and JSON). A last column that is shorter than the others is
drawn shorter, and coloured by its rate. --format csv and json write a line for each cell
that has requests.`,
		Example: `  fio2es heatmap latest
  fio2es heatmap latest --output map.svg
  fio2es heatmap results/ --direction write --host client01 --format csv`,
		Args: someRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.Check(); err != nil {
				return err
			}
			if err := how.check(cmd.Flags().Changed("format"), cmd.Flags().Changed("columns")); err != nil {
				return err
			}
			r, h := &reading{env: e}, newHeatmap(e, how, q)
			inputs, err := r.choose(cmd.Context(), args, query.IsPath)
			if err == nil && how.format == "svg" {
				err = refuseSeveral(inputs, "an SVG file has one map")
			}
			if err != nil {
				return r.end(err)
			}
			a := answer{begin: h.begin, window: h.window, end: h.end}
			return r.answer(cmd.Context(), inputs, q, a)
		},
	}
	fl := cmd.Flags()
	addAnswerFlags(fl, q, "interval")
	addChoice(fl, &how.format, "format", "table, svg, csv, csv-exact, or json (an object a line)",
		[]string{table.Text, "svg", table.CSV, table.CSVExact, table.JSON})
	fl.StringVarP(&how.output, "output", "o", "", "draw SVG into this `file`; - is stdout")
	fl.IntVar(&how.columns, "columns", 0, "`columns` of the map at most (default: as many as fit the terminal, else 240)")
	return cmd
}

func (how *heatmapOptions) check(format, columns bool) error {
	if columns && (how.columns < 1 || how.columns > maxColumns) {
		return usagef("--columns %d: want 1 to %d", how.columns, maxColumns)
	}
	if how.output == "" {
		return nil
	}
	switch {
	case format && how.format != "svg":
		return usagef("--output is for SVG: leave out --format %s, or send stdout to a file", how.format)
	case !format && how.output != "-" && !strings.HasSuffix(strings.ToLower(how.output), ".svg"):
		return usagef("--output %s: want a name that ends in .svg, or --format svg", how.output)
	}
	how.format = "svg"
	return nil
}

// heatmapAround is the number of lines besides the cells of a table, including the next prompt.
const heatmapAround = 5

// fit fits a table to the terminal, which may be nil, and decides whether to use colours.
func (how *heatmapOptions) fit(screen *term.Screen) {
	width, height := plainWidth, plainLines
	if screen != nil {
		how.colour = how.format == table.Text && term.HasColour()
		if w, h := screen.Size(); w > 0 {
			width, height = w, h-heatmapAround
		}
	}
	how.lines = max(height, 4)
	if how.columns > 0 {
		return
	}
	how.columns = svgColumns
	if how.format == table.Text {
		how.columns = max(width-heatmap.MarginWidth, 10)
	}
}
