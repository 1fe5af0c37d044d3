package kibana

import (
	"encoding/json"
	"math"
	"strconv"
	"sync"
)

const (
	bandsPerDecade = 20
	lastBound      = 7*bandsPerDecade + bandsPerDecade/2 // 10^7.5 µs
)

// Bands are the bounds of latency bands in microseconds, ascending: 20 in each power of
// ten from 1 µs to 31.6 s. A fio bin is at most 1.6 % wide and a band is 12 %, so the
// bins that a bound cuts (they count in the band that has their middle) hardly show.
// Requests below the first bound, and those from the last one on, are in two bands more.
func Bands() []float64 {
	bounds := make([]float64, 0, lastBound+1)
	for i := range lastBound + 1 {
		bounds = append(bounds, digits(math.Pow(10, float64(i)/bandsPerDecade)))
	}
	return bounds
}

// digits rounds to the six significant ones that the text of a specification shall have.
func digits(f float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', 6, 64), 64)
	if err != nil {
		panic(err) // it has been formatted just now
	}
	return rounded
}

// bandsText are the ranges of range aggregations: all of them, so that every request is
// in one, and each half of them. A search may have 65,536 buckets, so two that ask for a
// half each can have twice as many columns.
var bandsText = sync.OnceValue(func() (text struct{ all, low, high []byte }) {
	type band struct {
		From float64 `json:"from,omitempty"`
		To   float64 `json:"to,omitempty"`
	}
	var list []band
	low := 0.0
	for _, bound := range Bands() {
		list = append(list, band{low, bound})
		low = bound
	}
	list = append(list, band{From: low})
	encode := func(list []band) []byte {
		text, err := json.Marshal(list)
		if err != nil {
			panic(err) // numbers always encode
		}
		return text
	}
	half := len(list) / 2
	text.all, text.low, text.high = encode(list), encode(list[:half]), encode(list[half:])
	return text
})
