package methods

import (
	"fmt"
	"io"
	"math"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/unit"
)

// colours are those of groups of methods.
var colours = map[string]string{ours: "#009e73", averaged: "#d55e00"}

// WriteSVG draws the sizes of the errors of rows: a line for each method, and a panel for each percentile, with logarithmic
// axes. title is the name of the run.
func WriteSVG(w io.Writer, title string, rows []*Row) error {
	const (
		top, left, high, gap = 110.0, 200.0, 24.0, 34.0 // pixels; high is of a line
		lowest, most         = 0.01, 1000               // percent: what is beyond is at the end of the axis
	)
	pic, highest, windows := chart.NewFile(""), 1.0, 0
	var panels []string
	for _, r := range rows {
		if len(panels) == 0 || r.name() == rows[0].name() {
			panels = append(panels, r.Percentile.Name)
		}
		if !math.IsNaN(r.Worst) {
			highest = max(highest, min(r.Worst, most))
		}
		windows = max(windows, r.Of)
	}
	lines := rows[:0:0] // one row of each method, without the one that is compared with itself
	for i, r := range rows {
		if i%len(panels) == 0 && i > 0 {
			lines = append(lines, r)
		}
	}
	axis := chart.NewRates(lowest, highest)
	wide := (chart.Width-left-20)/float64(len(panels)) - gap
	bottom := top + high*float64(len(lines))
	pic.Text(chart.Left/4, 30, "title", "Errors of percentiles: "+unit.Shorten(title, 80))
	pic.Text(chart.Left/4, 52, "soft", fmt.Sprintf("Sizes of the errors in %s, in percent of the exact latency: dot median, thick line to the 95th percentile, thin line to the worst; ring: the whole run", unit.Plural(windows, "window")))
	for i, name := range panels {
		x := func(percent float64) float64 {
			return left + gap + float64(i)*(wide+gap) + wide*axis.At(max(math.Abs(percent), lowest))
		}
		pic.Printf(`<g text-anchor="middle">` + "\n")
		pic.Text(x(lowest)+wide/2, top-24, "title", name)
		for _, t := range axis.Ticks(0) {
			at := x(lowest) + wide*t.At
			pic.Printf(`<path class="grid" d="M%s %sV%s"/>`+"\n", chart.Number(at), chart.Number(top-8), chart.Number(bottom+4))
			pic.Text(at, bottom+20, "", t.Label)
		}
		pic.Printf("</g>\n")
		for k := range lines {
			r, y := rows[(k+1)*len(panels)+i], top+high*(float64(k)+0.5)
			colour := colours[r.Method]
			if colour == "" {
				colour = "#0072b2"
			}
			pic.Printf(`<g stroke="%s" fill="%[1]s"><title>%s</title>`, colour, chart.Escape(r.label()))
			if r.Windows > 0 {
				pic.Printf(`<path d="M%s %sH%s"/><path stroke-width="5" stroke-opacity=".45" d="M%[1]s %[2]sH%[4]s"/><circle cx="%[1]s" cy="%[2]s" r="4"/>`,
					chart.Number(x(r.Median)), chart.Number(y), chart.Number(x(r.Worst)), chart.Number(x(r.P95)))
			}
			if !math.IsNaN(r.Whole) {
				pic.Printf(`<circle fill="none" stroke-width="1.6" cx="%s" cy="%s" r="6.5"/>`, chart.Number(x(r.Whole)), chart.Number(y))
			}
			pic.Printf("</g>\n")
		}
	}
	pic.Printf(`<g text-anchor="end">` + "\n")
	for k, r := range lines {
		y := top + high*float64(k)
		if k > 0 && lines[k-1].Counts != r.Counts {
			pic.Printf(`<path class="frame" d="M10 %sH%d"/>`+"\n", chart.Number(y), chart.Width-10)
		}
		pic.Text(left, y+high/2+4, "", r.name())
	}
	pic.Printf("</g>\n")
	return pic.WriteFile(w, int(bottom)+34, "Errors of percentiles of "+title, "Errors of percentiles of "+title)
}

// label is the row as a sentence.
func (r *Row) label() string {
	return fmt.Sprintf("%s, %s: median %s %%, 95th %s %%, worst %s %%, whole run %s %%", r.name(), r.Percentile.Name,
		percentText(r.Median), percentText(r.P95), percentText(r.Worst), percentText(r.Whole))
}
