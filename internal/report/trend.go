package report

import (
	"fmt"
	"html/template"
	"math"

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

// TrendPoint is what a direction came to.
type TrendPoint struct {
	Direction string
	US        float64 // microseconds
	OrMore    bool    // US is a lower bound
}

const (
	trendHeight = 130
	trendBelow  = 28 // of the labels below
)

// Trend draws p99 of runs, one beside the other in their order: a dot each, and a line from
// one to the next of the same kind. Of fewer than two it draws nothing.
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
	c := newCanvas(keyHeight+trendHeight+trendBelow, "trend", fmt.Sprintf("p99 of %d runs, from %s to %s", len(runs), unit.Latency(low), unit.Latency(high)))
	x := float64(left)
	for _, name := range mapping.Directions {
		if names[name] {
			x = c.key(x, 14, "line "+name, "p99 of "+name+"s")
		}
	}
	a := latencyAxis(low, high, keyHeight, trendHeight)
	c.axes(a)
	place := func(i int) float64 { return left + areaWidth*(float64(i)+0.5)/float64(len(runs)) }
	for _, name := range mapping.Directions {
		c.path("line joined "+name, "p99 of "+name+"s", trendLines(runs, name, place, a))
	}
	for i, r := range runs {
		for _, p := range r.P99 {
			c.printf(`<a href="%s" tabindex="-1"><circle class="dot %s" cx="%s" cy="%s" r="4"><title>%s</title></circle></a>`+"\n", escape(r.Link), p.Direction,
				number(place(i)), number(a.y(p.US)), escape(fmt.Sprintf("%s, %s: p99 of %ss %s", r.Title, r.Start, p.Direction, unit.LatencyOrMore(p.US, p.OrMore))))
		}
	}
	c.text(left, keyHeight+trendHeight+18, "soft", runs[0].Start)
	c.printf(`<g text-anchor="end">`)
	c.text(left+areaWidth, keyHeight+trendHeight+18, "soft", runs[len(runs)-1].Start)
	c.printf("</g>\n")
	return c.end()
}

// trendLines are the lines of a direction, which join runs of the same kind.
func trendLines(runs []TrendRun, direction string, place func(int) float64, a *valueAxis) string {
	last := map[string]string{} // place of the run before, by kind
	var d []byte
	for i, r := range runs {
		for _, p := range r.P99 {
			if p.Direction != direction {
				continue
			}
			here := number(place(i)) + " " + number(a.y(p.US))
			if from, ok := last[r.Kind]; ok {
				d = append(d, "M"+from+"L"+here...)
			}
			last[r.Kind] = here
		}
	}
	return string(d)
}
