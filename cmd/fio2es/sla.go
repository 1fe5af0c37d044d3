package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

func (a *app) slaCommand() *cobra.Command {
	f := &format{table.Text, table.Formats}
	q := &query.Query{}
	cmd := &cobra.Command{
		Use:   "sla X...",
		Short: "Check runs against SLA rules: met, broken or unknown",
		Long: `Checks runs against rules, separately for reads, writes and trims: met, broken or
unknown. X is a path, as for ingest (nothing is stored), or a run in the history: its
id, the beginning of it, or "latest".

Rules come from --rule, else from sla in fio2es.yaml (a list) or FIO2ES_SLA (joined by
commas):
  p99 <= 10ms                         a percentile of latency; also min, mean, max
  write.p99.9 <= 20ms                 of reads, writes or trims alone
  within 100ms >= 99.9%               the share of requests served within a latency
  iops >= 5000                        requests per second
  requests >= 1e6                     the number of requests
  p99 <= 10ms in 99% of windows       in windows that make up that share of the time
  iops >= 5k in every window
Operators are <, <=, > and >=, units ns, us, ms and s.

A rule without windows is about all requests together. A rule in windows (of --interval,
for paths) comes with the share of the time in which it was met, its worst window, the
longest time in which it was broken, and how much of the error budget is used: of the
1 % that "in 99% of windows" leaves. A time without requests has no latency, and 0 iops.

Each window counts by its length, the last one too. A latency in fio's last bin (≥) has
no upper bound: a rule that only an upper bound could decide is unknown.

The exit code is 4 if a rule is broken, and stderr names it; else 3 if a rule is
unknown, because the run has no requests of its direction or no windows. NOTE says
where the limit lies within the error of the histogram's bins.

--from, --to, --direction, --host and --job choose requests as for rank.

CSV and JSON have latencies in microseconds (unit us), shares from 0 to 1.`,
		Example: `  fio2es sla latest --rule 'p99 <= 10ms'
  fio2es sla results/ --rule 'write.p99.9 <= 50ms in 99% of windows' --rule 'iops >= 5000'
  fio2es sla e87ec34a 5be8a100 --from +10s --format csv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.Check(); err != nil {
				return err
			}
			source := "sla:"
			if cmd.Flags().Changed("rule") {
				source = "--rule"
			}
			rules, err := parseRules(source, a.cfg.SLA)
			if err != nil {
				return err
			}
			j := &judge{reading: &reading{app: a}, query: q, rules: rules, writer: newSLAWriter(a.stdout, f.string)}
			return j.end(j.all(cmd.Context(), args))
		},
	}
	addReadingFlags(cmd.Flags())
	addClusterFlags(cmd.Flags())
	fl := cmd.Flags()
	fl.StringArray("rule", nil, "an objective, such as 'p99 <= 10ms' (repeatable)")
	addQueryFlags(fl, q)
	fl.Var(f, "format", "table, csv, markdown, or json: an object a line")
	return cmd
}

// parseRules reads rules, which come from source, a flag or a setting. It is an error if there are
// none.
func parseRules(source string, texts []string) (rules []slo.Rule, err error) {
	var faults []error
	for _, text := range texts {
		r, err := slo.Parse(text)
		if err != nil {
			faults = append(faults, fmt.Errorf("%s %w", source, err))
		}
		rules = append(rules, r)
	}
	switch {
	case len(faults) > 0:
		return nil, usageError{errors.Join(faults...)}
	case len(rules) == 0:
		return nil, usagef("no rules: give some, such as --rule 'p99 <= 10ms', or set them in fio2es.yaml, " +
			"such as sla: [p99 <= 10ms in 99%% of windows, iops >= 5000]")
	}
	return rules, nil
}

// judge judges runs by rules.
type judge struct {
	*reading
	query    *query.Query
	rules    []slo.Rule
	writer   *slaWriter
	isBroken bool // a rule
}

// all judges the runs that args name. Paths that follow one another are taken together, because
// they may be logs of one run.
func (j *judge) all(ctx context.Context, args []string) error {
	for _, part := range query.Group(args, query.IsPath) {
		err := j.runs(ctx, part, func(run *query.Run, _ bool) error { return j.judge(ctx, run) })
		if err != nil {
			return errors.Join(err, j.writer.Flush())
		}
	}
	if err := j.writer.Flush(); err != nil {
		return err
	}
	if j.isBroken {
		return errMet
	}
	return nil
}

// wantsWindows reports whether windows are needed, not only totals.
func (j *judge) wantsWindows() bool {
	return slices.ContainsFunc(j.rules, slo.Rule.InWindows) || !j.query.WantsAll()
}

// judge judges a run.
func (j *judge) judge(ctx context.Context, run *query.Run) error {
	rules := slo.New(j.rules)
	var checked window.Span
	take := func(w *window.Window) error {
		checked.Add(w)
		return rules.Merge(w)
	}
	if !j.wantsWindows() {
		take = nil
	}
	doc, err := j.read(ctx, run, j.query, take)
	if err != nil {
		return err
	}
	if doc == nil { // nothing in its files meets a rule
		return j.conclude(&slaRun{RunInfo: mapping.RunInfo{Name: run.Name}}, slo.New(j.rules).Verdicts())
	}
	isEmpty := checked.IsZero()
	if j.query.WantsAll() {
		checked = window.Span{Start: doc.Run.Start, End: doc.Run.End}
		err = rules.SetRun(doc, j.query.Directions)
	} else {
		rules.SetEnd(doc)
	}
	if err != nil {
		return err
	}
	verdicts := rules.Verdicts()
	if j.wantsWindows() && isEmpty {
		j.explain(run, doc, verdicts)
	}
	return j.conclude(&slaRun{doc.Run, checked}, verdicts)
}

// explain says why rules about windows could not be judged: the run has no windows, or none that
// is wanted.
func (j *judge) explain(run *query.Run, doc *mapping.Run, verdicts []slo.Verdict) {
	j.log.Warn(run.NoMatch(doc).Error())
	short := "no requests match"
	if query.NoWindows(doc) != "" {
		short = "the run has no windows"
	}
	for i := range verdicts {
		if v := &verdicts[i]; v.State == slo.Unknown && (v.Rule.InWindows() || !j.query.WantsAll()) {
			v.Why = short
		}
	}
}

// conclude writes the verdicts on a run, and says on stderr which rules are broken or unknown.
func (j *judge) conclude(run *slaRun, verdicts []slo.Verdict) error {
	for i := range verdicts {
		v := &verdicts[i]
		switch v.State {
		case slo.Broken:
			j.isBroken = true
			j.log.Error(v.Message(&run.RunInfo))
		case slo.Unknown:
			j.leftOut = true
			j.log.Warn(v.Message(&run.RunInfo))
		}
	}
	return j.writer.run(run, verdicts)
}
