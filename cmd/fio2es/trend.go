package main

import (
	"context"
	"errors"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/junit"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/internal/workload"
)

func addWhereFlag(fl *pflag.FlagSet, condition *string) {
	addOnce(fl, condition, "where", "only runs that meet a `condition`: 'bs=4k and write.p99 > 5ms' (fio2es help fields)")
}

func parseWhere(condition string) (*where.Condition, error) {
	c, err := where.Parse(condition, time.Now())
	if err != nil {
		return nil, usagef("--where %s: %w", condition, err)
	}
	return c, nil
}

// trendQuery says which changes to find and to show.
type trendQuery struct {
	where   *where.Condition
	numbers []*workload.Number
	least   float64 // as a share
	all     bool    // also show series without changes
}

func trendCommand(e *env) *cobra.Command {
	q, gate := &trendQuery{}, &trendGate{checks: checks{table.Text, junit.Suite{Name: "fio2es trend"}}}
	var condition string
	var metrics []string
	var least float64
	var mark bool
	cmd := &cobra.Command{
		Use:   "trend",
		Short: "Changes over the runs of each workload",
		Long: `Finds when a workload became slower or faster. Runs with the same settings (all
options of fio that change what it measures, host and CBT's settings) are a workload. For each, it takes the percentiles, IOPS and other numbers of all its complete
runs in the order of time, and finds where their level changed: when, between which runs,
by how much, and what else differs between these runs (versions, labels, configuration).

One or two odd nights are no change; three can be one. The interval has a confidence of
99 %, and less where there are few runs: 90 % with three before and three after. In a
year of nights without a change, fewer than one series in a hundred shows one
(docs/numbers.md).

--fail-last N makes the exit code 4 if one of the last N runs of a workload began a
change for the worse; N is 3 or more, because one or two odd runs are no change. A
number with fewer than 6 runs is not checked; stderr says how many there are.

--mark stores the changes in all runs of a cluster, for the marks in Kibana's dashboard
History, and prints none. ingest, push, follow and rm do the same when they change runs.`,
		Example: `  fio2es trend
  fio2es trend --where 'bs=4k and start >= 90d' --metrics p99 --least 10
  fio2es trend --fail-last 5`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if mark {
				return markTrend(cmd, e)
			}
			if q.where, err = parseWhere(condition); err != nil {
				return err
			}
			if q.numbers, err = workload.NumbersOf(metrics...); err != nil {
				return usagef("--metrics %w", err)
			}
			if !(least >= 0 && least <= 1000) {
				return usagef("--least %v: want 0 to 1000 percent", least)
			}
			if err := gate.check(cmd.Flags().Changed("fail-last")); err != nil {
				return err
			}
			q.least = least / 100
			return findChanges(cmd.Context(), e, q, gate)
		},
	}
	fl := cmd.Flags()
	addClusterFlags(fl)
	addWhereFlag(fl, &condition)
	fl.StringSliceVar(&metrics, "metrics", workload.Usual(), "`metrics` to look at: iops, bandwidth, min, mean, max, percentiles")
	fl.Float64Var(&least, "least", 100*workload.LeastChange, "only changes of at least this many `percent`")
	fl.BoolVar(&q.all, "all", false, "also show numbers that did not change")
	fl.IntVar(&gate.last, "fail-last", 0, "exit code 4 if one of the last `N` runs of a workload began a change for the worse")
	fl.BoolVar(&mark, "mark", false, "store the changes in all runs of the cluster, for Kibana")
	addChoice(fl, &gate.format, "format", checkUsage+" of --fail-last", checkFormats)
	return cmd
}

// findChanges prints the changes in the workloads of the history.
func findChanges(ctx context.Context, e *env, q *trendQuery, gate *trendGate) error {
	store, err := e.history().open(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	watched := query.Watch(history.RunFilter{Brief: true, Where: q.where})
	runs, skipped, err := e.readRuns(ctx, store, watched)
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		return leftOutIf(errors.Join(e.printNoRuns(ctx, store, watched), gate.noRuns()), skipped)
	}
	var series []*workload.Series
	for _, w := range workload.Group(runs) {
		series = append(series, w.Series(q.numbers, q.least)...)
	}
	out := newTrendWriter(gate.table(e.stdout))
	for _, s := range series {
		gate.add(s)
		if err := out.series(s, q.all); err != nil {
			return err
		}
	}
	if err := out.end(); err != nil {
		return err
	}
	return leftOutIf(gate.end(e.log, e.stdout), skipped)
}
