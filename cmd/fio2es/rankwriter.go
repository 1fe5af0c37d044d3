package main

import (
	"fmt"
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

// rankRow is how many requests of a direction were served within a latency.
type rankRow struct {
	run                     *mapping.RunInfo
	direction               string      // all: the sum of the selected ones
	span                    window.Span // of the windows
	within                  time.Duration
	requests, of            float64 // in this direction, in all
	served, atLeast, atMost float64
	isBound                 bool // the latency lies in fio's last bin, which has no end
}

// newRankRow counts the requests of h.
func newRankRow(direction string, within time.Duration, h *hist.Histogram) *rankRow {
	r := &rankRow{direction: direction, within: within, requests: h.Total()}
	r.served, r.atLeast, r.atMost = h.CountWithin(float64(within))
	r.isBound = r.atMost > r.atLeast && h.Layout().Open(h.Layout().Index(int64(within)))
	return r
}

func (r *rankRow) withinUS() float64 { return float64(r.within) / 1000 }

// share is the part of the requests that was served; not a number without requests.
func (r *rankRow) share() float64 { return r.served / r.requests }

func (r *rankRow) shareText() string {
	if math.IsNaN(r.share()) {
		return "-"
	}
	return unit.OrMore(unit.Percent(r.share(), r.of), r.isBound)
}

// open names the columns that are lower bounds.
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
		// what the windows really span
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

// rankSums adds up the requests of a run.
type rankSums struct {
	run  string
	sums map[string]*hist.Histogram // by direction
	span window.Span                // of its windows
}

// allDirections are the wanted directions together.
const allDirections = "all"

// add takes a window.
func (r *rankSums) add(w *window.Window) error {
	h, err := w.Histogram()
	if err != nil || h == nil {
		return err
	}
	r.span.Add(w)
	for _, name := range []string{w.Direction, allDirections} {
		if r.sums[name] == nil {
			r.sums[name] = &hist.Histogram{}
		}
		r.sums[name].Merge(h)
	}
	return nil
}

// write writes the answers of a run.
func (r *rankSums) write(to *table.Writer[*rankRow], run *mapping.RunInfo, within []time.Duration) error {
	of := r.sums[allDirections].Total()
	if len(r.sums) == 2 { // a direction alone is all
		delete(r.sums, allDirections)
	}
	to.Begin(fmt.Sprintf("%s, %s to %s", r.run, unit.Moment(r.span.Start), unit.Moment(r.span.End)))
	for _, latency := range within {
		for _, direction := range append(mapping.Directions[:], allDirections) {
			h := r.sums[direction]
			if h == nil {
				continue
			}
			row := newRankRow(direction, latency, h)
			row.run, row.span, row.of = run, r.span, of
			if err := to.Write(row); err != nil {
				return err
			}
		}
	}
	return to.End()
}
