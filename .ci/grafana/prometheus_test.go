// Package grafana draws the example Grafana dashboard with the engine of Prometheus.
package grafana

import (
	"slices"
	"strconv"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/annotations"
)

// prometheus is a Prometheus that has scraped pages of metrics, for tests of queries.
type prometheus struct {
	times  []time.Time
	series map[string]*scraped // by labels
}

// scraped has the values of one series.
type scraped struct {
	labels labels.Labels
	values []chunks.Sample
}

// scrape adds a page of metrics at a time. Series that are no longer on the page end.
func (p *prometheus) scrape(families map[string]*dto.MetricFamily, at time.Time) {
	p.times = append(p.times, at)
	eachSample(families, func(name string, m *dto.Metric, quantile string, value float64) {
		b := labels.NewBuilder(labels.FromStrings(labels.MetricName, name, "quantile", quantile))
		for _, l := range m.GetLabel() {
			b.Set(l.GetName(), l.GetValue())
		}
		key := b.Labels().String()
		if p.series[key] == nil {
			p.series[key] = &scraped{labels: b.Labels()}
		}
		p.series[key].values = append(p.series[key].values, sample{at.UnixMilli(), value})
	})
}

// eachSample calls do with the values of gauges, and of the quantiles of summaries.
func eachSample(families map[string]*dto.MetricFamily, do func(name string, m *dto.Metric, quantile string, value float64)) {
	for name, f := range families {
		for _, m := range f.GetMetric() {
			if m.Gauge != nil {
				do(name, m, "", m.GetGauge().GetValue())
			}
			for _, q := range m.GetSummary().GetQuantile() {
				do(name, m, strconv.FormatFloat(q.GetQuantile(), 'f', -1, 64), q.GetValue())
			}
		}
	}
}

// query answers a query at the time of the last scrape, or, with isRange, at the times of all scrapes.
func (p *prometheus) query(t *testing.T, expr string, isRange bool) promql.Matrix {
	t.Helper()
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, LookbackDelta: time.Minute})
	last := p.times[len(p.times)-1]
	if !isRange {
		q, err := engine.NewInstantQuery(t.Context(), p, nil, expr, last)
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		v, err := q.Exec(t.Context()).Vector()
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		var list promql.Matrix
		for _, s := range v {
			list = append(list, promql.Series{Metric: s.Metric, Floats: []promql.FPoint{{T: s.T, F: s.F}}})
		}
		return list
	}
	q, err := engine.NewRangeQuery(t.Context(), p, nil, expr, p.times[0], last, p.times[1].Sub(p.times[0]))
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	m, err := q.Exec(t.Context()).Matrix()
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	return slices.Clone(m)
}

// Querier implements [storage.Queryable].
func (p *prometheus) Querier(int64, int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		set := &selected{at: -1}
		for _, s := range p.series {
			if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(s.labels.Get(m.Name)) }) {
				set.list = append(set.list, storage.NewListSeries(s.labels, s.values))
			}
		}
		return set
	}}, nil
}

// selected implements [storage.SeriesSet].
type selected struct {
	list []storage.Series
	at   int
}

func (s *selected) Next() bool                        { s.at++; return s.at < len(s.list) }
func (s *selected) At() storage.Series                { return s.list[s.at] }
func (s *selected) Err() error                        { return nil }
func (s *selected) Warnings() annotations.Annotations { return nil }

// sample implements [chunks.Sample].
type sample struct {
	at    int64
	value float64
}

func (s sample) T() int64                      { return s.at }
func (s sample) F() float64                    { return s.value }
func (s sample) H() *histogram.Histogram       { return nil }
func (s sample) FH() *histogram.FloatHistogram { return nil }
func (s sample) Type() chunkenc.ValueType      { return chunkenc.ValFloat }
func (s sample) Copy() chunks.Sample           { return s }

// selectors returns the selectors in a query.
func selectors(t *testing.T, expr string) (list []*parser.VectorSelector) {
	t.Helper()
	e, err := parser.ParseExpr(expr)
	if err != nil {
		t.Fatalf("%s: %v", expr, err)
	}
	parser.Inspect(e, func(n parser.Node, _ []parser.Node) error {
		if s, ok := n.(*parser.VectorSelector); ok {
			list = append(list, s)
		}
		return nil
	})
	return list
}
