package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

// rankRow is how many requests of a direction were served within a latency.
type rankRow struct {
	run                     *mapping.RunInfo
	direction               string // all: of those that were asked for
	from, to                time.Time
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
		{Name: "from", Sparse: true, Value: func(r *rankRow) any { return r.from }},
		{Name: "to", Sparse: true, Value: func(r *rankRow) any { return r.to }},
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

// rankWriter adds up the windows that are asked for, and answers at the end of each run.
type rankWriter struct {
	to    *table.Writer[*rankRow]
	query *rankQuery

	run         string
	sums        map[string]*hist.Histogram // by direction
	windows     int
	from, until time.Time // what they span
	choice      choice
	empty       []error // runs of which there was nothing
}

func newRankWriter(w io.Writer, format string, q *rankQuery) *rankWriter {
	return &rankWriter{to: table.New(w, format, rankColumns), query: q}
}

func (r *rankWriter) begin(run string, _ bool) {
	r.run, r.sums, r.windows, r.choice = run, map[string]*hist.Histogram{}, 0, choice{query: &r.query.windowQuery}
	r.from, r.until = time.Time{}, time.Time{}
}

// wants implements [windowOutput].
func (r *rankWriter) wants(run *mapping.Run) (history.Selection, bool, error) {
	if r.query.whole() {
		return history.Selection{}, false, nil
	}
	return r.query.wants(run)
}

func (r *rankWriter) interval(d *mapping.Interval) error {
	if r.query.whole() || d.Latency.Layout == "" { // of averages: no histogram
		return nil
	}
	if takes, err := r.choice.takes(d); err != nil || !takes {
		return err
	}
	if r.windows == 0 || d.Time.Before(r.from) {
		r.from = d.Time
	}
	if r.windows == 0 || d.Window.End.After(r.until) {
		r.until = d.Window.End
	}
	r.windows++
	return r.add(d.Fio.Direction, &d.Latency)
}

func (r *rankWriter) add(direction string, l *mapping.Latency) error {
	h, err := l.Hist()
	if err != nil {
		return err
	}
	for _, name := range []string{direction, allDirections} {
		if r.sums[name] == nil {
			r.sums[name] = &hist.Histogram{}
		}
		r.sums[name].Merge(h)
	}
	return nil
}

// allDirections are those that were asked for, together.
const allDirections = "all"

// total answers for a run.
func (r *rankWriter) total(run *mapping.Run) error {
	if r.query.whole() {
		r.from, r.until = run.Run.Start, run.Run.End
		for _, d := range run.ByDirection() {
			if !isWanted(r.query.directions, d.Direction) || d.Latency.Layout == "" {
				continue
			}
			if err := r.add(d.Direction, &d.Latency); err != nil {
				return err
			}
		}
	}
	if len(r.sums) == 0 {
		r.empty = append(r.empty, r.choice.empty(run))
		return nil
	}
	of := r.sums[allDirections].Total()
	if len(r.sums) == 2 { // a direction alone is all
		delete(r.sums, allDirections)
	}
	r.to.Begin(fmt.Sprintf("%s, %s to %s", r.run, unit.Moment(r.from), unit.Moment(r.until)))
	for _, within := range r.query.within {
		for _, direction := range append(mapping.Directions[:], allDirections) {
			h := r.sums[direction]
			if h == nil {
				continue
			}
			row := newRankRow(direction, within, h)
			row.run, row.from, row.to, row.of = &run.Run, r.from, r.until, of
			if err := r.to.Write(row); err != nil {
				return err
			}
		}
	}
	return r.to.End()
}

func (r *rankWriter) flush() error { return errors.Join(append(r.empty, r.to.Flush())...) }
