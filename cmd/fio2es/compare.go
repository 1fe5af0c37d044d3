package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/compare"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
)

func compareCommand(e *env) *cobra.Command {
	c := &comparing{reading: &reading{env: e, namesRuns: true}, by: byRun, gate: gate{format: table.Text}}
	var f compareFlags
	cmd := &cobra.Command{
		Use:   "compare [A] B...",
		Short: "Run against run, with confidence intervals",
		Long: `Compares each B with A, the baseline: the change of each metric with its confidence
interval, and a verdict. A and B are paths with one run each (nothing is stored), or name
runs in the history: an id or its beginning, latest, latest~1 (the one before), last:5
(the five newest), same-as:RUN (all with its settings), or a condition such as 'bs=4k';
--where limits what these choose from. Several runs of one side, also those joined by
commas, are repetitions of a test: their windows are pooled. --from, --to, --direction,
--host and --job choose the windows that are compared, as for rank (+30s: since each
run's start).

The verdict is worse or better if 0 is not in the interval. If 0 is in it, the farther
bound X decides: "no change > X %" if X is at most --within, else unclear, because the
interval is too wide. A percentile between two groups of latencies, such as hits and
misses of a cache, has a very wide interval. Then the share of requests above it may
decide, and a note has that share and its interval.

--baseline takes the runs of the history with the same settings as B in place of A, as
repetitions: last:10 are the ten before B, and a condition such as label.release=quincy
chooses those that meet it (fio2es help fields).

--by settings compares many runs at once: those with the same settings, a block for each
workload. A and B are paths with any number of runs, or conditions on the runs of the
history. What has no partner is named.

The interval comes from how the runs vary over time (block bootstrap, docs/numbers.md).
With one run per side it ignores run-to-run variation, so "worse" may mean only another
day; use three or more.

A side needs 8 windows, and for p99.9 some 6,000 requests; else the verdict is "unknown".
≥ marks a value in fio's last bin, which has no upper end, and a change of at least that
much; where both values lie there, no change is shown.

--fail-if '[DIRECTION.]METRIC > +10%' (or <) makes the exit code 4 when the change is
beyond the limit and 0 is not in the interval. Without a direction it counts for all.
Stderr says what each condition comes to. It is unclear if it is not met, and the
interval reaches beyond the limit: a warning, and with --fail-on-unclear exit code 4.
If the verdict is unknown the condition cannot be checked, and the exit code is 3.

CSV and JSON have latencies in microseconds (metrics mean_us, p99_us, p99_9_us), iops in
requests per second, changes and their bounds in percent, and the verdicts worse, better,
same ("no change > X %"), unclear and unknown.`,
		Example: `  fio2es compare e87ec34a latest
  fio2es compare --baseline last:10 latest
  fio2es compare last:5 latest --where 'mode=randwrite' --from +30s
  fio2es compare before/ after/ --fail-if 'p99 > +10%' --fail-if 'iops < -5%'
  fio2es compare base1,base2,base3 new1,new2,new3 --format json
  fio2es compare --by settings label.release=quincy label.release=reef
  fio2es compare --by settings --baseline last:10 'start >= yesterday'`,
		Args: arguments(1, many),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.check(&f, args); err != nil {
				return err
			}
			return c.end(c.compare(cmd.Context(), args))
		},
	}
	fl := cmd.Flags()
	addAnswerFlags(fl, &c.query)
	fl.StringSliceVar(&f.metrics, "metrics", compare.Defaults, "`metrics` to compare: iops, mean, percentiles")
	fl.Float64Var(&c.options.Confidence, "confidence", 0.95, "`confidence` of the intervals: 0.5 to 0.99")
	fl.Float64Var(&f.within, "within", compare.Within*100, "report no change if the interval lies within this many `percent` around 0")
	fl.StringVar(&f.baseline, "baseline", "", "compare with `runs` of the same settings: last:10, or a condition such as label.release=quincy")
	addChoice(fl, &c.by, "by", "`what` is compared: run (A with each B), or settings (the runs of each workload)", []string{byRun, bySettings})
	fl.StringArrayVar(&f.failIf, "fail-if", nil, "exit code 4 on this `change`: 'p99 > +10%', 'write.iops < -5%' (repeatable)")
	fl.BoolVar(&c.gate.onUnclear, "fail-on-unclear", false, "exit code 4 if a condition of --fail-if is unclear")
	addChoice(fl, &c.gate.format, "format", checkUsage+" of --fail-if", checkFormats)
	return cmd
}

// The values of --by.
const (
	byRun      = "run"
	bySettings = "settings"
)

// comparing is the state of a comparison: what is compared, and where the result is written.
type comparing struct {
	*reading
	query    query.Query // selects the windows that are compared
	options  compare.Options
	baseline *query.Baseline // nil: the first argument is the base
	by       string
	gate     gate
	judged   int // number of changes with an interval
	to       *table.Writer[*compareRow]
}

// compare compares what args name.
func (c *comparing) compare(ctx context.Context, args []string) error {
	run := c.compareRuns
	if c.by == bySettings {
		run = c.compareWorkloads
	}
	if err := run(ctx, args); err != nil {
		return err
	}
	unchecked, err := c.gate.end(c.log, c.stdout)
	c.leftOut = c.leftOut || unchecked
	return err
}
