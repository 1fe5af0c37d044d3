package main

import (
	"cmp"
	"context"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

// reportWriter puts runs on a page.
type reportWriter struct {
	page  *report.Page
	query *query.Query

	runs     int           // on the page
	base     *compare.Side // the first of them
	baseNone error         // it cannot be compared
	empty    []error       // runs of which nothing is wanted
}

// run puts a run on the page. name is how the user named it; several reports whether there are
// others, with which it is compared.
func (p *reportWriter) run(ctx context.Context, run *query.Run, name string, several bool) (*mapping.Run, error) {
	if err := run.Needs(mapping.Cluster); err != nil {
		return nil, err
	}
	out, side := p.page.Run(), &compare.Run{Name: name}
	doc, err := run.Read(ctx, p.query, func(w *window.Window) error {
		err := out.Add(w)
		if err == nil && several && w.Level == mapping.Cluster {
			err = side.Add(w)
		}
		return err
	})
	if err != nil || doc == nil {
		return doc, err
	}
	some, err := out.End(doc)
	if err != nil {
		return doc, err
	}
	if !some {
		p.empty = append(p.empty, run.NoMatch(doc))
		return doc, nil
	}
	p.runs++
	if several {
		side.End(doc)
		p.compare(&compare.Side{Name: run.Name, Runs: []*compare.Run{side}})
	}
	return doc, nil
}

// reportConfidence is how sure intervals of changes are, as by default in compare.
const reportConfidence = 0.95

// compare compares a run with the first one.
func (p *reportWriter) compare(side *compare.Side) {
	if p.runs == 1 {
		p.base = side
		return
	}
	first, other := p.base.Runs[0], side.Runs[0]
	c := &report.Comparison{Other: p.runs, Title: facts.Title(other.Document), Confidence: reportConfidence}
	switch {
	case other.IsEmpty():
		c.Why = other.Name + ": no windows to compare: " + whyEmpty(other)
	case first.IsEmpty():
		c.Why = "run 1 has no windows: " + cmp.Or(query.NoWindows(first.Document), query.OnlyAverages)
	default:
		c.Why = compare.Doubt(first.Document, other.Document)
	}
	if c.Why == "" {
		q := &compareQuery{confidence: reportConfidence}
		if err := q.parse(defaultMetrics, nil); err != nil {
			c.Why = err.Error()
			p.page.Compare(c)
			return
		}
		lines, _, err := compare.Compare(p.base, side, q.metrics, q.confidence)
		if err != nil {
			c.Why = err.Error()
		}
		for _, l := range lines {
			c.Changes = append(c.Changes, report.Change{
				Change: l.Change, Direction: l.Direction, BaseText: l.BaseText(), OtherText: l.OtherText(),
				ChangeText: l.Text(), IntervalText: l.IntervalText(),
			})
		}
	}
	p.page.Compare(c)
}

// whyEmpty is why a run has no windows to compare.
func whyEmpty(r *compare.Run) string {
	if r.OnlyAverages() {
		return cmp.Or(r.Document.NoWindows, query.OnlyAverages)
	}
	return cmp.Or(query.NoWindows(r.Document), query.NothingInTime)
}
