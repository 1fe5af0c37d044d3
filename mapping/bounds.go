package mapping

import (
	"math"

	"github.com/fio2es/fio2es/hist"
)

// Bounds are the confidence intervals of percentiles, in microseconds: if the requests are a sample of many of their kind, the
// percentile of all is in the interval with this confidence. They reach to the edges of bins, and take requests as
// independent ([hist.Histogram.ConfidenceInterval]). A document has them on request.
type Bounds struct {
	Confidence float64 `json:"confidence"` // such as 0.95
	P50        Between `json:"p50,omitzero"`
	P75        Between `json:"p75,omitzero"`
	P90        Between `json:"p90,omitzero"`
	P95        Between `json:"p95,omitzero"`
	P99        Between `json:"p99,omitzero"`
	P999       Between `json:"p99_9,omitzero"`
	P9999      Between `json:"p99_99,omitzero"`
}

// Between is an interval of latencies in microseconds. It is zero if there are too few requests for one, or if it reaches into
// fio's last bin, which has no end. In totals High is 0 if the interval has no end.
type Between struct {
	Low  float64 `json:"low"`
	High float64 `json:"high,omitempty"`
}

// Highest returns High, or +Inf if the interval has no end.
func (b Between) Highest() float64 {
	if b.High == 0 {
		return math.Inf(1)
	}
	return b.High
}

// NewBounds returns the intervals of the percentiles of h, or nil if h is empty or confidence is 0.
func NewBounds(h *hist.Histogram, confidence float64) *Bounds {
	if confidence == 0 || h.IsEmpty() {
		return nil
	}
	b := &Bounds{Confidence: confidence}
	for i, to := range b.all() {
		if low, high, ok := h.ConfidenceInterval(Percentiles[i].Quantile, confidence); ok {
			*to = Between{micros(low.Low), micros(high.High)}
		}
	}
	return b
}

// all returns the intervals in the order of [Percentiles].
func (b *Bounds) all() [len(Percentiles)]*Between {
	return [...]*Between{&b.P50, &b.P75, &b.P90, &b.P95, &b.P99, &b.P999, &b.P9999}
}

// Set sets the interval of a percentile by its index in [Percentiles].
func (b *Bounds) Set(i int, to Between) { *b.all()[i] = to }

// Of returns the interval of a percentile by its index in [Percentiles], or false if there is none.
func (b *Bounds) Of(i int) (Between, bool) {
	if b == nil {
		return Between{}, false
	}
	between := *b.all()[i]
	return between, between != Between{}
}
