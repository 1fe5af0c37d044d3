package report

import (
	"fmt"
	"math"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/chart"
	"github.com/fio2es/fio2es/internal/unit"
)

const (
	distributionHeight = 300
	pointsPerNine      = 60 // enough for a point every 2 pixels
)

// curve is the latency by percentile, in one direction of a run.
type curve struct {
	name, class string
	short       string // name for the pointer
	requests    float64
	points      []curvePoint
	marks       []curvePoint // points at round percentiles, and the last request
}

// curvePoint is a percentile (0 … 1) and its latency.
type curvePoint struct {
	q, us  float64
	isOpen bool // the latency is a lower bound, because it lies in the last bin
}

// newCurve computes the percentiles of h, which must not be empty.
func newCurve(name, class string, h *hist.Histogram) *curve {
	c := &curve{name: name, short: name, class: class, requests: h.Total()}
	last := 1 - 0.5/c.requests
	var qs []float64
	for i := 0.0; ; i++ {
		q := 1 - math.Pow(10, -i/pointsPerNine)
		if q >= last {
			break
		}
		qs = append(qs, q)
	}
	c.points = pointsOf(h, append(qs, last))
	qs = nil
	for _, q := range chart.Nines(c.requests).Round()[1:] {
		if q < last {
			qs = append(qs, q)
		}
	}
	c.marks = pointsOf(h, append(qs, last))
	return c
}

// pointsOf returns the points at the percentiles qs, which are ascending.
func pointsOf(h *hist.Histogram, qs []float64) []curvePoint {
	points := make([]curvePoint, len(qs))
	for i, a := range h.Percentiles(qs...) {
		points[i] = curvePoint{qs[i], micros(a.Value), a.Open}
	}
	return points
}

// drawCurves draws curves over the same axes.
func drawCurves(curves []*curve, label string) Figure {
	requests, low, high := 0.0, math.Inf(1), 0.0
	for _, c := range curves {
		requests = max(requests, c.requests)
		low, high = min(low, c.points[0].us), max(high, c.points[len(c.points)-1].us)
	}
	c, scale := &chart.Canvas{}, chart.Nines(requests)
	var colours, names []string
	for _, one := range curves {
		const letters = 65 // so that two fit side by side
		colours, names = append(colours, one.class), append(names, unit.Shorten(one.name, letters))
	}
	top := c.Keys(0, colours, names)
	a := chart.LatencyAxis(low, high, top, distributionHeight)
	c.Axes(a, scale.Ticks())
	c.Below(scale.Ticks(), top+distributionHeight, "percentile")
	var data chartData
	for _, one := range curves {
		at := func(points []curvePoint) (list []chart.Point) {
			for i, p := range points {
				name := "p" + chart.Percentile(p.q)
				if i == len(points)-1 {
					name = "max"
				}
				title := fmt.Sprintf("%s %s: %s", one.name, name, unit.OrMore(unit.Latency(p.us), p.isOpen))
				list = append(list, chart.Point{X: scale.X(p.q), Y: a.Y(p.us), Title: title})
			}
			return list
		}
		c.Line(one.class, one.name, at(one.points))
		panel := panelData{Name: one.short, Columns: []string{"latency"}}
		const step = 3 // points that share their texts, because a pointer does not distinguish all
		for i := 0; i < len(one.points); i += step {
			p, next := one.points[i], one.points[min(i+step, len(one.points)-1)]
			round := math.Pow(10, 2-math.Floor(math.Log10(1-p.q))) // three digits of the share of slower requests
			name := "p" + chart.Percentile(1-math.Round((1-p.q)*round)/round)
			panel.Rows = append(panel.Rows, []any{scale.X(p.q), scale.X(next.q), name, unit.OrMore(unit.Latency(p.us), p.isOpen)})
		}
		data.Panels = append(data.Panels, panel)
		c.Dots(one.class, at(one.marks))
	}
	return Figure{SVG: picture(c, "curves", top+distributionHeight+chart.BelowHeight, label), Data: data}
}
