package main

import (
	"slices"
	"time"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
)

// compareFlags are flags that must be checked.
type compareFlags struct {
	metrics, failIf []string
	within          float64 // in percent
	baseline        string
}

// check checks the flags and sets the options. The metrics of conditions are compared, too.
func (c *comparing) check(f *compareFlags, args []string) (err error) {
	if err := c.query.Check(); err != nil {
		return err
	}
	if c.options.Metrics, err = compare.ParseMetrics(f.metrics...); err != nil {
		return usagef("--metrics %w", err)
	}
	if err := c.gate.parse(f.failIf); err != nil {
		return err
	}
	for _, condition := range c.gate.conditions {
		if !slices.Contains(c.options.Metrics, condition.Metric) {
			c.options.Metrics = append(c.options.Metrics, condition.Metric)
		}
	}
	if f.baseline != "" {
		if c.baseline, err = query.ParseBaseline(f.baseline, time.Now()); err != nil {
			return usagef("--baseline %w", err)
		}
	}
	switch {
	case len(c.options.Metrics) == 0:
		return usagef("--metrics: want some of iops, mean and percentiles such as p99.9")
	case !(c.options.Confidence >= 0.5 && c.options.Confidence <= 0.99):
		return usagef("--confidence %v: want 0.5 to 0.99", c.options.Confidence)
	case !(f.within > 0 && f.within <= 1000):
		return usagef("--within %v: want more than 0 percent, up to 1000", f.within)
	case c.baseline == nil && len(args) < 2:
		return usagef("want a baseline and what to compare with it: see fio2es compare --help")
	}
	c.options.Within = f.within / 100
	out, format := c.gate.checks().table(c.stdout)
	c.to = table.NewNarrow(out, format, compareColumns(c.options.Confidence), []string{"VERDICT"}, nil)
	return nil
}
