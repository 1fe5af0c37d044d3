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

// compareQuery says what is compared.
type compareQuery struct {
	metrics    []window.Metric
	confidence float64
	failIf     []compare.Condition
}

func (a *app) compareCommand() *cobra.Command {
	f := &format{table.Text, table.Formats}
	q := &compareQuery{}
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
			if err := q.parse(metrics, failIf); err != nil {
				return err
			}
			r := &reading{app: a}
			return r.end(r.compare(cmd.Context(), args, q, newCompareWriter(a.stdout, f.string, q.confidence)))
		},
	}
	addReadingFlags(cmd.Flags())
	addClusterFlags(cmd.Flags())
	fl := cmd.Flags()
	fl.StringSliceVar(&metrics, "metrics", compare.Names(compare.Defaults), "what to compare: iops, mean, percentiles")
	fl.Float64Var(&q.confidence, "confidence", 0.95, "confidence of the intervals: 0.5 to 0.99")
	fl.StringArrayVar(&failIf, "fail-if", nil, "exit code 4 on this change: 'p99 > +10%', 'write.iops < -5%' (repeatable)")
	fl.Var(f, "format", "table, csv, markdown, or json: an object a line")
	return cmd
}

// parse reads metrics and conditions. The metrics of conditions are compared too.
func (q *compareQuery) parse(metrics, failIf []string) error {
	add := func(m window.Metric) {
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
		c, err := compare.ParseCondition(text)
		if err != nil {
			return usagef("--fail-if %w", err)
		}
		q.failIf = append(q.failIf, c)
		add(c.Metric)
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
func (r *reading) compare(ctx context.Context, args []string, q *compareQuery, out *compareWriter) error {
	var sides []*compare.Side
	for _, arg := range args {
		side, err := r.side(ctx, arg)
		if err != nil {
			return err
		}
		sides = append(sides, side)
	}
	base, isMet := sides[0], false
	var absent []error
	r.logDoubts(base, base)
	for _, other := range sides[1:] {
		r.logDoubts(base, other)
		lines, notes, err := compare.Compare(base, other, q.metrics, q.confidence)
		for _, text := range notes {
			r.log.Info("note: " + text)
		}
		if err != nil {
			return err
		}
		if err := out.pair(base, other, lines); err != nil {
			return err
		}
		gate := compare.Check(q.failIf, base, other, lines)
		for _, text := range gate.Met {
			r.log.Error("--fail-if " + text)
			isMet = true
		}
		for _, text := range gate.Unknown {
			r.log.Warn("--fail-if " + text)
			r.leftOut = true
		}
		for _, text := range gate.Absent {
			absent = append(absent, errors.New("--fail-if "+text))
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	switch {
	case len(absent) > 0:
		return errors.Join(absent...)
	case isMet:
		return errMet
	}
	return nil
}

// side reads the runs that arg names, joined by commas.
func (r *reading) side(ctx context.Context, arg string) (*compare.Side, error) {
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
		err := r.runs(ctx, []string{part}, func(run *query.Run, many bool) error {
			if paths = append(paths, run.Path); many {
				return nil
			}
			return r.addToSide(ctx, side, part, run)
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

// addToSide reads a run, which the user named, and adds it to a side.
func (r *reading) addToSide(ctx context.Context, side *compare.Side, part string, run *query.Run) error {
	one := &compare.Run{Name: part}
	doc, err := r.read(ctx, run, &query.Query{}, func(w *window.Window) error {
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
func (r *reading) logDoubts(base, other *compare.Side) {
	first := base.Runs[0]
	for _, one := range other.Runs {
		if differ := compare.Doubt(first.Document, one.Document); differ != "" {
			r.log.Info(fmt.Sprintf("note: comparing %s with %s is doubtful: %s", one.Name, first.Name, differ))
		}
	}
}
