package main

import (
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/query"
)

// compareFlags are the flags of compare as the user gives them.
type compareFlags struct {
	metrics, failIf    []string
	confidence, within float64 // within is in percent
	baseline, by       string
	failOnUnclear      bool
	format             string
	query              query.Query
}

// comparing checks the flags. The metrics of conditions are compared too.
func (f *compareFlags) comparing(e *env, args []string) (c *comparing, err error) {
	if err := f.query.Check(); err != nil {
		return nil, err
	}
	c = &comparing{reading: newReading(e), query: &f.query, by: f.by, options: compare.Options{Confidence: f.confidence, Within: f.within / 100}}
	c.namesRuns = true
	if c.options.Metrics, err = compare.ParseMetrics(f.metrics...); err != nil {
		return nil, usagef("--metrics %w", err)
	}
	if c.gate, err = newGate(f); err != nil {
		return nil, err
	}
	for _, condition := range c.gate.conditions {
		if !slices.Contains(c.options.Metrics, condition.Metric) {
			c.options.Metrics = append(c.options.Metrics, condition.Metric)
		}
	}
	if f.baseline != "" {
		if c.baseline, err = query.ParseBaseline(f.baseline, time.Now()); err != nil {
			return nil, usagef("--baseline %w", err)
		}
	}
	switch {
	case len(c.options.Metrics) == 0:
		return nil, usagef("--metrics: want some of iops, mean and percentiles such as p99.9")
	case !(c.options.Confidence >= 0.5 && c.options.Confidence <= 0.99):
		return nil, usagef("--confidence %v: want 0.5 to 0.99", f.confidence)
	case !(f.within > 0 && f.within <= 1000):
		return nil, usagef("--within %v: want more than 0 percent, up to 1000", f.within)
	case c.baseline == nil && len(args) < 2:
		return nil, usagef("want a baseline and what to compare with it: see fio2es compare --help")
	}
	out, format := c.gate.checks().table(e.stdout)
	c.to = newCompareTable(out, format, f.confidence)
	return c, nil
}
