package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// compareQuery is what is asked of each two sides.
type compareQuery struct {
	metrics    []compare.Metric
	confidence float64
	failIf     []condition
}

// defaultMetrics are those that are compared unless others are asked for.
var defaultMetrics = []string{"iops", "mean", "p50", "p95", "p99", "p99.9"}

func (a *app) compareCommand() *cobra.Command {
	f := &format{table.Text, table.Formats}
	q := &compareQuery{}
	var metrics, failIf []string
	cmd := &cobra.Command{
		Use:   "compare A B...",
		Short: "Run against run, with confidence intervals",
		Long: `Compares runs: what changed from A, the baseline, to B, with a confidence interval, and
whether that is worse, better, or no difference that could be shown ("same": the
interval holds 0). Each of them is a run in the history (its id, the beginning of it, or
"latest"), or a path with one run in it (nothing is stored), or several of these joined
by commas: repetitions of the same test, whose windows are pooled.

The interval says how uncertain the change is from the runs' own ups and downs (block
bootstrap, docs/numbers.md). How much one run of a test differs from the next, on the
same cluster, is in it only as far as repetitions are pooled: with one run a side, a
"worse" may be no more than another day. Three repetitions a side are a good beginning.

A side needs 8 windows, and for p99.9 some 6,000 requests; else the verdict is "unknown".
≥ marks a value in fio's last bin, which has no upper end, and a change of at least so
much; where both values lie there, no change is shown.

--fail-if '[DIRECTION.]METRIC > +10%' (or <), in any direction unless one is named, makes
the exit code 4 when the change is beyond the limit and the interval does not hold 0. With
an unknown verdict the condition cannot be checked, which is exit code 3.

CSV and JSON have latencies in microseconds (metrics mean_us, p99_us, p99_9_us), iops in
requests per second, changes and their bounds in percent.`,
		Example: `  fio2es compare e87ec34a latest
  fio2es compare before/ after/ --fail-if 'p99 > +10%' --fail-if 'read.iops < -5%'
  fio2es compare base1,base2,base3 new1,new2,new3 --format json`,
		Args: cobra.MinimumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.parse(metrics, failIf); err != nil {
				return err
			}
			if cmd.Flags().Changed("levels") {
				return usagef("--levels: runs are compared by the windows of the whole cluster")
			}
			a.cfg.Levels = []string{"cluster"}
			return a.compare(cmd.Context(), args, q, newCompareWriter(a.stdout, f.string, q.confidence))
		},
	}
	addReadingFlags(cmd.Flags())
	addClusterFlags(cmd.Flags())
	fl := cmd.Flags()
	_ = fl.MarkHidden("levels") // it is there
	fl.StringSliceVar(&metrics, "metrics", defaultMetrics, "what to compare: iops, mean, percentiles")
	fl.Float64Var(&q.confidence, "confidence", 0.95, "how sure the interval is to hold the change: 0.5 to 0.99")
	fl.StringArrayVar(&failIf, "fail-if", nil, "exit code 4 if this is so: 'p99 > +10%', 'write.iops < -5%' (repeatable)")
	fl.Var(f, "format", "table, csv, markdown, or json: an object a line")
	return cmd
}

// parse checks what was asked, as it was written. What conditions are about is compared, too.
func (q *compareQuery) parse(metrics, failIf []string) error {
	add := func(m compare.Metric) {
		if !slices.Contains(q.metrics, m) {
			q.metrics = append(q.metrics, m)
		}
	}
	for _, text := range metrics {
		m, err := compare.ParseMetric(text)
		if err != nil {
			return usagef("--metrics %w", err)
		}
		add(m)
	}
	for _, text := range failIf {
		c, err := parseCondition(text)
		if err != nil {
			return err
		}
		q.failIf = append(q.failIf, c)
		add(c.metric)
	}
	if len(q.metrics) == 0 {
		return usagef("--metrics: want some of iops, mean and percentiles such as p99.9")
	}
	if !(q.confidence >= 0.5 && q.confidence <= 0.99) {
		return usagef("--confidence %v: want 0.5 to 0.99", q.confidence)
	}
	return nil
}

// compare compares the first of args with each of the others.
func (a *app) compare(ctx context.Context, args []string, q *compareQuery, out *compareWriter) error {
	var sides []*compareSide
	leftOut := false
	for _, arg := range args {
		side, err := a.readSide(ctx, arg)
		if errors.Is(err, errLeftOut) {
			leftOut = true
		} else if err != nil {
			return err
		}
		sides = append(sides, side)
	}
	base, met := sides[0], false
	var absent []error
	a.tellDoubts(base, base)
	for _, other := range sides[1:] {
		a.tellDoubts(base, other)
		lines, err := a.compareSides(base, other, q)
		if err != nil {
			return err
		}
		if err := out.pair(base, other, lines); err != nil {
			return err
		}
		isMet, isOpen := a.check(q.failIf, base, other, lines)
		met, leftOut = met || isMet, leftOut || isOpen
		absent = append(absent, absentIn(q.failIf, base, other, lines)...)
	}
	if err := out.Flush(); err != nil {
		return err
	}
	switch {
	case len(absent) > 0:
		return errors.Join(absent...)
	case met:
		return errMet
	case leftOut:
		return errLeftOut
	}
	return nil
}

// compareLine is what a direction's metric came to.
type compareLine struct {
	direction string
	compare.Change
}

// compareSides compares the directions that both sides have.
func (a *app) compareSides(base, other *compareSide, q *compareQuery) ([]compareLine, error) {
	var lines []compareLine
	for _, direction := range mapping.Directions {
		from, to := base.series[direction], other.series[direction]
		switch {
		case from == nil && to == nil:
			continue
		case from == nil || to == nil:
			with := base
			if from == nil {
				with = other
			}
			a.log.Info(fmt.Sprintf("note: only %s has %ss: not compared", with.arg, direction))
			continue
		}
		a.tellPartly(base, direction)
		a.tellPartly(other, direction)
		changes := compare.Sides(from, to, q.metrics, q.confidence)
		var told []string
		for _, c := range changes {
			if c.Why != "" && !slices.Contains(told, c.Why) {
				a.log.Info(fmt.Sprintf("note: %s and %s: %s: %s", base.arg, other.arg, direction, c.Why))
				told = append(told, c.Why)
			}
			if bound := c.Bound(); bound != "" && c.Why == "" {
				a.log.Info(fmt.Sprintf("note: %s and %s: %s: %s rests on fio's last bin, which has no upper end: %s to %s, %s",
					base.arg, other.arg, direction, c.Metric, baseText(&c), otherText(&c), changeText(&c)))
			}
			lines = append(lines, compareLine{direction, c})
		}
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("%s and %s have no direction in common: the one has %s, the other %s",
			base.arg, other.arg, strings.Join(base.directions(), ", "), strings.Join(other.directions(), ", "))
	}
	return lines, nil
}

// tellPartly says that not all of a side's runs have the direction.
func (a *app) tellPartly(side *compareSide, direction string) {
	if has := len(side.series[direction]); has < len(side.runs) {
		a.log.Info(fmt.Sprintf("note: only %d of the %d runs of %s have %ss", has, len(side.runs), side.arg, direction))
	}
}
