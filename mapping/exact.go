package mapping

import (
	"fmt"
	"math"

	"github.com/fio2es/fio2es/hist"
)

// Exact has the bins of an interval document whose weight is not the whole count of its histogram, because requests were
// divided among windows. Elasticsearch takes only whole counts in a histogram. When windows are joined, the weights add
// up to the right numbers.
type Exact struct {
	Values []float64 `json:"values"` // middles of the bins in microseconds, ascending
	Counts []float64 `json:"counts"` // requests, to seven decimals
}

// A weight is a multiple of 2^-20 of a request, which seven decimals identify.
const (
	perRequest = 1 << 20
	decimals   = 1e7
	mostParts  = 1 << 53 // that a float64 has exactly
)

// requests returns a number of parts as requests.
func requests(parts float64) float64 { return math.Round(parts/perRequest*decimals) / decimals }

// parts returns the bins with counts in parts of a request. It returns none if counts are not multiples of one.
func (e *Exact) parts() (b Bins) {
	if len(e.Values) == 0 {
		return b
	}
	b = Bins{make([]float64, 0, len(e.Values)), make([]int64, 0, len(e.Values))}
	for i, n := range e.Counts {
		parts := math.Round(n * perRequest)
		if i >= len(e.Values) || requests(parts) != n || !(parts < mostParts) {
			return Bins{}
		}
		b.Values, b.Counts = append(b.Values, e.Values[i]), append(b.Counts, int64(parts))
	}
	return b
}

// exactOf is the inverse of parts.
func exactOf(b Bins) (e Exact) {
	e.Values = b.Values
	for _, n := range b.Counts {
		e.Counts = append(e.Counts, requests(float64(n)))
	}
	return e
}

// NewExact compares a histogram with its whole counts, which are by ascending index.
func NewExact(h *hist.Histogram, counts []hist.Bin) (e Exact) {
	var middles []float64
	add := func(i int, n float64) {
		if middles == nil {
			middles = tableOf(h.Layout()).values
		}
		e.Values, e.Counts = append(e.Values, middles[i]), append(e.Counts, requests(math.Round(n*perRequest)))
	}
	for i, n := range h.All() {
		for len(counts) > 0 && int(counts[0].Index) < i {
			add(int(counts[0].Index), 0)
			counts = counts[1:]
		}
		whole := 0.0
		if len(counts) > 0 && int(counts[0].Index) == i {
			whole, counts = float64(counts[0].Count), counts[1:]
		}
		if n != whole {
			add(i, n)
		}
	}
	for _, c := range counts {
		add(int(c.Index), 0)
	}
	return e
}

// Restore changes the whole counts of a histogram to the weights. It fails with [ErrBins] if a value is not a latency.
func (e *Exact) Restore(h *hist.Histogram) error {
	if err := e.check(); err != nil {
		return err
	}
	whole := map[int]float64{}
	for i, n := range h.All() {
		whole[i] = n
	}
	for i, v := range e.Values {
		bin := indexOf(h.Layout(), v)
		h.AddAt(bin, math.Round(e.Counts[i]*perRequest)/perRequest-whole[bin])
		whole[bin] = e.Counts[i]
	}
	return nil
}

func (e *Exact) check() error {
	if len(e.Values) != len(e.Counts) {
		return fmt.Errorf("read exact counts: %d values, %d counts: %w", len(e.Values), len(e.Counts), ErrBins)
	}
	last := math.Inf(-1)
	for i, v := range e.Values {
		if n := e.Counts[i]; !(v > last && v >= 0 && v < math.MaxInt64/1000) || !isSize(n) {
			return fmt.Errorf("read exact counts: count %v of value %v: %w", n, v, ErrBins)
		}
		last = v
	}
	return nil
}
