package kibana

import (
	"sync"

	"github.com/fio2es/fio2es/internal/heatmap"
)

// The bands in Kibana are those of heat maps from 1 µs to 31.6 s.
const (
	firstBound = 3 * heatmap.BandsPerDecade // 10^0 µs
	lastBound  = firstBound + 7*heatmap.BandsPerDecade + heatmap.BandsPerDecade/2
)

// bands are the ranges of range aggregations: all of them, and the lower and the upper half. Every request is in
// one, because two more bands have the requests below the first bound and from the last one on. A bin that a bound
// cuts counts in the band of its middle. This hardly matters, because a bin is at most 1.6 % wide, and a band 12 %.
//
// A search may have 65,536 buckets. So two searches, each for half of the bands, can have twice as many columns.
var bands = sync.OnceValue(func() (text struct{ all, low, high string }) {
	type band struct {
		From float64 `json:"from,omitempty"`
		To   float64 `json:"to,omitempty"`
	}
	var list []band
	low := 0.0
	for i := firstBound; i <= lastBound; i++ {
		list = append(list, band{low, heatmap.Bound(i)})
		low = heatmap.Bound(i)
	}
	list = append(list, band{From: low})
	half := len(list) / 2
	text.all, text.low, text.high = quoted(list), quoted(list[:half]), quoted(list[half:])
	return text
})
