package main

import (
	"context"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/junit"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

func slaCommand(e *env) *cobra.Command {
	format, q := table.Text, &query.Query{}
	cmd := &cobra.Command{
		Use: "sla X...", SuggestFor: []string{"slo"},
		Short: "Check runs against SLA rules: met, broken or unknown",
		Long: `Checks runs against rules, separately for reads, writes and trims: met, broken or
unknown. Each run is checked by itself.

` + chooseHelp + `

Rules come from --rule, else from sla in fio2es.yaml (a list) or FIO2ES_SLA (joined by
commas):

  p99 <= 10ms                    a percentile of latency; also min, mean, max
  write.p99.9 <= 20ms            of reads, writes or trims alone
  within 100ms >= 99.9%          the share of requests served within a latency
  iops >= 5000                   requests per second
  requests >= 1e6                the number of requests
  p99 <= 10ms in 99% of windows  in windows that are that share of the time
  iops >= 5k in every window

Operators are <, <=, > and >=, units ns, us, ms and s.

A rule without windows is about all requests together. A rule in windows (of --interval,
for paths) comes with the share of the time in which it was met, its worst window, and
the longest time in which it was broken. BUDGET is how much of the error budget is used:
of the 1 % that "in 99% of windows" leaves. A time without requests has no latency, and
0 iops.

Each window counts by its length. For iops, a last window of less than a tenth of the
others does not count. A latency in fio's last bin (≥) has
no upper bound: a rule that only an upper bound could decide is unknown.

The exit code is 4 if a rule is broken, and stderr names it; else 3 if a rule is
unknown, such as one about a direction without requests. NOTE says where the limit lies
within the error of the histogram's bins.

--from, --to, --direction, --host and --job choose requests as for rank.

CSV and JSON have latencies in microseconds (unit us), shares from 0 to 1.`,
		Example: `  fio2es sla latest --rule 'p99 <= 10ms'
  fio2es sla results/ --rule 'p99 <= 50ms in 99% of windows' --rule 'iops >= 5k'
  fio2es sla e87ec34a 5be8a100 --from +10s --format csv`,
		Args: someRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.Check(); err != nil {
				return err
			}
			rules, err := e.rules()
			if err != nil {
				return err
			}
			if len(rules) == 0 {
				return usagef("no rules: give some, such as --rule 'p99 <= 10ms', or set them in fio2es.yaml, " +
					"such as sla: [p99 <= 10ms in 99%% of windows, iops >= 5000]")
			}
			c := &checks{format, junit.Suite{Name: "fio2es sla"}}
			j := &judging{reading: &reading{env: e}, query: q, rules: rules, checks: c, to: newSLATable(c.table(e.stdout))}
			return j.end(j.judge(cmd.Context(), args))
		},
	}
	fl := cmd.Flags()
	addAnswerFlags(fl, q)
	addRuleFlag(fl)
	addChoice(fl, &format, "format", checkUsage, checkFormats)
	return cmd
}

// judging is a check of runs against rules.
type judging struct {
	*reading
	query    *query.Query
	rules    []slo.Rule
	checks   *checks
	to       *table.Writer[*slaRow]
	judged   bool // a run was checked
	isBroken bool // a rule is broken
}

// judge checks the runs that args name, and writes the verdicts. Neighbouring paths are read together, because they
// may be logs of one run.
func (j *judging) judge(ctx context.Context, args []string) error {
	j.skips = true
	err := j.runs(ctx, args, func(run *query.Run, many bool) error { return j.skip(j.one(ctx, run, many)) })
	if err == nil && (len(j.skipped) == 0 || j.judged) {
		err = j.checks.write(j.stdout)
	}
	if err == nil && j.isBroken {
		for _, skipped := range j.skipped {
			j.log.Error(skipped.Error())
		}
		return errMet
	}
	return j.withSkipped(err, j.judged)
}

// one checks a run. many reports whether there are several runs.
func (j *judging) one(ctx context.Context, run *query.Run, many bool) error {
	judgement, err := query.Judge(ctx, run, j.query, j.rules)
	j.logRun(run)
	if err != nil {
		return err
	}
	j.judged = true
	broken, unknown := slo.Log(j.log, &judgement.Run, judgement.Verdicts)
	j.isBroken, j.leftOut = j.isBroken || broken, j.leftOut || unknown
	title := slaTitle(run, many, judgement)
	heading := title
	if checked := judgement.Checked; !checked.IsZero() {
		heading += ", " + unit.Moments(checked.Start, checked.End)
	}
	j.to.Begin(heading)
	for i := range judgement.Verdicts {
		row := &slaRow{judgement, &judgement.Verdicts[i]}
		j.checks.Cases = append(j.checks.Cases, row.testCase(title))
		if err := j.to.Write(row); err != nil {
			return err
		}
	}
	return j.to.End()
}

// slaTitle names a run. many reports whether there are several runs.
func slaTitle(run *query.Run, many bool, j *query.Judgement) string {
	if many && run.Stored != nil {
		return run.Name
	}
	return strings.TrimPrefix(j.Run.Archive+":"+j.Run.Name, ":")
}

// slaRow is a verdict on a run.
type slaRow struct {
	of *query.Judgement
	*slo.Verdict
}

func (r *slaRow) note() string {
	if r.Close && r.Why == "" {
		return slo.CloseText
	}
	return r.Why
}

func (r *slaRow) budgetText() string {
	if math.IsNaN(r.Budget) {
		return ""
	}
	return strconv.FormatFloat(r.Budget*100, 'f', 0, 64) + " %"
}

// inUnit converts a number for programs, in the unit of the rule.
func (r *slaRow) inUnit(v float64) float64 { return r.Rule.Unit().ForPrograms(v) }

// worst returns the metric of the worst window for programs.
func (r *slaRow) worst() float64 { return r.Rule.Metric.Unit().ForPrograms(r.Windows.Worst.Value) }

// when returns when a moment began, if that is known.
func (r *slaRow) when(m slo.Moment) time.Time {
	return r.of.Run.Start.Add(time.Duration(m.Start) * time.Millisecond)
}

func (r *slaRow) isInWindows() bool  { return r.Windows.Judged > 0 }
func (r *slaRow) isEverBroken() bool { return r.isInWindows() && r.longest() > 0 }

// longest returns the length in milliseconds of the longest time in which the rule was broken.
func (r *slaRow) longest() int64 { return r.Windows.Longest.End - r.Windows.Longest.Start }

// slaColumns are the columns. Those about windows are empty unless windows were checked, and those about broken
// windows unless there are any.
var slaColumns = slices.Concat(
	facts.RunColumns(func(r *slaRow) *mapping.RunInfo { return &r.of.Run }),
	[]table.Column[*slaRow]{
		{Name: "from", Sparse: true, Value: func(r *slaRow) any { return r.of.Checked.Start }},
		{Name: "to", Sparse: true, Value: func(r *slaRow) any { return r.of.Checked.End }},
		{Name: "rule", Heading: "RULE", Value: func(r *slaRow) any { return r.Rule.String() }},
		// The direction is empty if there are no requests that the rule is about.
		{Name: "direction", Heading: "DIR", Value: func(r *slaRow) any { return r.Direction }},
		{Name: "metric", Value: func(r *slaRow) any { return r.Rule.Metric.String() }},
		{
			Name: "value", Heading: ">VALUE",
			Value: func(r *slaRow) any { return r.inUnit(r.Value) },
			Text:  (*slaRow).ValueText,
		},
		{Name: "low", Value: func(r *slaRow) any { return r.inUnit(r.Low) }}, // error bounds
		{Name: "high", Value: func(r *slaRow) any { return r.inUnit(r.High) }},
		{
			Name: "limit", Heading: ">LIMIT",
			Value: func(r *slaRow) any { return r.inUnit(r.Rule.Limit()) },
			Text:  func(r *slaRow) string { return r.Rule.Target() },
		},
		{Name: "unit", Value: func(r *slaRow) any { return r.Rule.Unit().Name() }}, // of value, low, high and limit
		{Name: "verdict", Heading: "VERDICT", Value: func(r *slaRow) any { return string(r.State) }},
		{Name: "close", Value: func(r *slaRow) any { return r.Close }}, // the limit lies within the error bounds
		{Name: "why", Sparse: true, Value: func(r *slaRow) any { return r.Why }},
		// that the value is computed from
		{Name: "requests", Value: func(r *slaRow) any { return int64(r.Requests) }},
		{
			Name: "budget_used", Heading: ">BUDGET", Sparse: true,
			Value: func(r *slaRow) any { return r.Budget },
			Text:  (*slaRow).budgetText,
		},
	},
	table.Where((*slaRow).isInWindows, []table.Column[*slaRow]{
		{Name: "judged", Unit: "ms", Value: func(r *slaRow) any { return r.Windows.Judged }},
		{Name: "held", Unit: "ms", Value: func(r *slaRow) any { return r.Windows.Held }},
		{
			Name: "worst", Heading: ">WORST",
			Value: func(r *slaRow) any { return r.worst() },
			Text:  (*slaRow).WorstText,
		},
		{Name: "worst_unit", Value: func(r *slaRow) any { return r.Rule.Metric.Unit().Name() }},
		// This and the next ones are in milliseconds since the run's start.
		{Name: "worst_start", Unit: "ms", Value: func(r *slaRow) any { return r.Windows.Worst.Start }},
		{
			Name: "worst_start", Heading: "AT (UTC)",
			Value: func(r *slaRow) any { return r.when(r.Windows.Worst) },
			Text:  func(r *slaRow) string { return slo.Clock(r.when(r.Windows.Worst)) },
		},
		// The worst value is a lower bound, because it lies in fio's last bin.
		{Name: "worst_open", Value: func(r *slaRow) any { return r.Windows.Worst.Open }},
	}),
	table.Where((*slaRow).isEverBroken, []table.Column[*slaRow]{
		{Name: "first_broken_start", Unit: "ms", Value: func(r *slaRow) any { return r.Windows.First.Start }},
		{Name: "first_broken_start", Value: func(r *slaRow) any { return r.when(r.Windows.First) }},
		{
			Name: "longest_broken", Unit: "ms", Heading: ">LONGEST",
			Value: func(r *slaRow) any { return r.longest() },
			Text:  func(r *slaRow) string { return slo.Length(r.longest()) },
		},
		{Name: "longest_broken_start", Unit: "ms", Value: func(r *slaRow) any { return r.Windows.Longest.Start }},
		{Name: "longest_broken_start", Value: func(r *slaRow) any { return r.when(r.Windows.Longest) }},
	}),
	[]table.Column[*slaRow]{{Heading: "NOTE", Text: (*slaRow).note}},
)

func newSLATable(w io.Writer, format string) *table.Writer[*slaRow] {
	return table.NewNarrow(w, format, slaColumns, []string{"NOTE", "RULE"}, []string{"AT (UTC)", "LONGEST", "BUDGET"})
}

// testCase returns the verdict as a case of a test report. title names the run.
func (r *slaRow) testCase(title string) junit.Case {
	name := r.Rule.String()
	if r.Direction != "" {
		name += ": " + r.Direction
	}
	results := map[slo.State]junit.Result{slo.Met: junit.Passed, slo.Broken: junit.Failed, slo.Unknown: junit.Errored}
	return junit.Case{Class: title, Name: name, Result: results[r.State], Text: r.Message(&r.of.Run)}
}
