package mapping

import "math"

// Range has the lowest and the highest figures of some latencies. Each figure of their sum lies between those of the
// parts. The zero value is empty.
type Range struct {
	low, high [len(quantiles) + 1]float64
	isSet     bool
}

// figures are the minimum, the percentiles, the maximum and the mean.
func (lat *Latency) figures() (list [len(quantiles) + 1]*float64) {
	list[0], list[len(quantiles)-1], list[len(quantiles)] = &lat.Min, &lat.Max, &lat.Mean
	for i := range Percentiles {
		list[i+1] = Percentiles[i].of(lat)
	}
	return list
}

// Add adds a latency with percentiles.
func (r *Range) Add(lat *Latency) {
	for i, us := range lat.figures() {
		if !r.isSet || *us < r.low[i] {
			r.low[i] = *us
		}
		r.high[i] = max(r.high[i], *us)
	}
	r.isSet = true
}

// Limit moves the figures of a sum that were computed from whole counts into the range of its parts, which were computed
// from exact weights. It leaves those that are outside by no more than a bin.
func (r *Range) Limit(sum *Latency) {
	layout, err := parseLayout(sum.Layout)
	if err != nil {
		return
	}
	bin := func(us float64) int { return layout.Index(int64(math.Round(us * 1000))) }
	for i, us := range sum.figures() {
		switch {
		case bin(*us) < bin(r.low[i])-1:
			*us = r.low[i]
		case bin(*us) > bin(r.high[i])+1:
			*us = r.high[i]
		}
	}
}
