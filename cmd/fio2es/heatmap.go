package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

const (
	svgColumns = 240
	maxColumns = 1000 // more are not visible; a column takes 17 KB, and there are more of them while reading

	// size of a table if there is no terminal
	plainWidth = 100
	plainLines = 24
)

func heatmapCommand(e *env) *cobra.Command {
	h := &heatmaps{env: e, query: &query.Query{}, format: table.Text}
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
			if err := h.check(); err != nil {
				return err
			}
			h.fit()
			a := answer{begin: h.begin, window: h.window, end: h.end}
			if h.format == "svg" {
				a.only = "an SVG file has one map"
			}
			return (&runReader{env: e}).answer(cmd.Context(), args, h.query, a)
		},
	}
	fl := cmd.Flags()
	addAnswerFlags(fl, h.query)
	addChoice(fl, &h.format, "format", "table, svg, csv, or json (an object a line)",
		[]string{table.Text, "svg", table.CSV, table.JSON})
	fl.StringVarP(&h.output, "output", "o", "", "draw SVG into this `file`; - is stdout")
	fl.IntVar(&h.columns, "columns", 0, "`columns` of the map at most (default: as many as fit the terminal, else 240)")
	return cmd
}

// heatmaps collects the windows of a run, and draws their map.
type heatmaps struct {
	*env
	query   *query.Query
	format  string // table, csv, json or svg
	output  string // file for the SVG; empty and - mean stdout
	columns int    // most columns; 0 means as many as fit

	w      io.Writer
	lines  int // lines of a table
	colour bool
	cells  *table.Writer[*heatmap.Row] // nil: a picture is drawn

	started    bool             // a map was drawn before
	windows    *heatmap.Builder // windows of the run
	directions []string         // directions with requests
}

// check checks the flags. An output file makes SVG the format.
func (h *heatmaps) check() error {
	if h.flags.Changed("columns") && (h.columns < 1 || h.columns > maxColumns) {
		return usagef("--columns %d: want 1 to %d", h.columns, maxColumns)
	}
	if h.output == "" {
		return nil
	}
	switch format := h.flags.Changed("format"); {
	case format && h.format != "svg":
		return usagef("--output is for SVG: leave out --format %s, or send stdout to a file", h.format)
	case !format && h.output != "-" && !strings.HasSuffix(strings.ToLower(h.output), ".svg"):
		return usagef("--output %s: want a name that ends in .svg, or --format svg", h.output)
	}
	h.format = "svg"
	return nil
}

// heatmapAround is the number of lines besides the cells of a table, including the next prompt.
const heatmapAround = 5

// fit fits a table to the terminal, if there is one, and decides whether to use colours.
func (h *heatmaps) fit() {
	h.w = h.stdout
	width, height := plainWidth, plainLines
	if screen, ok := h.stdout.(*term.Screen); ok {
		if wide, high := screen.Size(); wide > 0 {
			width, height = wide, high-heatmapAround
		}
		if h.colour = h.format == table.Text && term.HasColour(); h.colour { // unfiltered, because the map has escapes for colours; its title is cleaned
			h.w = screen.Unfiltered()
		}
	}
	h.lines = max(height, 4)
	if h.columns == 0 {
		h.columns = svgColumns
		if h.format == table.Text {
			h.columns = max(width-heatmap.MarginWidth, 10)
		}
	}
	if h.format != table.Text && h.format != "svg" {
		h.cells = table.New(h.w, h.format, heatmap.Columns())
	}
}

func (h *heatmaps) begin(*query.Run) error {
	h.directions, h.windows = nil, heatmap.NewBuilder(h.columns)
	return nil
}

func (h *heatmaps) window(w *window.Window) error {
	if w.Direction == mapping.Sync && !slices.Contains(h.query.Directions, w.Direction) { // not among all requests
		return nil
	}
	requests, err := w.Histogram()
	if err != nil || requests == nil || requests.IsEmpty() {
		return err
	}
	if !slices.Contains(h.directions, w.Direction) {
		h.directions = append(h.directions, w.Direction)
	}
	h.windows.Add(w, requests)
	return nil
}

func (h *heatmaps) end(run *query.Run, doc *mapping.Run) error {
	m := h.windows.Map()
	if m.Total == 0 {
		return run.NoMatch(doc)
	}
	switch {
	case h.cells != nil:
		for _, row := range m.Rows(&doc.Run) {
			if err := h.cells.Write(row); err != nil {
				return err
			}
		}
		return h.cells.End()
	case h.format == "svg":
		return h.writeOutput(h.output, func(w io.Writer) error {
			return m.WriteSVG(w, heatmap.Picture{Title: run.Name, Subtitle: h.about(m, doc)})
		})
	}
	if h.started {
		fmt.Fprintln(h.w)
	}
	h.started = true
	fmt.Fprintln(h.w, term.FillFor(h.stdout, term.Clean(run.Name+", "+h.about(m, doc))))
	return m.WriteText(h.w, heatmap.Text{Columns: h.columns, Lines: h.lines, Colour: h.colour})
}

func (h *heatmaps) about(m *heatmap.Map, doc *mapping.Run) string {
	isAbsent := func(d string) bool { return !slices.Contains(h.directions, d) }
	directions := slices.DeleteFunc(slices.Clone(mapping.Directions[:]), isAbsent)
	of := []string{strings.Join(directions, ", ")}
	if len(h.query.Hosts) > 0 {
		of = append(of, "host "+strings.Join(h.query.Hosts, ", "))
	}
	if len(h.query.Jobs) > 0 {
		of = append(of, "job "+strings.Join(h.query.Jobs, ", "))
	}
	text := fmt.Sprintf("%s: %s requests (%s)", unit.Span(m.Start(), m.End()), unit.Count(m.Total), strings.Join(of, "; "))
	if n := doc.Missing.Requests; n > 0 && h.query.WantsAll() && len(h.query.Directions) == 0 {
		text += fmt.Sprintf(", %s more are in no window", unit.Count(n))
	}
	if m.OpenUS > 0 {
		text += ", at the top " + unit.Latency(m.OpenUS) + " or more"
	}
	return text
}
