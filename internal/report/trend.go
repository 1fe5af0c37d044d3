package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// TrendRun is a run in a picture of many.
type TrendRun struct {
	Title string
	Start string // as text
	Link  string // address of the run's page
	Kind  string // the same for runs with the same settings
	P99   []TrendPoint
}

// TrendPoint is p99 of a direction.
type TrendPoint struct {
	Direction string
	US        float64 // microseconds
	OrMore    bool    // US is a lower bound
}

const (
	trendHeight = 130
	trendBelow  = 28 // of the labels below
)

// Trend draws p99 of runs, one beside the other in their order: a dot each, and a line from one to the next with the
// same settings. It draws nothing for fewer than two runs.
func Trend(runs []TrendRun) template.HTML {
	low, high, names := math.Inf(1), 0.0, map[string]bool{}
	for _, r := range runs {
		for _, p := range r.P99 {
			low, high, names[p.Direction] = min(low, p.US), max(high, p.US), true
		}
	}
	if len(runs) < 2 || high < low {
		return ""
	}
	c := &chart.Canvas{}
	x := float64(chart.Left)
	for _, name := range mapping.Directions {
		if names[name] {
			x = c.Key(x, 14, "line "+name, "p99 of "+name+"s")
		}
	}
	a := chart.LatencyAxis(low, high, keyHeight, trendHeight)
	c.Axes(a, nil)
	place := func(i int) float64 { return chart.Left + chart.AreaWidth*(float64(i)+0.5)/float64(len(runs)) }
	for _, name := range mapping.Directions {
		c.Path("line joined "+name, "p99 of "+name+"s", trendLines(runs, name, place, a))
	}
	for i, r := range runs {
		for _, p := range r.P99 {
			c.Printf(`<a href="%s" tabindex="-1"><circle class="dot %s" cx="%s" cy="%s" r="4"><title>%s</title></circle></a>`+"\n", chart.Escape(r.Link), p.Direction,
				chart.Number(place(i)), chart.Number(a.Y(p.US)), chart.Escape(fmt.Sprintf("%s, %s: p99 of %ss %s", r.Title, r.Start, p.Direction, unit.LatencyOrMore(p.US, p.OrMore))))
		}
	}
	c.Text(chart.Left, keyHeight+trendHeight+18, "soft", runs[0].Start)
	c.Printf(`<g text-anchor="end">`)
	c.Text(chart.Left+chart.AreaWidth, keyHeight+trendHeight+18, "soft", runs[len(runs)-1].Start)
	c.Printf("</g>\n")
	label := fmt.Sprintf("p99 of %d runs, from %s to %s", len(runs), unit.Latency(low), unit.Latency(high))
	return picture(c, "trend", keyHeight+trendHeight+trendBelow, label)
}

// trendLines are the lines of a direction, which join runs with the same settings.
func trendLines(runs []TrendRun, direction string, place func(int) float64, a *chart.ValueAxis) string {
	last := map[string]string{} // place of the run before, by kind
	var d []byte
	for i, r := range runs {
		for _, p := range r.P99 {
			if p.Direction != direction {
				continue
			}
			here := chart.Number(place(i)) + " " + chart.Number(a.Y(p.US))
			if from, ok := last[r.Kind]; ok {
				d = append(d, "M"+from+"L"+here...)
			}
			last[r.Kind] = here
		}
	}
	return string(d)
}
