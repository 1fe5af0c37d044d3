package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// maxCurves is how many runs are drawn over one another: more have no colours of their own.
const maxCurves = 8

// summaryRow is a run's line of a direction, with the run's name in the first of them.
type summaryRow struct {
	Number     int
	Link       bool // it has a section
	Class      string
	Title      string
	Start      string
	Incomplete bool
	Direction  string
	Cells      []string
}

// summaryHeader names the cells.
var summaryHeader = []string{"Requests", "IOPS", "Bandwidth", "Mean", "p50", "p95", "p99", "p99.9", "Max"}

// SummaryHeader is for the template.
func (v *pageView) SummaryHeader() []string { return summaryHeader }

// summary has a line for each direction of each run.
func (p *Page) summary() []summaryRow {
	var rows []summaryRow
	for i, r := range p.runs {
		head := summaryRow{Number: i + 1, Link: r.view != nil, Class: runClass(i), Title: r.title, Start: r.started(), Incomplete: !r.doc.Run.Complete}
		for _, t := range r.totals {
			row := head
			row.Direction, row.Cells = t.direction, t.summary()
			rows = append(rows, row)
			head = summaryRow{Link: head.Link}
		}
	}
	return rows
}

// started is when the run did, to the second.
func (r *Run) started() string {
	if !r.clock().Known {
		return "-"
	}
	return timeText(r.doc.Run.Start)[:19]
}

// summary is a short row.
func (t *total) summary() []string {
	cells := []string{t.requests(), unit.Rate(t.IOPS), bandwidth(t.Bandwidth)}
	l := &t.Latency
	for _, name := range summaryHeader[len(cells):] {
		name = strings.ToLower(name)
		us, _ := l.Figure(name)
		text := shortText(l, us)
		switch {
		case t.histogram == nil && t.Fio != nil:
			text = "-"
			if us, ok := t.Fio.Figure(name); ok {
				text = unit.Latency(us) + "*"
			}
		case t.histogram == nil && (name != "mean" || us == 0):
			text = "-"
		case name == "mean":
			text = unit.LatencyOrMore(us, l.IsOpen(l.Max))
		}
		cells = append(cells, text)
	}
	return cells
}

// runClass has the colour of the i-th run; runs beyond those that are drawn have none.
func runClass(i int) string {
	if i >= maxCurves {
		return ""
	}
	return "run" + strconv.Itoa(i+1)
}

// overlays are the distributions of all runs, a chart for each direction that two of them
// have.
func (p *Page) overlays() []figure {
	var list []figure
	for _, direction := range mapping.Directions {
		var curves []*curve
		for i, r := range p.runs[:min(len(p.runs), maxCurves)] {
			for _, c := range r.curves {
				if c.name == direction {
					one := *c
					one.name, one.class = fmt.Sprintf("%d %s", i+1, r.title), runClass(i)
					curves = append(curves, &one)
				}
			}
		}
		if len(curves) > 1 {
			label := fmt.Sprintf("Latency of %ss by percentile, of %d runs", direction, len(curves))
			list = append(list, figure{direction, drawCurves(curves, label)})
		}
	}
	return list
}
