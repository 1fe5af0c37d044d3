package main

import (
	"io"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// percentiles writes windows as they come, and the run's totals after them.
type percentiles struct {
	to        *table.Writer[*percentileRow]
	query     *query.Query
	method    string
	totalOnly bool
	note      func(*query.Run, *mapping.Run) // called for a run without windows

	windows int         // number of windows of the run
	sum     *window.Sum // sum of the windows, if the query does not want all of the run
	byFio   bool        // fio computed some values of the table
}

func newPercentiles(w io.Writer, format, method string, q *query.Query) *percentiles {
	cut, drop := []string{"HOST", "JOB"}, []string{"P75", "P90", "MEAN", "P95", "UTC", "P50", "MAX"}
	return &percentiles{to: table.NewNarrow(w, format, percentileColumns, cut, drop), method: method, query: q}
}

// begin begins a run. If there are several, tables name it.
func (p *percentiles) begin(run *query.Run, many bool) error {
	p.byFio, p.windows, p.sum = false, 0, &window.Sum{}
	switch {
	case many && run.Stored != nil:
		p.to.Begin(run.Name + ", started " + facts.StartedUTC(run.Stored))
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
		if h, err := r.Histogram(); err != nil {
			return err
		} else if h != nil {
			r.latency.UseFioMethod(h)
		}
	}
	return p.to.Write(r)
}

// end writes the totals of the run or of the chosen windows, and ends the table.
func (p *percentiles) end(run *query.Run, doc *mapping.Run) error {
	totals := p.totals
	if !p.query.WantsAll() {
		if p.windows == 0 {
			return run.NoMatch(doc)
		}
		totals = p.sums
	} else if p.windows == 0 && !p.totalOnly {
		p.note(run, doc)
	}
	if err := totals(doc); err != nil {
		return err
	}
	return p.to.End(facts.Notes(p.byFio)...)
}

func (p *percentiles) totals(doc *mapping.Run) error {
	list := doc.ByDirection()
	if len(list) > 1 && doc.All != nil {
		list = append(list, mapping.DirectionTotals{Direction: window.AllDirections, Totals: doc.All})
	}
	for _, d := range list {
		if !p.query.WantsDirection(d.Direction) {
			continue
		}
		if err := p.write(&percentileRow{Window: window.Total(doc, d), latency: facts.LatenciesOfTotals(d.Totals)}); err != nil {
			return err
		}
	}
	return nil
}

// sums writes the sums of the chosen windows.
func (p *percentiles) sums(*mapping.Run) error {
	for _, w := range p.sum.Windows() {
		if err := p.write(&percentileRow{Window: w, latency: facts.LatenciesOf(&w.Latency), isSum: true}); err != nil {
			return err
		}
	}
	return nil
}
