package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/internal/workload"
)

// addWhereFlag adds --where.
func addWhereFlag(fl *pflag.FlagSet, condition *string) {
	fl.StringVar(condition, "where", "", "only runs that meet a condition: 'bs=4k and write.p99 > 5ms' (fio2es help fields)")
}

// parseWhere reads --where.
func parseWhere(condition string) (*where.Condition, error) {
	c, err := where.Parse(condition, time.Now())
	if err != nil {
		return nil, usagef("--where %s: %w", condition, err)
	}
	return c, nil
}

// trendQuery says which changes are looked for.
type trendQuery struct {
	where   *where.Condition
	numbers []*workload.Number
	least   float64 // a share
	all     bool    // also series without changes
	gate    int     // so many last runs of a workload must be without a change for the worse; 0 is none
}

func trendCommand(e *env) *cobra.Command {
	format, q := table.Text, &trendQuery{}
	var condition string
	var metrics []string
	var least float64
	var mark bool
	cmd := &cobra.Command{
		Use:   "trend",
		Short: "Changes over the runs of each workload",
		Long: `Finds when a workload became slower or faster. Runs with the same settings are a
workload. For each, it takes the percentiles, IOPS and other numbers of all its runs in
the order of time, and finds where their level changed: when, between which runs, by how
much, and what else differs between these runs (versions, labels, configuration).

One or two odd nights are no change; from the third on they are. The interval has a
confidence of 99 %. In a year of nights without a change, fewer than one series in a
hundred shows one (docs/numbers.md).

--fail-last N makes the exit code 4 if one of the last N runs of a workload began a
change for the worse.

--mark stores the changes in all runs of a cluster, for the marks in Kibana's dashboard
History, and prints none. ingest, push, follow and rm do the same when they change runs.`,
		Example: `  fio2es trend
  fio2es trend --where 'bs=4k and start >= 90d' --metrics p99 --least 10
  fio2es trend --fail-last 5`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) (err error) {
			if mark {
				return e.markTrend(cmd)
			}
			if q.where, err = parseWhere(condition); err != nil {
				return err
			}
			for _, name := range metrics {
				n, err := workload.NumberOf(name)
				if err != nil {
					return usagef("--metrics %w", err)
				}
				q.numbers = append(q.numbers, n)
			}
			if !(least >= 0 && least <= 1000) || q.gate < 0 || len(metrics) == 0 {
				return usagef("want --least from 0 to 1000 percent, --fail-last from 0, and one of --metrics at least")
			}
			q.least = least / 100
			return e.trend(cmd.Context(), q, format)
		},
	}
	fl := cmd.Flags()
	addClusterFlags(fl)
	addWhereFlag(fl, &condition)
	fl.StringSliceVar(&metrics, "metrics", workload.Usual(), "what to look at: iops, bandwidth, min, mean, max, percentiles")
	fl.Float64Var(&least, "least", 100*workload.LeastChange, "changes by so many percent at least")
	fl.BoolVar(&q.all, "all", false, "also numbers that did not change")
	fl.IntVar(&q.gate, "fail-last", 0, "exit code 4 if one of the last N runs of a workload began a change for the worse")
	fl.BoolVar(&mark, "mark", false, "store the changes in all runs of the cluster, for Kibana")
	addChoice(fl, &format, "format", "table, csv, markdown, or json: an object a line", table.Formats)
	return cmd
}

func (e *env) trend(ctx context.Context, q *trendQuery, format string) error {
	store, closeStore, err := e.history().open(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	runs, skipped, err := e.readRuns(ctx, store, history.RunFilter{Brief: true, Where: q.where})
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		return leftOutIf(e.printNoRuns(ctx, store), skipped)
	}
	var series []*workload.Series
	for _, w := range workload.Group(runs) {
		series = append(series, w.Series(q.numbers, q.least)...)
	}
	damaged, err := query.Around(ctx, store, series)
	if err != nil {
		return err
	}
	for _, one := range damaged {
		e.log.Warn(one.Error())
	}
	isMet, err := e.printTrend(q, series, format)
	if err == nil && isMet {
		return errMet
	}
	return leftOutIf(err, skipped || len(damaged) > 0)
}

// printTrend prints the changes of series, and reports whether one of the last runs began one for the worse.
func (e *env) printTrend(q *trendQuery, series []*workload.Series, format string) (isMet bool, err error) {
	out := newTrendWriter(e.stdout, format)
	for _, s := range series {
		for i := range s.Changes {
			c := &s.Changes[i]
			if s.IsWorse(c) && c.Level.At >= len(s.Runs)-q.gate {
				isMet = true
				e.log.Error(fmt.Sprintf("--fail-last %d: %s: %s of %ss is worse since run %s", q.gate, s.Title, s.Number.Text, s.Direction, facts.ShortID(c.After.Run.ID)))
			}
		}
		if err := out.series(s, q.all); err != nil {
			return isMet, err
		}
	}
	return isMet, out.end()
}
