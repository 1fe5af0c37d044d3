package main

import (
	"io"
	"slices"
	"strconv"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// percentileRow is a window, the totals of a run, or the sum of windows.
type percentileRow struct {
	*window.Window
	latency facts.Latencies
	isSum   bool // of the windows that were chosen
}

// isTotal reports whether the row is about the whole run.
func (r *percentileRow) isTotal() bool { return r.Level == 0 && !r.isSum }

// level is the level of the row.
func (r *percentileRow) level() string {
	switch {
	case r.isTotal():
		return "run"
	case r.isSum:
		return "chosen"
	}
	return r.Level.String()
}

// at is when the window was, in seconds since the run's start.
func (r *percentileRow) at() string {
	if r.isTotal() {
		return "all"
	}
	return seconds(r.StartMS()) + "-" + seconds(r.EndMS())
}

// clock is the time of day at which the window began, where it is known.
func (r *percentileRow) clock() string {
	if r.isTotal() || !unit.IsKnown(r.Start) {
		return ""
	}
	return r.Start.UTC().Format("15:04:05.000")
}

// requestsText is the number of requests, where it is known: averages have none.
func (r *percentileRow) requestsText() string {
	if !r.Latency.HasPercentiles() && r.Completed == 0 {
		return "-"
	}
	return unit.Count(r.Completed)
}

var percentileColumns = slices.Concat(
	facts.RunColumns(func(r *percentileRow) *mapping.RunInfo { return r.Run }),
	[]table.Column[*percentileRow]{
		{Heading: ">TIME", Text: (*percentileRow).at},
		{Heading: "DATE", Text: (*percentileRow).clock},
		{Name: "level", Value: func(r *percentileRow) any { return r.level() }},
		{Name: "host", Heading: "HOST", Sparse: true, Value: func(r *percentileRow) any { return r.Host }},
		{Name: "job", Heading: "JOB", Sparse: true, Value: func(r *percentileRow) any { return r.Job }},
		{Name: "direction", Heading: "DIR", Value: func(r *percentileRow) any { return r.Direction }},
		{Name: "start", Unit: "ms", Value: func(r *percentileRow) any { return r.StartMS() }},
		{Name: "end", Unit: "ms", Value: func(r *percentileRow) any { return r.EndMS() }},
		{Name: "start", Sparse: true, Value: func(r *percentileRow) any { return r.Start }},
		{Name: "end", Sparse: true, Value: func(r *percentileRow) any { return r.End }},
		{
			Name: "requests", Heading: ">REQUESTS",
			Value: func(r *percentileRow) any { return r.Completed },
			Text:  (*percentileRow).requestsText,
		},
		{
			Name: "iops", Heading: ">IOPS",
			Value: func(r *percentileRow) any { return r.IOPS },
			Text:  func(r *percentileRow) string { return unit.Rate(r.IOPS) },
		},
	},
	table.Hide(facts.LatencyColumns(func(r *percentileRow) *facts.Latencies { return &r.latency }), "min", "p99_99"),
)

// percentiles writes windows as they come, and the run's totals after them.
type percentiles struct {
	to        *table.Writer[*percentileRow]
	query     *query.Query
	method    string
	totalOnly bool
	note      func(*query.Run, *mapping.Run) // on a run without windows

	windows int         // of the run
	sum     *window.Sum // of its windows, where the query does not want all of the run
	byFio   bool        // fio computed some values of the table
}

func newPercentiles(w io.Writer, format, method string, q *query.Query) *percentiles {
	cut, drop := []string{"HOST", "JOB"}, []string{"P75", "P90", "MEAN", "P95", "DATE", "P50", "MAX"}
	return &percentiles{to: table.NewNarrow(w, format, percentileColumns, cut, drop), method: method, query: q}
}

// begin begins a run. If there are several, tables name it.
func (p *percentiles) begin(run *query.Run, many bool) error {
	p.byFio, p.windows, p.sum = false, 0, &window.Sum{}
	switch {
	case many && run.Stored != nil:
		p.to.Begin(run.Name + ", started " + facts.Started(run.Stored))
	case many:
		p.to.Begin(run.Name)
	default:
		p.to.Begin()
	}
	return nil
}

func (p *percentiles) window(w *window.Window) error {
	p.windows++
	if !p.query.WantsAll() && w.Level == p.query.Level() {
		if err := p.sum.Add(w); err != nil {
			return err
		}
	}
	if p.totalOnly {
		return nil
	}
	return p.write(&percentileRow{Window: w, latency: facts.LatenciesOf(&w.Latency)})
}

func (p *percentiles) write(r *percentileRow) error {
	p.byFio = p.byFio || r.latency.ByFio
	if p.method == "fio" {
		if err := r.latency.UseFioMethod(&r.Latency); err != nil {
			return err
		}
	}
	return p.to.Write(r)
}

// end writes the totals of the run or of the windows that were chosen, and ends the table.
func (p *percentiles) end(run *query.Run, doc *mapping.Run) error {
	totals := p.totals
	if !p.query.WantsAll() {
		if p.windows == 0 {
			return emptyError{run.NoMatch(doc)}
		}
		totals = p.sums
	} else if p.windows == 0 {
		p.note(run, doc)
	}
	if err := totals(doc); err != nil {
		return err
	}
	return p.to.End(facts.Notes(p.byFio)...)
}

// totals writes the totals of a run.
func (p *percentiles) totals(doc *mapping.Run) error {
	directions := doc.ByDirection()
	list := window.Totals(doc)
	if all := window.All(doc); all != nil {
		directions, list = append(directions, mapping.DirectionTotals{Direction: all.Direction, Totals: doc.All}), append(list, all)
	}
	for i, w := range list {
		if !p.query.WantsDirection(w.Direction) {
			continue
		}
		if err := p.write(&percentileRow{Window: w, latency: facts.LatenciesOfTotals(directions[i].Totals)}); err != nil {
			return err
		}
	}
	return nil
}

// sums writes the sums of the windows that were chosen.
func (p *percentiles) sums(*mapping.Run) error {
	for _, w := range p.sum.Windows() {
		if err := p.write(&percentileRow{Window: w, latency: facts.LatenciesOf(&w.Latency), isSum: true}); err != nil {
			return err
		}
	}
	return nil
}

func seconds(ms int64) string { return strconv.FormatFloat(float64(ms)/1000, 'f', 3, 64) }
