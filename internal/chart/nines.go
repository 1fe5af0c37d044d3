package chart

import (
	"math"
	"strconv"
)

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
