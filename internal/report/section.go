package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/heatmap"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/unit"
)

// section has the drawings of a run, for the template.
type section struct {
	Time View
	More []View
}

func (r *runSums) section(of *run) *section {
	s := &section{}
	if names := r.directions(); len(names) > 0 {
		r.drawTime(s, of, names)
	} else {
		s.Time.Notes = []string{cmp.Or(of.Doc.NoWindows, query.NothingInTime) + "."}
	}
	if len(of.curves) > 0 {
		notes := []string{ofCurves + " The last dot is the slowest request."}
		for _, t := range of.Totals {
			if text := t.unbinnedText(); text != "" {
				notes[0] = ofCurves + " The last dot is the slowest request of those in bins."
				notes = append(notes, "Not in the curve: "+text+".")
			}
		}
		s.More = append(s.More, View{"Distribution", []Figure{drawCurves(of.curves, fmt.Sprintf("Latency by percentile of %s: %s", of.Doc.Run.Name, labels(of.Totals)))},
			notes})
	}
	return s
}

func (r *runSums) drawTime(s *section, of *run, names []string) {
	name := of.Doc.Run.Name
	axis := chart.TimeAxis{From: r.sum.Span.Start, Until: r.sum.Span.End}
	if !axis.Until.After(axis.From) {
		axis.Until = axis.From.Add(time.Millisecond)
	}
	label := fmt.Sprintf("Percentiles of latency and IOPS over time of %s, from %s to %s: %s", name, unit.Time(axis.From, unit.Moment), unit.Time(axis.Until, unit.Moment), labels(of.Totals))
	s.Time.Drawings = []Figure{newTimeChart(axis, names, r.series, label)}
	// what a column of the charts is
	joined, longest, window := 0, time.Duration(0), time.Duration(of.Doc.IntervalMS)*time.Millisecond
	for _, name := range names {
		for _, c := range r.series[name].columns {
			joined, longest = max(joined, c.windows), max(longest, c.longest)
		}
	}
	windows := "windows"
	if window > 0 {
		windows += " of " + unit.Elapsed(window)
	}
	if window > 0 && longest > window*3/2 { // with --interval auto
		windows += " to " + unit.Elapsed(longest)
	}
	note := fmt.Sprintf("Percentiles of %s. Where a window is missing, no request was served, or none is known.", windows)
	if joined > 1 {
		note = fmt.Sprintf("A column is up to %d %s, with the percentiles of their merged histograms. The shade reaches up to the worst single window.", joined, windows)
	}
	s.Time.Notes = []string{note}
	m := r.cells.Map()
	if m.Total == 0 {
		return
	}
	heat := Figure{Class: "map", Data: chartData{timesOf(&axis), []panelData{}}}
	heat.SVG = template.HTML(m.Fragment(heatmap.Picture{ // safe, because Fragment escapes texts
		Title: name, Subtitle: unit.Count(m.Total) + " requests", From: axis.From, To: axis.Until,
	}))
	note = fmt.Sprintf("%s requests (%s) in cells of %s and 1/20 of a power of ten. Colours are logarithmic; a shorter last column has the colours of its rate. Lines are percentiles of each column.",
		unit.Count(m.Total), strings.Join(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !r.isInMap(name) }), ", "), unit.Elapsed(m.Width))
	if m.OpenUS > 0 {
		note += fmt.Sprintf(" The top row has requests of %s or more: fio's last bin has no upper end.", unit.Latency(m.OpenUS))
	}
	s.More = append(s.More, View{"Heat map", []Figure{heat}, []string{note}})
}
