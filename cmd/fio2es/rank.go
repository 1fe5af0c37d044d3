package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

func rankCommand(e *env) *cobra.Command {
	r, format := &rank{}, table.Text
	var within []string
	cmd := &cobra.Command{
		Use:   "rank X... --within LATENCY",
		Short: "How many requests were served within a latency",
		Long: `Prints how many requests were served within a latency, and their share: the percentile
rank. Several runs are answered one after another.

` + chooseHelp + `

--from and --to bound the time: a time of day (09:12), a date and time
(2026-01-31T09:12:00Z), or a time since the run's start (+90s). A window counts if its
midpoint is in range; the actual span is printed.

SERVED is exact except for the bin of the latency, whose requests count as evenly spread
within it: AT LEAST leaves them out, AT MOST counts them all. ≥ marks a latency in fio's
last bin, which has no upper end: SERVED counts the requests below that bin. So it does
where requests are in no bin; AT MOST counts these, too.`,
		Example: `  fio2es rank latest --within 100ms
  fio2es rank latest --within 1ms,10ms,100ms --from 09:12 --to 09:46
  fio2es rank results/ --within 5ms --direction read --host client01`,
		Args: someRuns,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if r.within, err = parseWithin(within); err != nil {
				return err
			}
			r.Totals = r.WantsAll()
			r.to = table.New(e.stdout, format, rankColumns())
			a := answer{begin: r.begin, window: r.add, end: r.write}
			return (&runReader{env: e}).answer(cmd.Context(), args, &r.Query, a)
		},
	}
	fl := cmd.Flags()
	addAnswerFlags(fl, &r.Query)
	fl.StringSliceVar(&within, "within", nil, "`latencies`, such as 500us,10ms,1s")
	addChoice(fl, &format, "format", tableUsage, table.Formats)
	return cmd
}

func parseWithin(texts []string) (within []time.Duration, err error) {
	for _, text := range texts {
		d, ok := expr.ParseLatency(text)
		if !ok || d < 0 {
			return nil, usagef("--within %s: want a latency such as 500us, 10ms or 1s", text)
		}
		within = append(within, d)
	}
	if len(within) == 0 {
		return nil, usagef("--within: want a latency such as 100ms")
	}
	return within, nil
}

// rank counts how many requests of a run took at most each of some latencies.
type rank struct {
	query.Query
	within []time.Duration
	to     *table.Writer[*rankRow]

	sums map[string]*hist.Histogram // of the run, by direction
	span window.Span                // span of its windows
}

func (r *rank) begin(*query.Run) error {
	r.sums, r.span = map[string]*hist.Histogram{}, window.Span{}
	return nil
}

func (r *rank) add(w *window.Window) error {
	h, err := w.Histogram()
	if err != nil || h == nil {
		return err
	}
	r.span.Add(w)
	for _, name := range mapping.With(w.Direction) {
		if r.sums[name] == nil {
			r.sums[name] = &hist.Histogram{}
		}
		r.sums[name].Merge(h)
	}
	return nil
}

func (r *rank) write(run *query.Run, doc *mapping.Run) error {
	if len(r.sums) == 0 {
		return run.NoMatch(doc)
	}
	of := 0.0
	if all := r.sums[mapping.AllDirections]; all != nil {
		of = all.Total()
	}
	if !mapping.Several(slices.Collect(maps.Keys(r.sums))) { // a single direction has the same requests as all
		delete(r.sums, mapping.AllDirections)
	}
	unbinned := r.unbinned(doc)
	of += float64(unbinned[mapping.AllDirections])
	r.to.Begin(fmt.Sprintf("%s, %s", run.Name, unit.Span(r.span.Start, r.span.End)))
	for _, within := range r.within {
		for _, direction := range append(mapping.Directions[:], mapping.AllDirections) {
			h := r.sums[direction]
			if h == nil {
				continue
			}
			row := &rankRow{run: &doc.Run, direction: direction, span: r.span, within: within, requests: h.Total(), of: of}
			if direction == mapping.Sync {
				row.of = row.requests + float64(unbinned[direction])
			}
			row.served, row.atLeast, row.atMost = h.CountWithin(float64(within))
			row.isBound = row.atMost > row.atLeast && h.Layout().Open(h.Layout().Index(int64(within)))
			if n := float64(unbinned[direction]); n > 0 {
				row.requests, row.served, row.atMost, row.isBound = row.requests+n, row.atLeast, row.atMost+n, true
			}
			if err := r.to.Write(row); err != nil {
				return err
			}
		}
	}
	if len(unbinned) > 0 {
		return r.to.End(facts.BoundsNote)
	}
	return r.to.End()
}

// unbinned returns how many requests of each direction of a whole run are in no bin, and of all that were asked for.
func (r *rank) unbinned(doc *mapping.Run) map[string]int64 {
	list := map[string]int64{}
	for _, d := range doc.ByDirection() {
		if r.Totals && d.Unbinned > 0 && query.Wants(r.Directions, d.Direction) && r.sums[d.Direction] != nil {
			list[d.Direction] = d.Unbinned
			if d.Direction != mapping.AllDirections && d.Direction != mapping.Sync {
				list[mapping.AllDirections] += d.Unbinned
			}
		}
	}
	return list
}

// rankRow says how many requests of a direction were served within a latency.
type rankRow struct {
	run                     *mapping.RunInfo
	direction               string      // or all: the sum of the selected directions
	span                    window.Span // of the windows
	within                  time.Duration
	requests, of            float64 // requests in this direction, and in all
	served, atLeast, atMost float64
	isBound                 bool // served is a lower bound: the latency lies in fio's last bin, or requests are in no bin
}

func (r *rankRow) withinUS() float64 { return float64(r.within) / 1000 }

// share returns the share of served requests; NaN without requests.
func (r *rankRow) share() float64 { return r.served / r.requests }

func wholeNumber(n float64) int64 { return int64(math.Round(n)) }

func rankColumns() []table.Column[*rankRow] {
	return slices.Concat(
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
				Text: func(r *rankRow) string {
					if math.IsNaN(r.share()) {
						return "-"
					}
					return unit.OrMore(unit.Percent(r.share(), r.of), r.isBound)
				},
			},
			table.Count("at_least", ">AT LEAST", func(r *rankRow) int64 { return wholeNumber(r.atLeast) }),
			table.Count("at_most", ">AT MOST", func(r *rankRow) int64 { return wholeNumber(r.atMost) }),
			{Name: "open", Sparse: true, Value: func(r *rankRow) any { // names of the columns that are lower bounds
				if r.isBound {
					return []string{"served", "share"}
				}
				return []string(nil)
			}},
		},
	)
}
