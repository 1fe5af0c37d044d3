package report

import (
	"cmp"
	"context"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/internal/workload"
	"github.com/fio2es/fio2es/mapping"
)

// Add reads a run and adds it to the page. A page with several runs compares each with the first. name is the run as
// the user named it. If no request of the run matches the page's query, the run is left out, and [Page.Empty] says
// why. The returned document is nil if the files have nothing of a run.
func (p *Page) Add(ctx context.Context, run *query.Run, name string, several bool) (*mapping.Run, error) {
	q := p.opt.Query
	if q.Levels = []mapping.Level{mapping.Cluster}; run.Has(mapping.Host) {
		q.Levels = append(q.Levels, mapping.Host)
	}
	r, side := p.begin(), &compare.Run{Name: name}
	doc, err := run.Read(ctx, &q, func(w *window.Window) error {
		if !several && r.series == nil {
			return nil
		}
		requests, err := w.Histogram()
		if err != nil {
			return err
		}
		r.add(w, requests)
		if several && w.Level == mapping.Cluster {
			side.Add(w, requests)
		}
		return nil
	})
	if err != nil || doc == nil {
		return doc, err
	}
	some, err := r.end(doc)
	if err != nil {
		return doc, err
	}
	if !some {
		p.empty = append(p.empty, run.NoMatch(doc))
		return doc, nil
	}
	if several {
		side.End(doc)
		p.compare(&compare.Side{Name: run.Name, Runs: []*compare.Run{side}})
	}
	return doc, nil
}

// confidence of the intervals, as the default of fio2es compare.
const confidence = 0.95

// compare compares the last added run with the first one.
func (p *Page) compare(side *compare.Side) {
	if p.base == nil {
		p.base = side
		return
	}
	first, other := p.base.Runs[0], side.Runs[0]
	c := &comparison{Other: len(p.runs), Title: facts.Title(other.Document)}
	p.comparisons = append(p.comparisons, c)
	switch {
	case other.IsEmpty():
		c.Why = other.Name + ": no windows to compare: " + WhyEmpty(other)
	case first.IsEmpty():
		c.Why = "run 1 has no windows: " + cmp.Or(query.NoWindows(first.Document), query.OnlyAverages)
	default:
		c.Differ = workload.Doubt(first.Document, other.Document)
		if c.Differ != "" && facts.ShortSettings(first.Document) != facts.ShortSettings(other.Document) {
			c.Why = c.Differ
		}
	}
	if c.Why != "" {
		return
	}
	metrics, err := compare.ParseMetrics(compare.Defaults...)
	if err == nil {
		c.Changes, _, err = compare.Compare(p.base, side, compare.Options{Metrics: metrics, Confidence: confidence, Within: compare.Within})
	}
	if err != nil {
		c.Why = err.Error()
	}
}

// WhyEmpty returns why a run has no windows to compare.
func WhyEmpty(r *compare.Run) string {
	if r.OnlyAverages() {
		return cmp.Or(r.Document.NoWindows, query.OnlyAverages)
	}
	return cmp.Or(query.NoWindows(r.Document), query.NothingInTime)
}
