package main

import (
	"context"
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/window"
)

func compareCommand(e *env) *cobra.Command {
	format, confidence := table.Text, 0.95
	var metrics, failIf []string
	cmd := &cobra.Command{
		Use:   "compare A B...",
		Short: "Run against run, with confidence intervals",
		Long: `Compares each B with A, the baseline: the change of each metric with its confidence
interval, and a verdict: worse, better, or same (0 is in the interval). A and B are runs
in the history (an id, the beginning of one, or "latest"), or paths with one run each
(nothing is stored). Runs joined by commas are repetitions of a test: their windows are
pooled.

The interval comes from how the runs vary over time (block bootstrap, docs/numbers.md).
With one run per side it ignores run-to-run variation, so "worse" may mean only another
day; use three or more.

A side needs 8 windows, and for p99.9 some 6,000 requests; else the verdict is "unknown".
≥ marks a value in fio's last bin, which has no upper end, and a change of at least that
much; where both values lie there, no change is shown.

--fail-if '[DIRECTION.]METRIC > +10%' (or <) makes the exit code 4 when the change is
beyond the limit and 0 is not in the interval. Without a direction it counts for all. If
the verdict is unknown the condition cannot be checked, and the exit code is 3.

CSV and JSON have latencies in microseconds (metrics mean_us, p99_us, p99_9_us), iops in
requests per second, changes and their bounds in percent.`,
		Example: `  fio2es compare e87ec34a latest
  fio2es compare before/ after/ --fail-if 'p99 > +10%' --fail-if 'read.iops < -5%'
  fio2es compare base1,base2,base3 new1,new2,new3 --format json`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			c := comparing{reading: newReading(e), confidence: confidence}
			if err := c.parse(metrics, failIf); err != nil {
				return err
			}
			c.to = newCompareTable(e.stdout, format, confidence)
			return c.end(c.compare(cmd.Context(), args))
		},
	}
	fl := cmd.Flags()
	addReadingFlags(fl)
	addClusterFlags(fl)
	fl.StringSliceVar(&metrics, "metrics", compare.Defaults, "what to compare: iops, mean, percentiles")
	fl.Float64Var(&confidence, "confidence", confidence, "confidence of the intervals: 0.5 to 0.99")
	fl.StringArrayVar(&failIf, "fail-if", nil, "exit code 4 on this change: 'p99 > +10%', 'write.iops < -5%' (repeatable)")
	addChoice(fl, &format, "format", tableUsage, table.Formats)
	return cmd
}

// comparing is a comparison: what is compared, and where to.
type comparing struct {
	*reading
	metrics    []window.Metric
	confidence float64
	failIf     []compare.Condition
	to         *table.Writer[*compareRow]
}

// parse reads metrics and conditions. The metrics of conditions are compared too.
func (c *comparing) parse(metrics, failIf []string) error {
	var err error
	if c.metrics, err = compare.ParseMetrics(metrics...); err != nil {
		return usagef("--metrics %w", err)
	}
	for _, text := range failIf {
		condition, err := compare.ParseCondition(text)
		if err != nil {
			return usagef("--fail-if %w", err)
		}
		c.failIf = append(c.failIf, condition)
		if !slices.Contains(c.metrics, condition.Metric) {
			c.metrics = append(c.metrics, condition.Metric)
		}
	}
	if len(c.metrics) == 0 {
		return usagef("--metrics: want some of iops, mean and percentiles such as p99.9")
	}
	if !(c.confidence >= 0.5 && c.confidence <= 0.99) {
		return usagef("--confidence %v: want 0.5 to 0.99", c.confidence)
	}
	return nil
}

// compare compares the first of args with each of the others.
func (c *comparing) compare(ctx context.Context, args []string) error {
	var sides []*compare.Side
	for _, arg := range args {
		side, err := c.side(ctx, arg)
		if err != nil {
			return err
		}
		sides = append(sides, side)
	}
	isMet := false
	var absent []error
	c.logDoubts(sides[0], sides[0])
	for _, other := range sides[1:] {
		gate, err := c.pair(sides[0], other)
		if err != nil {
			return err
		}
		for _, text := range gate.Met {
			c.log.Error("--fail-if " + text)
			isMet = true
		}
		for _, text := range gate.Unknown {
			c.log.Warn("--fail-if " + text)
			c.leftOut = true
		}
		for _, text := range gate.Absent {
			absent = append(absent, errors.New("--fail-if "+text))
		}
	}
	if err := errors.Join(append(absent, c.to.Flush())...); err != nil {
		return err
	}
	if isMet {
		return errMet
	}
	return nil
}

// pair compares a side with the baseline.
func (c *comparing) pair(base, other *compare.Side) (gate compare.Gate, err error) {
	c.logDoubts(base, other)
	lines, notes, err := compare.Compare(base, other, c.metrics, c.confidence)
	for _, text := range notes {
		c.log.Info("note: " + text)
	}
	if err != nil {
		return gate, err
	}
	c.to.Begin(append(heading("base", base), heading("other", other)...)...)
	for _, l := range lines {
		if err := c.to.Write(&compareRow{base, other, l}); err != nil {
			return gate, err
		}
	}
	return compare.Check(c.failIf, base, other, lines), c.to.End()
}
