package report

import (
	"fmt"
	"strconv"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// maxCurves is how many runs are drawn over one another: there are so many colours.
const maxCurves = 8

// summaryRow is a run's line of a direction. The first one has the run's name.
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

// summaryColumns are the numbers of a line.
var summaryColumns = table.Pick(facts.Numbers, "requests", "iops", "bandwidth", "mean", "p50", "p95", "p99", "p99_9", "max")

// SummaryHeader is for the template.
func (v *pageView) SummaryHeader() []string { return titles(summaryColumns) }

// summary has a line for each direction of each run.
func (p *Page) summary() []summaryRow {
	var rows []summaryRow
	for i, r := range p.runs {
		head := summaryRow{Number: i + 1, Link: r.view != nil, Class: runClass(i), Title: facts.Title(r.doc), Start: facts.Started(r.doc), Incomplete: !r.doc.Run.Complete}
		for _, t := range r.totals {
			row := head
			row.Direction = t.Direction
			for i := range summaryColumns {
				row.Cells = append(row.Cells, summaryColumns[i].TextOf(t.Line))
			}
			rows = append(rows, row)
			head = summaryRow{Link: head.Link}
		}
	}
	return rows
}

// runClass is the class of the colour of the i-th run, empty for runs that are not drawn.
func runClass(i int) string {
	if i >= maxCurves {
		return ""
	}
	return "run" + strconv.Itoa(i+1)
}

// overlays are the distributions of all runs, a chart for each direction with two of them.
func (p *Page) overlays() []figure {
	var list []figure
	for _, direction := range mapping.Directions {
		var curves []*curve
		for i, r := range p.runs[:min(len(p.runs), maxCurves)] {
			for _, c := range r.curves {
				if c.name == direction {
					one := *c
					one.name, one.class = fmt.Sprintf("%d %s", i+1, facts.Title(r.doc)), runClass(i)
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
