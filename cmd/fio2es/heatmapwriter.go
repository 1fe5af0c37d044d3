package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/sheet"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// heatmapLine is a line of heatmap --format json: a cell that has requests.
type heatmapLine struct {
	Run      string  `json:"run,omitempty"`
	StartMS  int64   `json:"start_ms"` // since the run's start
	EndMS    int64   `json:"end_ms"`
	Start    string  `json:"start,omitempty"` // where known
	End      string  `json:"end,omitempty"`
	LowUS    float64 `json:"low_us"` // the band: from low up to, not with, high
	HighUS   float64 `json:"high_us"`
	Requests int64   `json:"requests"`
	Open     bool    `json:"open,omitempty"` // high is no bound: some lie in fio's last bin, which has no end
}

// heatmapWriter collects the windows that are asked for, and draws at the end of each run.
type heatmapWriter struct {
	w     io.Writer
	how   *heatmapOptions
	query *windowQuery
	csv   *sheet.Writer
	json  *json.Encoder

	run           string
	many, started bool
	cells         *heatmap.Builder
	directions    []string // that have requests
	choice        choice
	empty         []error // runs of which there was nothing
}

func newHeatmapWriter(w io.Writer, how *heatmapOptions, q *windowQuery) *heatmapWriter {
	h := &heatmapWriter{w: w, how: how, query: q}
	switch how.format {
	case "csv", sheet.Exact:
		h.csv = sheet.NewWriter(w, how.format == sheet.Exact)
		h.csv.Write([]string{"run", "start_ms", "end_ms", "start", "end", "low_us", "high_us", "requests", "open"})
	case "json":
		h.json = json.NewEncoder(w)
	}
	return h
}

func (h *heatmapWriter) begin(run string, many bool) {
	h.run, h.many, h.choice, h.directions = run, many, choice{query: h.query}, nil
	h.cells = heatmap.NewBuilder(h.how.columns)
}

// wants implements [windowOutput].
func (h *heatmapWriter) wants(run *mapping.Run) (history.Selection, bool, error) {
	if err := h.query.needs(run); err != nil {
		return history.Selection{}, false, err
	}
	sel, err := h.query.selection(run)
	return sel, true, err
}

// one fails where one file would have to hold several maps.
func (h *heatmapWriter) one() error {
	if h.many && h.how.format == "svg" {
		return usagef("an SVG file holds one map, and these are several runs: name one run or folder")
	}
	return nil
}

func (h *heatmapWriter) interval(d *mapping.Interval) error {
	if err := h.one(); err != nil {
		return err
	}
	if d.Latency.Layout == "" { // of averages: no histogram
		return nil
	}
	if takes, err := h.choice.takes(d); err != nil || !takes {
		return err
	}
	requests, err := d.Latency.Hist()
	if err != nil || requests.IsEmpty() {
		return err
	}
	if !slices.Contains(h.directions, d.Fio.Direction) {
		h.directions = append(h.directions, d.Fio.Direction)
	}
	h.cells.Add(heatmap.Window{ElapsedMS: d.Window.ElapsedMS, Start: d.Time, End: d.Window.End, Requests: requests})
	return nil
}

// total draws the map of a run.
func (h *heatmapWriter) total(run *mapping.Run) error {
	if err := h.one(); err != nil {
		return err
	}
	m := h.cells.Map()
	if m.Total == 0 {
		h.empty = append(h.empty, h.choice.empty(run))
		return nil
	}
	clock := heatmap.Clock{Start: run.Run.Start, Known: run.Run.Start.Year() >= 1970}
	switch h.how.format {
	case "svg":
		return h.svg(m, clock)
	case "csv", sheet.Exact, "json":
		return h.lines(m, clock)
	}
	if h.started {
		fmt.Fprintln(h.w)
	}
	h.started = true
	term.Line(h.w, "%s, %s", h.run, h.about(m))
	return m.WriteText(h.w, heatmap.Text{Columns: h.how.columns, Lines: h.how.lines, Colour: h.how.colour, Clock: clock})
}

// about says what is on a map.
func (h *heatmapWriter) about(m *heatmap.Map) string {
	var directions []string
	for _, d := range mapping.Directions {
		if slices.Contains(h.directions, d) {
			directions = append(directions, d)
		}
	}
	of := []string{strings.Join(directions, ", ")}
	if len(h.query.hosts) > 0 {
		of = append(of, "host "+strings.Join(h.query.hosts, ", "))
	}
	if len(h.query.jobs) > 0 {
		of = append(of, "job "+strings.Join(h.query.jobs, ", "))
	}
	text := fmt.Sprintf("%s to %s: %s requests (%s)", moment(m.Start()), moment(m.End()), unit.Count(m.Total), strings.Join(of, "; "))
	if m.OpenUS > 0 {
		text += ", at the top " + unit.Latency(m.OpenUS) + " or more"
	}
	return text
}

func (h *heatmapWriter) svg(m *heatmap.Map, clock heatmap.Clock) error {
	draw := func(w io.Writer) error {
		return m.WriteSVG(w, heatmap.Picture{Title: h.run, Subtitle: h.about(m), Clock: clock})
	}
	if h.how.output == "" || h.how.output == "-" {
		return draw(h.w)
	}
	return writeFile(h.how.output, draw)
}

// lines writes the cells, by time, then latency.
func (h *heatmapWriter) lines(m *heatmap.Map, clock heatmap.Clock) error {
	for i := range m.Columns {
		c := &m.Columns[i]
		l := heatmapLine{Run: h.run, StartMS: c.Start.Sub(clock.Start).Milliseconds(), EndMS: c.End.Sub(clock.Start).Milliseconds()}
		if clock.Known {
			l.Start, l.End = c.Start.UTC().Format(time.RFC3339Nano), c.End.UTC().Format(time.RFC3339Nano)
		}
		for band, n := range c.Counts {
			if n == 0 {
				continue
			}
			l.LowUS, l.HighUS, l.Requests = heatmap.Bound(band), heatmap.Bound(band+1), n
			l.Open = m.OpenUS > 0 && m.OpenUS < l.HighUS
			if err := h.line(&l); err != nil {
				return err
			}
		}
	}
	return nil
}

func (h *heatmapWriter) line(l *heatmapLine) error {
	if h.json != nil {
		return h.json.Encode(l)
	}
	return h.csv.Write([]string{l.Run, strconv.FormatInt(l.StartMS, 10), strconv.FormatInt(l.EndMS, 10), l.Start, l.End,
		number(l.LowUS), number(l.HighUS), strconv.FormatInt(l.Requests, 10), strconv.FormatBool(l.Open)})
}

func (h *heatmapWriter) flush() error {
	if h.csv != nil {
		h.csv.Flush()
		h.empty = append(h.empty, h.csv.Error())
	}
	return errors.Join(h.empty...)
}
