package heatmap

import (
	"math"
	"sort"
	"strconv"

	"github.com/fio2es/fio2es/hist"
)

const (
	// BandsPerDecade is how many bands of latency a power of ten has. A band is 12 % wide; a bin of fio is at most
	// 1.6 % wide.
	BandsPerDecade = 20

	// Powers of ten of microseconds. fio's finest bins are nanoseconds. The highest bound is 88 hours, more than the
	// slowest request of a fio that was rebuilt for latencies of minutes.
	lowestDecade, highestDecade = -3, 11

	bands = (highestDecade-lowestDecade)*BandsPerDecade + BandsPerDecade/2
)

// Bound returns the lowest latency of band i in microseconds, 10^(i/20 - 3), rounded to six digits as in Kibana's
// dashboards. A band is [Bound(i), Bound(i+1)).
func Bound(i int) float64 { return bounds[i] }

// bounds are the lower bounds of all bands, and the end of the last one.
var bounds = func() (list [bands + 1]float64) {
	for i := range list {
		exact := math.Pow(10, float64(i)/BandsPerDecade+lowestDecade)
		// cannot fail: FormatFloat wrote the text
		list[i], _ = strconv.ParseFloat(strconv.FormatFloat(exact, 'g', 6, 64), 64)
	}
	return list
}()

// bandsOf returns, for each bin of a layout, the band of its middle.
func bandsOf(l hist.Layout) []int {
	list := make([]int, l.Len())
	for i := range list {
		list[i] = bandOf(l.Middle(i) / 1000)
	}
	return list
}

// bandOf returns the band of a latency. Latencies below or above all bands are in the nearest band.
func bandOf(us float64) int {
	above := sort.Search(len(bounds), func(i int) bool { return bounds[i] > us })
	return min(max(above-1, 0), bands-1)
}
