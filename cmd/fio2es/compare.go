package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/report"
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

// side reads the runs that arg names, joined by commas.
func (c *comparing) side(ctx context.Context, arg string) (*compare.Side, error) {
	parts := []string{arg}
	if _, err := os.Lstat(arg); err != nil { // a file may have a comma in its name
		parts = strings.Split(arg, ",")
	}
	side := &compare.Side{Name: arg}
	for _, part := range parts {
		if part == "" {
			return nil, usagef("%q: want runs or paths joined by commas, and there is nothing between two commas", arg)
		}
		var paths []string
		err := c.runs(ctx, []string{part}, func(run *query.Run, many bool) error {
			if paths = append(paths, run.Path); many {
				return nil
			}
			return c.add(ctx, side, part, run)
		})
		if err != nil {
			return nil, err
		}
		if len(paths) > 1 {
			return nil, fmt.Errorf("%s: %d runs, want one: give the path of one, or ingest them and give its id: %s",
				part, len(paths), query.List(paths))
		}
	}
	return side, nil
}

// add reads a run, which the user named, and adds it to a side.
func (c *comparing) add(ctx context.Context, side *compare.Side, part string, run *query.Run) error {
	one := &compare.Run{Name: part}
	doc, err := c.read(ctx, run, &query.Query{}, func(w *window.Window) error {
		requests, err := w.Histogram()
		if err == nil {
			one.Add(w, requests)
		}
		return err
	})
	if err != nil {
		return err
	}
	if doc == nil {
		return fmt.Errorf("%s: no windows to compare", part)
	}
	one.End(doc)
	if one.IsEmpty() {
		return fmt.Errorf("%s: no windows to compare: %s", part, report.WhyEmpty(one))
	}
	if !query.IsPath(part) {
		one.Name = facts.ShortID(doc.Run.ID)
	}
	for _, have := range side.Runs {
		if have.Name == one.Name || query.IsPath(part) && filepath.Clean(have.Name) == filepath.Clean(one.Name) {
			return usagef("%s: %s is there twice, which makes no repetition", side.Name, one.Name)
		}
	}
	side.Runs = append(side.Runs, one)
	return nil
}

// logDoubts notes in what the runs of other differ from the baseline's first.
func (c *comparing) logDoubts(base, other *compare.Side) {
	first := base.Runs[0]
	for _, one := range other.Runs {
		if differ := compare.Doubt(first.Document, one.Document); differ != "" {
			c.log.Info(fmt.Sprintf("note: comparing %s with %s is doubtful: %s", one.Name, first.Name, differ))
		}
	}
}
