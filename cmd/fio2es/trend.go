package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/junit"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/tidy"
	"github.com/fio2es/fio2es/internal/trend"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/workload"
)

// trendQuery says which changes to find and to show.
type trendQuery struct {
	numbers []facts.Metric
	least   float64 // as a share
	all     bool    // also show series without changes
}

func trendCommand(e *env) *cobra.Command {
	q, gate, c := &trendQuery{}, &workload.Gate{}, &checks{table.Text, junit.Suite{Name: "fio2es trend"}}
	var metrics []string
	var mark bool
	cmd := &cobra.Command{
		Use:   "trend",
		Short: "Changes over the runs of each workload",
		Long: `Finds when a workload became slower or faster. Runs with the same settings (all
options of fio that change what it measures, host and CBT's settings) are a workload. For each, it takes the percentiles, IOPS and other numbers of all its complete
runs in the order of time, and finds where their level changed: when, between which runs,
by how much, and what else differs between these runs (versions, labels, configuration).
The last line says how many runs are left out, and why.

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
			if q.numbers, err = workload.NumbersOf(metrics...); err != nil {
				return usagef("--metrics %w", err)
			}
			if q.least < 0 || q.least > 10 {
				return usagef("--least %v%%: want 0%% to 1000%%", 100*q.least)
			}
			switch isGiven := cmd.Flags().Changed("fail-last"); {
			case isGiven && gate.Last < trend.LeastLevel:
				return usagef("--fail-last %d: want %d or more, because one or two odd runs are no change", gate.Last, trend.LeastLevel)
			case !isGiven && c.format == formatJUnit:
				return usagef("--format junit is about a gate: add one, such as --fail-last 5")
			}
			return findChanges(cmd.Context(), e, q, gate, c)
		},
	}
	fl := cmd.Flags()
	addSettings(fl, "cluster")
	addWhereFlag(fl)
	fl.StringSliceVar(&metrics, "metrics", workload.Usual(), "`metrics` to look at: iops, bandwidth, min, mean, max, percentiles")
	q.least = workload.LeastChange
	fl.Var((*expr.PercentFlag)(&q.least), "least", "only changes of at least this many `percent`")
	fl.BoolVar(&q.all, "all", false, "also show numbers that did not change")
	fl.IntVar(&gate.Last, "fail-last", 0, "exit code 4 if one of the last `N` runs of a workload began a change for the worse")
	fl.BoolVar(&mark, "mark", false, "store the changes in all runs of the cluster, for Kibana")
	addChoice(fl, &c.format, "format", checkUsage+" of --fail-last", checkFormats)
	return cmd
}

// findChanges prints the changes in the workloads of the history.
func findChanges(ctx context.Context, e *env, q *trendQuery, gate *workload.Gate, c *checks) error {
	filter, err := e.limit()
	if err != nil {
		return err
	}
	filter.Light = true
	store, err := e.openHistory(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	watched := query.Watch(filter)
	runs, err := e.readRuns(ctx, store, watched)
	if err != nil {
		return err
	}
	if len(runs) == 0 {
		if err = e.printNoRuns(ctx, store, watched.Filter); gate.Last > 0 {
			err = errors.Join(err, fmt.Errorf("--fail-last %d: there are no runs to check", gate.Last))
		}
		return err
	}
	var series []*workload.Series
	for _, w := range workload.Group(facts.Parts(runs...)) {
		series = append(series, w.Series(q.numbers, q.least)...)
	}
	w, format := c.table(e.stdout)
	out := &trendWriter{
		Writer: table.NewNarrow(w, format, workload.Columns(), []string{"WORKLOAD"}, []string{"RUNS", "99% INTERVAL", "RUN", "WAS"}),
		w:      w, format: format, workloads: map[*workload.Workload]bool{}, leftOut: map[string]int{},
	}
	for _, run := range runs {
		if why := workload.LeftOut(run); why != "" {
			out.leftOut[why]++
		} else {
			out.runs++
		}
	}
	for _, s := range series {
		gate.Add(s)
		if err := out.series(s, q.all); err != nil {
			return err
		}
	}
	if err := out.end(); err != nil {
		return err
	}
	isMet := gate.Log(e.log)
	c.Cases = gate.Cases
	if err = c.write(e.stdout); err == nil && isMet {
		err = errMet
	}
	return err
}

// trendWriter writes series and their changes, and counts them.
type trendWriter struct {
	*table.Writer[*workload.Row]
	w                            io.Writer
	format                       string
	runs, numbers, changes, rows int
	workloads                    map[*workload.Workload]bool
	differs                      []string       // differences at changes, without repetitions
	leftOut                      map[string]int // number of runs by the reason
}

// series writes the changes of a series. With all, it also writes a series without changes.
func (t *trendWriter) series(s *workload.Series, all bool) error {
	t.workloads[s.Workload] = true
	t.numbers++
	t.changes += len(s.Changes)
	for _, row := range s.Rows() {
		if !row.HasChange() && !all {
			continue
		}
		if text := row.Circumstances(); text != "" && !slices.Contains(t.differs, text) {
			t.differs = append(t.differs, text)
		}
		t.rows++
		if err := t.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// end ends the table with the differences, and says which runs were examined.
func (t *trendWriter) end() error {
	summary := fmt.Sprintf("%s of %s in %s: %s", unit.Plural(t.numbers, "number"), unit.Plural(len(t.workloads), "workload"),
		unit.Plural(t.runs, "run"), unit.Plural(t.changes, "change"))
	var leftOut []string
	for _, why := range slices.Sorted(maps.Keys(t.leftOut)) {
		leftOut = append(leftOut, unit.Count(int64(t.leftOut[why]))+" "+why)
	}
	if len(leftOut) > 0 {
		summary += "; left out: " + strings.Join(leftOut, ", ")
	}
	if t.rows == 0 && t.format == table.Text {
		_, err := fmt.Fprintln(t.w, summary)
		return err
	}
	return t.End(append(t.differs, summary)...)
}

// markTrend finds the changes in all workloads, and stores each with the first run after it.
func markTrend(cmd *cobra.Command, e *env) error {
	for _, name := range []string{"where", "metrics", "least", "all", "fail-last", "format"} {
		if cmd.Flags().Changed(name) {
			return usagef("--%s: --mark stores the changes in all runs, and prints none: leave out --%s", name, name)
		}
	}
	ctx := cmd.Context()
	if !e.cfg.Elasticsearch.Enabled() {
		return usagef("--mark is for a cluster, whose changes Kibana shows (--elasticsearch URL); serve finds those of the embedded history itself")
	}
	store, err := e.cluster(ctx)
	if err != nil {
		return err
	}
	m, err := tidy.Mark(ctx, store)
	for _, one := range m.Skipped {
		e.leaveOut(one.Error())
	}
	if err = errors.Join(err, store.Close()); err == nil {
		fmt.Fprintf(e.stderr, "%s in %s; %s\n", unit.Plural(m.Changes, "change"), unit.Plural(m.Runs, "run"), unit.Plural(m.Updated, "run")+" marked differently than before")
	}
	return err
}
