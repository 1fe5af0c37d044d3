package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// heatmaps collects the windows of a run, and draws their map.
type heatmaps struct {
	*env
	w     io.Writer
	how   heatmapOptions
	query *query.Query
	cells *table.Writer[*heatmapRow] // nil: a picture is drawn

	started    bool             // a map was drawn before
	windows    *heatmap.Builder // windows of the run
	directions []string         // directions with requests
}

func newHeatmap(e *env, how heatmapOptions, q *query.Query) *heatmaps {
	h := &heatmaps{env: e, w: e.stdout, how: how, query: q}
	screen, _ := e.stdout.(*term.Screen)
	if h.how.fit(screen); h.how.colour { // unfiltered, because the map has escapes for colours; its title is cleaned
		h.w = screen.Unfiltered()
	}
	if how.format != table.Text && how.format != "svg" {
		h.cells = table.New(h.w, how.format, heatmapColumns)
	}
	return h
}

func (h *heatmaps) begin(_ *query.Run, many bool) error {
	if many && h.how.format == "svg" {
		return usagef("an SVG file has one map, and these are several runs: name one run or folder")
	}
	h.directions, h.windows = nil, heatmap.NewBuilder(h.how.columns)
	return nil
}

func (h *heatmaps) window(w *window.Window) error {
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

// end draws the map of a run.
func (h *heatmaps) end(run *query.Run, doc *mapping.Run) error {
	m := h.windows.Map()
	if m.Total == 0 {
		return run.NoMatch(doc)
	}
	clock := chart.Clock{Start: doc.Run.Start, Known: unit.IsKnown(doc.Run.Start)}
	switch {
	case h.cells != nil:
		return h.write(m, &doc.Run)
	case h.how.format == "svg":
		return h.writeOutput(h.how.output, func(w io.Writer) error {
			return m.WriteSVG(w, heatmap.Picture{Title: run.Name, Subtitle: h.about(m), Clock: clock})
		})
	}
	if h.started {
		fmt.Fprintln(h.w)
	}
	h.started = true
	fmt.Fprintln(h.w, term.FillFor(h.w, term.Clean(run.Name+", "+h.about(m))))
	return m.WriteText(h.w, heatmap.Text{Columns: h.how.columns, Lines: h.how.lines, Colour: h.how.colour, Clock: clock})
}

// about describes a map.
func (h *heatmaps) about(m *heatmap.Map) string {
	isAbsent := func(d string) bool { return !slices.Contains(h.directions, d) }
	directions := slices.DeleteFunc(slices.Clone(mapping.Directions[:]), isAbsent)
	of := []string{strings.Join(directions, ", ")}
	if len(h.query.Hosts) > 0 {
		of = append(of, "host "+strings.Join(h.query.Hosts, ", "))
	}
	if len(h.query.Jobs) > 0 {
		of = append(of, "job "+strings.Join(h.query.Jobs, ", "))
	}
	text := fmt.Sprintf("%s: %s requests (%s)", unit.Moments(m.Start(), m.End()), unit.Count(m.Total), strings.Join(of, "; "))
	if m.OpenUS > 0 {
		text += ", at the top " + unit.Latency(m.OpenUS) + " or more"
	}
	return text
}

// write writes the cells, sorted by time, then by latency.
func (h *heatmaps) write(m *heatmap.Map, run *mapping.RunInfo) error {
	for i := range m.Columns {
		for band, n := range m.Columns[i].Counts {
			if n == 0 {
				continue
			}
			isOpen := m.OpenUS > 0 && m.OpenUS < heatmap.Bound(band+1)
			if err := h.cells.Write(&heatmapRow{run, &m.Columns[i], band, n, isOpen}); err != nil {
				return err
			}
		}
	}
	return h.cells.End()
}
