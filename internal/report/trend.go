package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

const (
	trendHeight = 130
	trendBelow  = 28 // height of the labels below
)

// trendDot is the p99 of one direction of a run.
type trendDot struct {
	run       *mapping.Run
	place     int // number of the run
	direction string
	*mapping.Latency
}

// Trend draws the p99 of runs, ordered by start: a dot for each, with a link to the run, and lines between runs with
// the same settings. With fewer than two runs it returns "".
func Trend(runs []*mapping.Run, link func(*mapping.Run) string) template.HTML {
	var shown []*mapping.Run
	var dots []trendDot
	low, high, isBound := math.Inf(1), 0.0, false
	runs = slices.Clone(runs)
	slices.SortStableFunc(runs, func(a, b *mapping.Run) int { return a.Run.Start.Compare(b.Run.Start) })
	for _, run := range runs {
		before := len(dots)
		for _, d := range run.ByDirection() {
			if d.Latency.HasPercentiles() {
				dots = append(dots, trendDot{run, len(shown), d.Direction, &d.Latency})
				low, high, isBound = min(low, d.Latency.P99), max(high, d.Latency.P99), isBound || d.Latency.IsOpen(d.Latency.P99)
			}
		}
		if len(dots) > before {
			shown = append(shown, run)
		}
	}
	if len(shown) < 2 {
		return ""
	}
	c := &chart.Canvas{}
	a := chart.LatencyAxis(low, high, keyHeight, trendHeight)
	at := func(d trendDot) (x, y string) {
		share := (float64(d.place) + 0.5) / float64(len(shown))
		return chart.Number(chart.Left + chart.AreaWidth*share), chart.Number(a.Y(d.P99))
	}
	x := float64(chart.Left)
	for _, name := range mapping.Directions {
		if slices.ContainsFunc(dots, func(d trendDot) bool { return d.direction == name }) {
			x = c.Key(x, 14, "line "+name, "p99 of "+name+"s")
		}
	}
	c.Axes(a, nil)
	for _, name := range mapping.Directions {
		c.Path("line joined "+name, "p99 of "+name+"s", trendLines(dots, name, at))
	}
	for _, d := range dots {
		x, y := at(d)
		c.Printf(`<a href="%s" tabindex="-1"><circle class="dot %s" cx="%s" cy="%s" r="4"><title>%s</title></circle></a>`+"\n", chart.Escape(link(d.run)), d.direction, x, y,
			chart.Escape(fmt.Sprintf("%s, %s: p99 of %ss %s", facts.Title(d.run), facts.Started(d.run), d.direction, unit.LatencyOrMore(d.P99, d.IsOpen(d.P99)))))
	}
	c.Text(chart.Left, keyHeight+trendHeight+18, "soft", facts.Started(shown[0]))
	c.Printf(`<g text-anchor="end">`)
	c.Text(chart.Left+chart.AreaWidth, keyHeight+trendHeight+18, "soft", facts.Started(shown[len(shown)-1]))
	c.Printf("</g>\n")
	label := fmt.Sprintf("p99 of %d runs, from %s to %s", len(shown), unit.Latency(low), unit.LatencyOrMore(high, isBound))
	return picture(c, "trend", keyHeight+trendHeight+trendBelow, label)
}

// trendLines returns the lines of a direction. They join runs with the same settings.
func trendLines(dots []trendDot, direction string, at func(trendDot) (x, y string)) string {
	last := map[string]string{} // number of the last run, by settings
	var d []byte
	for _, dot := range dots {
		if dot.direction != direction {
			continue
		}
		x, y := at(dot)
		kind, here := workload.Key(dot.run), x+" "+y
		if from, ok := last[kind]; ok {
			d = append(d, "M"+from+"L"+here...)
		}
		last[kind] = here
	}
	return string(d)
}
