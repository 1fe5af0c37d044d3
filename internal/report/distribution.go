package report

import (
	"fmt"
	"html/template"
	"math"
	"strconv"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/unit"
)

const (
	distributionHeight = 300
	ninesHeight        = 54 // of the labels below
	pointsPerNine      = 60 // a point each 2 pixels or less, but for few requests
)

// curve is the latency at each percentile, of one direction of a run.
type curve struct {
	name, class string
	requests    float64
	points      []curvePoint
	marks       []curvePoint // at round percentiles, and the last request
}

// curvePoint is a percentile (0 … 1), and its latency.
type curvePoint struct {
	q, us  float64
	isOpen bool // us is a lower bound
}

// newCurve takes the percentiles of h, which has requests.
func newCurve(name, class string, h *hist.Histogram) *curve {
	c := &curve{name: name, class: class, requests: h.Total()}
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
	for _, t := range (nines{c.requests}).ticks()[1:] {
		if t.q < last {
			qs = append(qs, t.q)
		}
	}
	c.marks = pointsOf(h, append(qs, last))
	return c
}

// pointsOf are the percentiles qs, ascending.
func pointsOf(h *hist.Histogram, qs []float64) []curvePoint {
	points := make([]curvePoint, len(qs))
	for i, a := range h.Percentiles(qs...) {
		points[i] = curvePoint{qs[i], micros(a.Value), a.Open}
	}
	return points
}

// drawCurves draws them over the same axes.
func drawCurves(curves []*curve, label string) template.HTML {
	scale, low, high := nines{}, math.Inf(1), 0.0
	for _, c := range curves {
		scale.requests = max(scale.requests, c.requests)
		low, high = min(low, c.points[0].us), max(high, c.points[len(c.points)-1].us)
	}
	legend := keyLines(curves)
	top := float64(legend)*20 + 12
	c := newCanvas(top+distributionHeight+ninesHeight, "curves", label)
	a := latencyAxis(low, high, top, distributionHeight)
	c.printf(`<g class="grid">`)
	for _, t := range scale.ticks() {
		c.printf(`<path d="M%s %sv%s"/>`, number(scale.x(t.q)), number(a.top), number(a.height+5))
	}
	c.printf("</g>\n")
	c.axes(a)
	c.printf(`<g text-anchor="middle">`)
	for _, t := range scale.ticks() {
		c.text(scale.x(t.q), a.top+a.height+20, "", t.label)
	}
	c.text(left+areaWidth/2, a.top+a.height+44, "soft", "percentile")
	c.printf("</g>\n")
	c.keys(curves)
	for _, one := range curves {
		c.curve(one, scale, a)
	}
	return c.end()
}

// An entry of a legend has so many characters at most, and is as wide then.
const (
	keyLetters = 66
	keyWidth   = areaWidth / 2
)

// keyLines is how many lines the legend needs.
func keyLines(curves []*curve) int {
	lines, x := 1, 0.0
	for _, c := range curves {
		wide := min(45+textWidth(c.name), keyWidth)
		if x+wide > areaWidth {
			lines, x = lines+1, 0
		}
		x += wide
	}
	return lines
}

// keys draws the legend.
func (c *canvas) keys(curves []*curve) {
	x, y := float64(left), 14.0
	for _, one := range curves {
		if wide := min(45+textWidth(one.name), keyWidth); x+wide > left+areaWidth {
			x, y = left, y+20
		}
		x = c.key(x, y, "line "+one.class, shortened(one.name, keyLetters))
	}
}

// curve draws one: a line, and a dot at each round percentile that tells it.
func (c *canvas) curve(one *curve, scale nines, a *valueAxis) {
	var d []byte
	for i, p := range one.points {
		join := byte('L')
		if i == 0 {
			join = 'M'
		}
		d = append(append(d, join), number(scale.x(p.q))+" "+number(a.y(p.us))...)
	}
	c.path("line "+one.class, one.name, string(d))
	c.printf(`<g class="dot %s">`, one.class)
	for i, p := range one.marks {
		name := "p" + percentileName(p.q)
		if i == len(one.marks)-1 {
			name = "max"
		}
		c.printf(`<circle cx="%s" cy="%s" r="3"><title>%s</title></circle>`, number(scale.x(p.q)), number(a.y(p.us)),
			escape(fmt.Sprintf("%s %s: %s", one.name, name, unit.LatencyOrMore(p.us, p.isOpen))))
	}
	c.printf("</g>\n")
}

// percentileName is a percentile as it is written: "99.9".
func percentileName(q float64) string {
	return strconv.FormatFloat(math.Round(q*1e12)/1e10, 'f', -1, 64)
}

// shortened leaves out the middle of what is longer than so many characters.
func shortened(text string, most int) string {
	r := []rune(text)
	if len(r) <= most {
		return text
	}
	return string(r[:most/2]) + "…" + string(r[len(r)-most/2+1:])
}
