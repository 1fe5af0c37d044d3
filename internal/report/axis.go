package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/fio2es/fio2es/internal/heatmap"
)

// timeAxis is when from left to right.
type timeAxis struct {
	from, until time.Time
	clock       heatmap.Clock
}

// x is the place of a time. What is before or after the axis is at its ends.
func (a *timeAxis) x(t time.Time) float64 {
	share := float64(t.Sub(a.from)) / float64(a.until.Sub(a.from))
	return left + min(max(share, 0), 1)*areaWidth
}

// ticks are round times.
func (a *timeAxis) ticks() []heatmap.Tick { return a.clock.Ticks(a.from, a.until, areaWidth/110) }

// name says what the times are.
func (a *timeAxis) name() string {
	if a.clock.Known {
		return "UTC, " + a.from.UTC().Format("2006-01-02")
	}
	return "seconds since the run's start"
}

// valueAxis is values from below to above.
type valueAxis struct {
	top, height float64
	low, high   float64
	isLog       bool
	labels      []heatmap.Tick
}

// latencyAxis has room for latencies between two, and goes from one round latency to
// another: 1, 2 or 5 times a power of ten.
func latencyAxis(low, high, top, height float64) *valueAxis {
	a := &valueAxis{top: top, height: height, low: roundDown(max(low, shortest)), isLog: true}
	if a.high = roundUp(max(high, shortest)); a.high <= a.low {
		a.high = roundUp(a.low * 1.5)
	}
	const apart = 250 // pixels of a power of ten at which 1, 2 and 5 have room
	fine := height/math.Log10(a.high/a.low) > apart/4
	a.labels = heatmap.Latencies(a.low, a.high, fine)
	return a
}

// shortest is the lowest latency that charts tell apart: fio's finest bins are a nanosecond.
const shortest = 0.001

// roundDown is the highest of 1, 2 and 5 times a power of ten that is not above x.
func roundDown(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	round := power
	for _, times := range []float64{2, 5, 10} {
		if times*power <= x {
			round = times * power
		}
	}
	return round
}

// roundUp is the lowest of 1, 2 and 5 times a power of ten that is not below x.
func roundUp(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, times := range []float64{1, 2, 5} {
		if times*power >= x {
			return times * power
		}
	}
	return 10 * power
}

// rateAxis goes from nothing to at least high, in at most so many steps of 1, 2 or 5 times
// a power of ten.
func rateAxis(high, top, height float64, most int) *valueAxis {
	high = max(high, 1)
	step := roundUp(high / float64(most))
	steps := math.Ceil(high/step - 1e-9)
	a := &valueAxis{top: top, height: height, high: steps * step}
	for i := 0.0; i <= steps; i++ {
		a.labels = append(a.labels, heatmap.Tick{At: i / steps, Label: rateLabel(i*step, a.high)})
	}
	return a
}

// rateLabel is a round rate, in the unit that suits the highest.
func rateLabel(perSecond, highest float64) string {
	of, name := 1.0, ""
	switch {
	case perSecond == 0:
	case highest >= 1e6:
		of, name = 1e6, "M"
	case highest >= 1e4:
		of, name = 1e3, "k"
	}
	return strconv.FormatFloat(perSecond/of, 'f', -1, 64) + name
}

// y is the place of a value. What is beyond the axis is at its ends.
func (a *valueAxis) y(value float64) float64 {
	share := (value - a.low) / (a.high - a.low)
	if a.isLog {
		share = math.Log(max(value, a.low)/a.low) / math.Log(a.high/a.low)
	}
	return a.top + (1-min(max(share, 0), 1))*a.height
}

// nines is the axis of percentiles, on which each further nine takes the same room: 0, 90,
// 99, 99.9 % … It ends at that of the last request.
type nines struct{ requests float64 }

// span is how many nines there are to the last request: its percentile is taken in the
// middle of its share, (N - 0.5)/N.
func (n nines) span() float64 { return max(math.Log10(2*n.requests), 1) }

// x is the place of a percentile (0 … 1).
func (n nines) x(q float64) float64 { return n.at(-math.Log10(1 - q)) }

// at is the place of so many nines.
func (n nines) at(nine float64) float64 {
	return left + min(max(nine/n.span(), 0), 1)*areaWidth
}

// ticks are the percentiles that have a line.
func (n nines) ticks() []percentileTick {
	list := []percentileTick{{0, "0"}, {0.5, "50"}}
	for i := 1; float64(i) <= n.span(); i++ {
		list = append(list, percentileTick{1 - math.Pow(10, -float64(i)), ninesLabel(i)})
	}
	return list
}

type percentileTick struct {
	q     float64
	label string
}

// ninesLabel is a percentile of so many nines: "90", "99", "99.9".
func ninesLabel(n int) string {
	if n == 1 {
		return "90"
	}
	if n == 2 {
		return "99"
	}
	return "99." + strings.Repeat("9", n-2)
}

// axes draws the frame of a chart, with lines and labels of values.
func (c *canvas) axes(a *valueAxis) {
	c.printf(`<g class="grid">`)
	for _, t := range a.labels {
		c.printf(`<path d="M%d %sh%d"/>`, left-5, number(a.top+(1-t.At)*a.height), areaWidth+5)
	}
	c.printf("</g>\n"+`<path class="frame" d="M%d %sv%sh%d"/>`+"\n"+`<g text-anchor="end">`, left, number(a.top), number(a.height), areaWidth)
	for _, t := range a.labels {
		c.text(left-9, a.top+(1-t.At)*a.height+4, "", t.Label)
	}
	c.printf("</g>\n")
}
