// Package chart draws SVG: a canvas, axes of times, latencies, rates and percentiles with round ticks, and scales of
// colours. Heat maps, the charts of reports and those in lists of runs use it.
//
// All charts have the same width and the same position of the time axis, so that they can be placed below one
// another. Positions are in pixels, and latencies in microseconds. Texts are escaped.
package chart

import (
	"math"
	"strconv"
)

// ValueAxis is an axis of values from bottom to top.
type ValueAxis struct {
	Top, Height float64 // in pixels
	Low, High   float64
	Ticks       []Tick
	isLog       bool
}

// Shortest is the lowest latency of charts in microseconds: fio's finest bins are a nanosecond.
const Shortest = 0.001

// LatencyAxis returns a logarithmic axis for latencies from low to high, in microseconds. It begins and ends at
// round latencies: 1, 2 or 5 times a power of ten. top and height are in pixels.
func LatencyAxis(low, high, top, height float64) *ValueAxis {
	low = roundDown(max(low, Shortest))
	if high = roundUp(max(high, Shortest)); high <= low {
		high = roundUp(low * 1.5)
	}
	return LogAxis(low, high, top, height)
}

// LogAxis returns a logarithmic axis that begins exactly at low and ends at high, in microseconds.
func LogAxis(low, high, top, height float64) *ValueAxis {
	const room = 62 // pixels of a power of ten that has room for labels of 1, 2 and 5
	isFine := height/math.Log10(high/low) > room
	return &ValueAxis{Top: top, Height: height, Low: low, High: high, isLog: true, Ticks: logTicks(low, high, isFine, latencyLabel)}
}

// RateAxis returns an axis from 0 to at least high, with at most most steps of 1, 2 or 5 times a power of ten.
func RateAxis(high, top, height float64, most int) *ValueAxis {
	high = max(high, 1)
	step := roundUp(high / float64(most))
	steps := math.Ceil(high/step - 1e-9)
	a := &ValueAxis{Top: top, Height: height, High: steps * step}
	for i := 0.0; i <= steps; i++ {
		a.Ticks = append(a.Ticks, Tick{At: i / steps, Label: rateLabel(i*step, a.High)})
	}
	return a
}

// Y returns the y of a value. Values beyond the axis are at its ends.
func (a *ValueAxis) Y(value float64) float64 {
	share := (value - a.Low) / (a.High - a.Low)
	if a.isLog {
		share = math.Log(max(value, a.Low)/a.Low) / math.Log(a.High/a.Low)
	}
	return a.at(min(max(share, 0), 1))
}

// at returns the y of a share of the axis, from the bottom.
func (a *ValueAxis) at(share float64) float64 { return a.Top + (1-share)*a.Height }

// Axes draws the frame of a chart, with lines and labels for values, and vertical lines at the ticks in across.
func (c *Canvas) Axes(a *ValueAxis, across []Tick) {
	c.Printf(`<g class="grid">` + "\n")
	for _, t := range a.Ticks {
		c.Printf(`<path d="M%d %sh%d"/>`+"\n", Left-5, Number(a.at(t.At)), AreaWidth+5)
	}
	below := Number(a.Top) + "v" + Number(a.Height+5)
	c.Printf("</g>\n"+`<g class="grid" data-across="%s">`+"\n", below)
	for _, t := range across {
		c.Printf(`<path d="M%s %s"/>`+"\n", Number(Left+t.At*AreaWidth), below)
	}
	c.Printf("</g>\n"+`<path class="frame" d="M%d %sv%sh%d"/>`+"\n"+`<g text-anchor="end">`+"\n", Left, Number(a.Top), Number(a.Height), AreaWidth)
	for _, t := range a.Ticks {
		c.Text(Left-9, a.at(t.At)+4, "", t.Label)
	}
	c.Printf("</g>\n")
}

// Below writes the labels of ticks below a chart that ends at bottom, and the name of the axis. They need
// [BelowHeight].
func (c *Canvas) Below(across []Tick, bottom float64, name string) {
	c.Printf(`<g text-anchor="middle" data-below="%s">`+"\n", Number(bottom+20))
	for _, t := range across {
		c.Text(Left+t.At*AreaWidth, bottom+20, "", t.Label)
	}
	c.Text(Left+AreaWidth/2, bottom+44, "soft", name)
	c.Printf("</g>\n")
}

// BelowHeight is the height in pixels that [Canvas.Below] needs.
const BelowHeight = 54

// logTicks returns ticks at the powers of ten from low to high, on a logarithmic axis. With fine, there are ticks at 2 and 5
// times these, too.
func logTicks(low, high float64, fine bool, label func(float64) string) []Tick {
	height := math.Log10(high / low)
	var list []Tick
	for power := -3; power <= 9; power++ {
		for _, times := range []int64{1, 2, 5} {
			value := float64(times) * math.Pow(10, float64(power))
			if value < low || value > high || times > 1 && !fine {
				continue
			}
			list = append(list, Tick{math.Log10(value/low) / height, label(value)})
		}
	}
	return list
}

// Rates is a logarithmic axis of rates from left to right.
type Rates struct{ low, high float64 }

// NewRates returns an axis for rates from low to high, which are above 0. It begins and ends at 1, 2 or 5 times a power
// of ten.
func NewRates(low, high float64) Rates {
	r := Rates{roundDown(low), roundUp(high)}
	if r.high <= r.low {
		r.high = roundUp(r.low * 1.5)
	}
	return r
}

// At returns the position of a rate as a share of the axis.
func (r Rates) At(perSecond float64) float64 {
	return min(max(math.Log(perSecond/r.low)/math.Log(r.high/r.low), 0), 1)
}

// X returns the x of a rate.
func (r Rates) X(perSecond float64) float64 { return Left + r.At(perSecond)*AreaWidth }

// Ticks returns ticks for an axis with room for so many labels.
func (r Rates) Ticks(most int) []Tick {
	label := func(perSecond float64) string { return rateLabel(perSecond, perSecond) }
	if fine := logTicks(r.low, r.high, true, label); len(fine) <= most {
		return fine
	}
	return logTicks(r.low, r.high, false, label)
}

// latencyLabel returns a round latency, without digits that are zero.
func latencyLabel(us float64) string {
	for _, u := range []struct {
		us   float64
		name string
	}{{1e6, "s"}, {1e3, "ms"}, {1, "µs"}} {
		if us >= u.us {
			return strconv.FormatFloat(us/u.us, 'f', -1, 64) + u.name
		}
	}
	return strconv.FormatFloat(math.Round(us*1e3), 'f', -1, 64) + "ns"
}

// rateLabel returns a round rate, in the unit that suits the highest one.
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

// roundDown returns the highest of 1, 2 and 5 times a power of ten that is not above x.
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

// roundUp returns the lowest of 1, 2 and 5 times a power of ten that is not below x.
func roundUp(x float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(x)))
	for _, times := range []float64{1, 2, 5} {
		if times*power >= x {
			return times * power
		}
	}
	return 10 * power
}

// Nines is an axis of percentiles on which each further nine has the same width: 0, 90, 99, 99.9 % … It ends at the
// percentile of the last request. The value of Nines is the number of requests.
type Nines float64

// span returns the number of nines up to the last request, whose percentile is the middle of its share: (N - 0.5)/N.
func (n Nines) span() float64 { return max(math.Log10(2*float64(n)), 1) }

// at returns the position of a percentile (0 … 1) as a share of the axis.
func (n Nines) at(q float64) float64 { return min(max(-math.Log10(1-q)/n.span(), 0), 1) }

// X returns the x of a percentile (0 … 1).
func (n Nines) X(q float64) float64 { return Left + n.at(q)*AreaWidth }

// Round returns the percentiles that have a tick.
func (n Nines) Round() []float64 {
	list := []float64{0, 0.5}
	for i := 1; float64(i) <= n.span(); i++ {
		list = append(list, 1-math.Pow(10, -float64(i)))
	}
	return list
}

// Ticks returns the ticks at [Nines.Round].
func (n Nines) Ticks() []Tick {
	var list []Tick
	for _, q := range n.Round() {
		list = append(list, Tick{n.at(q), Percentile(q)})
	}
	return list
}

// Percentile returns a percentile (0 … 1) as text: "99.9".
func Percentile(q float64) string { return strconv.FormatFloat(math.Round(q*1e12)/1e10, 'f', -1, 64) }
