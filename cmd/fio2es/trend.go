package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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

type trendCall struct {
	*env
	numbers []facts.Metric
	least   float64         // as a share
	all     bool            // also show series without changes
	only    map[string]bool // keys of the workloads to look at; nil: all
	gate    workload.Gate
	checks  checks
}

func trendCommand(e *env) *cobra.Command {
	t := &trendCall{env: e, least: workload.LeastChange, checks: checks{table.Text, junit.Suite{Name: "fio2es trend"}}}
	var metrics []string
	var mark bool
	cmd := &cobra.Command{
		Use:   "trend [RUN...]",
		Short: "Changes over the runs of each workload",
		Long: `Finds when a workload became slower or faster: all, or those of RUNs. Runs with the same settings (all
options of fio that change what it measures, host and CBT's settings) are a workload. For each, it takes the percentiles, IOPS and other numbers of all its
runs in the order of time, and finds where their level changed: when, between which runs,
by how much, and what else differs between these runs (versions, labels, configuration).
Below, a line says how many runs are left out, and why; the last line is the conclusion.

One or two odd nights are no change; three can be one. The interval has a confidence of
99 %, and less where there are few runs: 90 % with three before and three after. In a
year of nights without a change, fewer than one series in a hundred shows one
(docs/numbers.md).

--fail-last N makes the exit code 4 if one of the last N runs of a workload is on a
level that is worse than the one before, until the level is as before or --where leaves
out the runs before the change. N is 3 or more, because one or two odd runs are no
change. A number with fewer than 6 runs is not checked; stderr says how many there
are. The exit code is 3 if a number is not known in the runs.

--mark stores the changes in all runs of a cluster, for the marks in Kibana's dashboard
History, and prints none. ingest, push, follow and rm do the same for the workloads of
the runs that they store or remove.`,
		Example: `  fio2es trend
  fio2es trend --where 'bs=4k and start >= 90d' --metrics p99 --least 10
  fio2es trend --fail-last 5`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if mark && len(args) > 0 {
				return usagef("--mark is about all runs: leave out %s", args[0])
			}
			if mark {
				return markTrend(cmd, e)
			}
			if t.numbers, err = workload.NumbersOf(metrics...); err != nil {
				return usagef("--metrics %w", err)
			}
			if t.least < 0 || t.least > 10 {
				return usagef("--least %v%%: want 0%% to 1000%%", 100*t.least)
			}
			switch isGiven := cmd.Flags().Changed("fail-last"); {
			case isGiven && t.gate.Last < trend.LeastLevel:
				return usagef("--fail-last %d: want %d or more, because one or two odd runs are no change", t.gate.Last, trend.LeastLevel)
			case !isGiven && t.checks.format == formatJUnit:
				return usagef("--format junit is about a gate: add one, such as --fail-last 5")
			}
			return t.find(cmd.Context(), args)
		},
	}
	fl := cmd.Flags()
	addSettings(fl, "cluster")
	addWhereFlag(fl)
	fl.StringSliceVar(&metrics, "metrics", workload.Usual(), "`metrics` to look at: iops, bandwidth, min, mean, max, percentiles")
	fl.Var((*expr.PercentFlag)(&t.least), "least", "only changes of at least this many `percent`")
	fl.BoolVar(&t.all, "all", false, "also show numbers that did not change")
	fl.IntVar(&t.gate.Last, "fail-last", 0, "exit code 4 if one of the last `N` runs of a workload is on a worse level than before")
	fl.BoolVar(&mark, "mark", false, "store the changes in all runs of the cluster, for Kibana")
	addChoice(fl, &t.checks.format, "format", checkUsage+" of --fail-last", checkFormats)
	return cmd
}

// find prints the changes in the workloads of the history.
func (t *trendCall) find(ctx context.Context, args []string) error {
	filter, err := t.limit()
	if err != nil {
		return err
	}
	filter.Light = true
	store, err := t.openHistory(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	if len(args) > 0 {
		selectors, _, err := parseSelectors(args)
		if err != nil {
			return err
		}
		named, err := t.selectRuns(ctx, store, filter, selectors)
		if err != nil {
			return err
		}
		parts := facts.Parts(named...)
		t.only = workload.Keys(parts)
		filter.Where = query.Both(filter.Where, query.SameSettings(parts...))
	}
	filter.InAnyOrder, filter.Members = true, workload.Members
	watched := query.Watch(filter)
	found, err := workload.Find(watched.Reader(ctx, store, func(err error) { t.leaveOut(err.Error()) }), t.numbers, t.least)
	if err != nil {
		return err
	}
	if note := watched.Undecided(); note != "" {
		t.log.Warn(note)
	}
	if found.Runs == 0 {
		if err = t.printNoRuns(ctx, store, watched.Filter); t.gate.Last > 0 {
			err = errors.Join(err, fmt.Errorf("--fail-last %d: there are no runs to check", t.gate.Last))
		}
		return err
	}
	if t.only != nil {
		found.Workloads = slices.DeleteFunc(found.Workloads, func(w *workload.Trend) bool { return !t.only[w.Key] })
	}
	if err := t.print(found); err != nil {
		return err
	}
	isMet, isUnknown := t.gate.Log(t.log)
	if isUnknown {
		t.leftOut = true
	}
	t.checks.Cases = t.gate.Cases
	if err = t.checks.write(t.stdout); err == nil && isMet {
		err = errMet
	}
	return err
}

// print writes the changes of all workloads, and below them what differs at changes and which runs were examined. With --all, it
// also writes what did not change.
func (t *trendCall) print(found *workload.Trends) error {
	w, format := t.checks.table(t.stdout)
	to := table.NewNarrow(w, format, workload.Columns(), []string{"WORKLOAD"}, []string{"RUNS", "99% INTERVAL", "VISIBLE", "VERDICT", "DIR"})
	numbers, workloads, changes, rows := 0, 0, 0, 0
	verdicts := map[string]int{}
	var differs []string // without repetitions
	var all []*workload.Series
	for _, w := range found.Workloads {
		all = append(all, w.Series...)
		numbers, workloads = numbers+len(w.Series), workloads+min(len(w.Series), 1)
		for _, s := range w.Series {
			t.gate.Add(s)
			changes += len(s.Changes)
			for _, row := range s.Rows() {
				if verdict := row.Verdict(); !row.HasChange() && verdict != "no change" {
					verdicts[strings.Replace(verdict, "too few", "with too few", 1)]++
				}
				if !row.HasChange() && !t.all {
					continue
				}
				if text := row.Circumstances(); text != "" && !slices.Contains(differs, text) {
					differs = append(differs, text)
				}
				rows++
				if err := to.Write(row); err != nil {
					return err
				}
			}
		}
	}
	examined := found.Runs
	for _, n := range found.LeftOut {
		examined -= n
	}
	summary := fmt.Sprintf("%s of %s in %s: %s", unit.Plural(numbers, "number"), unit.Plural(workloads, "workload"),
		unit.Plural(examined, "run"), unit.Plural(changes, "change"))
	for _, verdict := range slices.Sorted(maps.Keys(verdicts)) {
		summary += fmt.Sprintf(", %d %s", verdicts[verdict], verdict)
	}
	var reasons []string
	for _, why := range slices.Sorted(maps.Keys(found.LeftOut)) {
		reasons = append(reasons, unit.Count(int64(found.LeftOut[why]))+" "+why)
	}
	if len(reasons) > 0 {
		summary += "; left out: " + strings.Join(reasons, ", ")
	}
	if rows == 0 && format == table.Text {
		_, err := fmt.Fprintln(w, summary)
		return err
	}
	if differs = append(differs, summary); changes > 0 {
		differs = append(differs, workload.Conclusion(all))
	}
	return to.End(differs...)
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
	m, err := tidy.Mark(ctx, store, nil, time.Now())
	for _, one := range m.Skipped {
		e.leaveOut(one.Error())
	}
	if err = errors.Join(err, store.Close()); err == nil {
		fmt.Fprintf(e.stderr, "%s in %s; %s\n", unit.Plural(m.Changes, "change"), unit.Plural(m.Runs, "run"), unit.Plural(m.Updated, "run")+" marked differently than before")
	}
	return err
}
