package kibana

import (
	"sync"

	"github.com/fio2es/fio2es/internal/heatmap"
)

// The bands are the bands of heat maps, from 1 µs up to 31.6 s.
const (
	firstBound = 3 * heatmap.BandsPerDecade // 10^0 µs
	lastBound  = firstBound + 7*heatmap.BandsPerDecade + heatmap.BandsPerDecade/2
)

// bands are the ranges of range aggregations: all of them, so that every request is in one, and each half of them.
// Requests below the first bound, and those from the last one on, are in two bands more. A fio bin is at most 1.6 % wide
// and a band is 12 %, so the bins that a bound cuts (they count in the band that has their middle) hardly show.
//
// A search may have 65,536 buckets, so two searches for a half each can have twice as many columns.
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
