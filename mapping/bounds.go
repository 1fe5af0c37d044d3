package mapping

import (
	"math"

	"github.com/fio2es/fio2es/hist"
)

// Bounds are the confidence intervals of percentiles, in microseconds: if the requests are a sample of many of their kind, the
// percentile of all is in the interval with this confidence. They reach to the edges of bins, and take requests as
// independent ([hist.Histogram.ConfidenceInterval]). A document has them on request.
//
// With confidence 1 they are those between which the percentiles of the requests themselves lie, because these are not all known: of
// totals with requests in no bin, and of windows that cut rows.
type Bounds struct {
	Confidence float64 `json:"confidence"` // such as 0.95, or 1
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

// SureRows is how many rows a window has at least whose percentiles count as known although it cuts rows at both ends.
const SureRows = 5

// CutBounds returns the bounds of a window that cuts rows, with the fastest and with the slowest requests of these.
func CutBounds(fastest, slowest *hist.Histogram) *Bounds {
	b := &Bounds{Confidence: 1}
	low, high := fastest.Percentiles(quantiles[:]...), slowest.Percentiles(quantiles[:]...)
	for i, to := range b.all() {
		if to.Low = micros(low[i+1].Low); !high[i+1].Open {
			to.High = micros(high[i+1].High)
		}
	}
	return b
}

// AreCertain reports whether the percentiles themselves lie between the bounds, which may be nil.
func (b *Bounds) AreCertain() bool { return b != nil && b.Confidence == 1 }

// SureBounds returns between which latencies the percentiles of a window lie for certain: b, if these are, and else the percentiles
// themselves.
func SureBounds(lat *Latency, b *Bounds) *Bounds {
	sure := &Bounds{Confidence: 1}
	if b.AreCertain() {
		*sure = *b
		return sure
	}
	for i, to := range sure.all() {
		us := Percentiles[i].Of(lat)
		if *to = (Between{us, us}); lat.IsOpen(us) {
			to.High = 0
		}
	}
	return sure
}

// Widen extends each interval that is known to one of the same percentile. It keeps the confidence.
func (b *Bounds) Widen(o *Bounds) {
	for i, to := range b.all() {
		if other, ok := o.Of(i); ok && *to != (Between{}) {
			open := to.High == 0 || other.High == 0
			if *to = (Between{min(to.Low, other.Low), max(to.High, other.High)}); open {
				to.High = 0
			}
		}
	}
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
