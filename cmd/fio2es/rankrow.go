package main

import (
	"math"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// rankRow says how many requests of a direction were served within a latency.
type rankRow struct {
	run                     *mapping.RunInfo
	direction               string      // or all: the sum of the selected directions
	span                    window.Span // of the windows
	within                  time.Duration
	requests, of            float64 // requests in this direction, and in all
	served, atLeast, atMost float64
	isBound                 bool // the latency lies in fio's last bin, which has no upper end
}

// count counts the requests of h, which has those of the direction.
func (r *rankRow) count(h *hist.Histogram) {
	r.served, r.atLeast, r.atMost = h.CountWithin(float64(r.within))
	r.isBound = r.atMost > r.atLeast && h.Layout().Open(h.Layout().Index(int64(r.within)))
}

func (r *rankRow) withinUS() float64 { return float64(r.within) / 1000 }

// share returns the share of served requests; NaN without requests.
func (r *rankRow) share() float64 { return r.served / r.requests }

func (r *rankRow) shareText() string {
	if math.IsNaN(r.share()) {
		return "-"
	}
	return unit.OrMore(unit.Percent(r.share(), r.of), r.isBound)
}

// open returns the names of the columns that are lower bounds.
func (r *rankRow) open() []string {
	if r.isBound {
		return []string{"served", "share"}
	}
	return nil
}

func wholeNumber(n float64) int64 { return int64(math.Round(n)) }

var rankColumns = slices.Concat(
	facts.RunColumns(func(r *rankRow) *mapping.RunInfo { return r.run }),
	[]table.Column[*rankRow]{
		{
			Name: "within", Unit: "us", Heading: ">WITHIN",
			Value: func(r *rankRow) any { return r.withinUS() },
			Text:  func(r *rankRow) string { return unit.Latency(r.withinUS()) },
		},
		{Name: "direction", Heading: "DIR", Value: func(r *rankRow) any { return r.direction }},
		// the actual span of the windows
		{Name: "from", Sparse: true, Value: func(r *rankRow) any { return r.span.Start }},
		{Name: "to", Sparse: true, Value: func(r *rankRow) any { return r.span.End }},
		table.Count("requests", ">REQUESTS", func(r *rankRow) int64 { return wholeNumber(r.requests) }),
		{
			Name: "served", Heading: ">SERVED",
			Value: func(r *rankRow) any { return wholeNumber(r.served) },
			Text:  func(r *rankRow) string { return unit.OrMore(unit.Count(wholeNumber(r.served)), r.isBound) },
		},
		{
			Name: "share", Heading: ">SHARE",
			Value: func(r *rankRow) any { return r.share() },
			Text:  (*rankRow).shareText,
		},
		table.Count("at_least", ">AT LEAST", func(r *rankRow) int64 { return wholeNumber(r.atLeast) }),
		table.Count("at_most", ">AT MOST", func(r *rankRow) int64 { return wholeNumber(r.atMost) }),
		{Name: "open", Sparse: true, Value: func(r *rankRow) any { return r.open() }},
	},
)
