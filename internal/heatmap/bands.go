package heatmap

import (
	"math"
	"sort"
	"strconv"

	"github.com/fio2es/fio2es/hist"
)

const (
	// BandsPerDecade is how many bands of latency a power of ten has: each is 12 % wide, and
	// a bin of fio at most 1.6 %.
	BandsPerDecade = 20

	// Of microseconds. fio's finest bins are nanoseconds; the highest bound is 88 hours,
	// more than the slowest request of a fio that was rebuilt for minutes takes.
	lowestDecade, highestDecade = -3, 11

	bands = (highestDecade-lowestDecade)*BandsPerDecade + BandsPerDecade/2
)

// Bound is the lowest latency of band i in microseconds, to the six digits that Kibana's dashboards have:
// 10^(i/20 - 3). Bands are from their bound up to, not with, the next.
func Bound(i int) float64 { return bounds[i] }

// bounds are the lower bounds of all bands, and the end of the last.
var bounds = func() (list [bands + 1]float64) {
	for i := range list {
		exact := math.Pow(10, float64(i)/BandsPerDecade+lowestDecade)
		list[i], _ = strconv.ParseFloat(strconv.FormatFloat(exact, 'g', 6, 64), 64) // it has been formatted just now
	}
	return list
}()

// bandsOf are the bands of the middles of a layout's bins.
func bandsOf(l hist.Layout) []int {
	list := make([]int, l.Len())
	for i := range list {
		list[i] = bandOf(l.Middle(i) / 1000)
	}
	return list
}

// bandOf is the band of a latency. Latencies below or above all bands are in the nearest one.
func bandOf(us float64) int {
	above := sort.Search(len(bounds), func(i int) bool { return bounds[i] > us })
	return min(max(above-1, 0), bands-1)
}
