package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

// slaQuery is what runs are held against, and which of their requests.
type slaQuery struct {
	windowQuery
	rules []slo.Rule
}

func (a *app) slaCommand() *cobra.Command {
	f := &format{table.Text, table.Formats}
	q := &slaQuery{}
	cmd := &cobra.Command{
		Use:   "sla X...",
		Short: "Whether runs meet objectives, and if not, when and by how much",
		Long: `Holds runs against rules, in each direction by itself, and tells which are met, which
are broken, and which nobody knows. X is a path, as for ingest (nothing is stored), or
a run in the history: its id, the beginning of it, or "latest".

Rules come from --rule, else from sla in fio2es.yaml (a list) or FIO2ES_SLA (joined by
commas):
  p99 <= 10ms                         a percentile of latency; also min, mean, max
  write.p99.9 <= 20ms                 of reads, writes or trims alone
  within 100ms >= 99.9%               the share of requests served within a latency
  iops >= 5000                        requests per second
  requests >= 1e6                     requests in all
  p99 <= 10ms in 99% of windows       in each window by itself, for that share of the time
  iops >= 5k in every window
Operators are <, <=, > and >=, units ns, us, ms and s.

Without windows, a rule is about all requests together. In windows (of --interval, for
paths) it is told for which share of the time it held, when it was at its worst, for how
long it was broken at a stretch, and how much of the error budget is used: of the 1 %
that "in 99% of windows" leaves. A time without requests has no latency, and 0 iops.

The last window counts by its own length, as all do. A latency in fio's last bin (≥) may
be any longer one: a rule that only an upper bound could decide is unknown.

The exit code is 4 if a rule is broken, which stderr tells, too; else 3 if one is
unknown: the run has nothing of what it is about, or no windows. NOTE says where the limit lies
within the error of the histogram's bins.

--from, --to, --direction, --host and --job choose requests as for rank.

CSV and JSON have latencies in microseconds (unit us), shares from 0 to 1.`,
		Example: `  fio2es sla latest --rule 'p99 <= 10ms'
  fio2es sla results/ --rule 'write.p99.9 <= 50ms in 99% of windows' --rule 'iops >= 5000'
  fio2es sla e87ec34a 5be8a100 --from +10s --format csv`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.check(); err != nil {
				return err
			}
			source := "sla:"
			if cmd.Flags().Changed("rule") {
				source = "--rule"
			}
			var err error
			if q.rules, err = parseRules(source, a.cfg.SLA); err != nil {
				return err
			}
			if cmd.Flags().Changed("levels") {
				return usagef("--levels: which documents are asked follows from --host and --job")
			}
			a.cfg.Levels = []string{q.level().String()}
			return a.sla(cmd.Context(), args, &slaOutput{app: a, query: q, writer: newSLAWriter(a.stdout, f.string)})
		},
	}
	addReadingFlags(cmd.Flags())
	addClusterFlags(cmd.Flags())
	fl := cmd.Flags()
	_ = fl.MarkHidden("levels") // it is there
	fl.StringArray("rule", nil, "an objective, such as 'p99 <= 10ms' (repeatable)")
	q.addFlags(fl)
	fl.Var(f, "format", "table, csv, markdown, or json: an object a line")
	return cmd
}

// parseRules reads rules, which come from source, a flag or a setting. No rules are a
// mistake, too.
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
		return nil, usagef("no rules: give some, such as --rule 'p99 <= 10ms', or set them in fio2es.yaml, such as sla: [p99 <= 10ms in 99%% of windows, iops >= 5000]")
	}
	return rules, nil
}

// sla judges the runs that args name. Paths that follow one another are taken together, as
// logs of one run may be given by their names.
func (a *app) sla(ctx context.Context, args []string, out *slaOutput) error {
	leftOut := false
	for _, part := range pathsTogether(args) {
		err := a.windows(ctx, part, out)
		if errors.Is(err, errLeftOut) {
			leftOut = true
		} else if err != nil {
			return errors.Join(err, out.writer.Flush())
		}
	}
	if err := out.writer.Flush(); err != nil {
		return err
	}
	switch {
	case out.isBroken:
		return errMet
	case leftOut || out.isUnknown:
		return errLeftOut
	}
	return nil
}

// slaOutput judges run after run.
type slaOutput struct {
	app                 *app
	query               *slaQuery
	writer              *slaWriter
	isBroken, isUnknown bool

	name     string
	took     bool // a window
	open     bool // a run has begun that is not judged yet
	judge    *slo.Evaluator
	from, to time.Time // what the windows span
	choice   choice
}

// asksWindows tells whether windows are of use.
func (o *slaOutput) asksWindows() bool {
	for _, r := range o.query.rules {
		if r.InWindows() {
			return true
		}
	}
	return !o.query.whole()
}

func (o *slaOutput) begin(run string, _ bool) {
	o.name, o.took, o.open, o.judge, o.choice = run, false, true, slo.New(o.query.rules), choice{query: &o.query.windowQuery}
	o.from, o.to = time.Time{}, time.Time{}
}

// wants implements [windowOutput].
func (o *slaOutput) wants(run *mapping.Run) (history.Selection, bool, error) {
	if !o.asksWindows() || noWindows(run) != "" {
		return history.Selection{}, false, nil
	}
	return o.query.wants(run)
}

func (o *slaOutput) interval(d *mapping.Interval) error {
	if !o.asksWindows() {
		return nil
	}
	if takes, err := o.choice.takes(d); err != nil || !takes {
		return err
	}
	o.took = true
	if o.to.IsZero() || d.Time.Before(o.from) {
		o.from = d.Time
	}
	if d.Window.End.After(o.to) {
		o.to = d.Window.End
	}
	return o.judge.AddDocument(d)
}

// total judges a run.
func (o *slaOutput) total(run *mapping.Run) error {
	o.open = false
	if o.query.whole() {
		o.from, o.to = run.Run.Start, run.Run.End
		if err := o.judge.SetRun(run, o.query.directions); err != nil {
			return err
		}
	} else {
		o.judge.SetEnd(run)
	}
	verdicts := o.judge.Verdicts()
	if o.asksWindows() && !o.took {
		o.explain(run, verdicts)
	}
	return o.conclude(&slaRun{run.Run, o.from, o.to}, verdicts)
}

// explain says why rules about windows could not be judged: the run has none, or none that
// was chosen.
func (o *slaOutput) explain(run *mapping.Run, verdicts []slo.Verdict) {
	o.app.log.Warn(o.choice.empty(run).Error())
	short := "no requests match"
	if noWindows(run) != "" {
		short = "the run has no windows"
	}
	for i := range verdicts {
		if v := &verdicts[i]; v.State == slo.Unknown && (v.Rule.InWindows() || !o.query.whole()) {
			v.Why = short
		}
	}
}

// conclude tells and writes the verdicts on a run.
func (o *slaOutput) conclude(run *slaRun, verdicts []slo.Verdict) error {
	for i := range verdicts {
		v := &verdicts[i]
		switch v.State {
		case slo.Broken:
			o.isBroken = true
			o.app.log.Error(v.Message(&run.RunInfo))
		case slo.Unknown:
			o.isUnknown = true
			o.app.log.Warn(v.Message(&run.RunInfo))
		}
	}
	return o.writer.run(run, verdicts)
}

// flush implements [windowOutput]: a run that had nothing in it met no rule.
func (o *slaOutput) flush() error {
	if !o.open {
		return nil
	}
	o.open = false
	return o.conclude(&slaRun{RunInfo: mapping.RunInfo{Name: o.name}}, slo.New(o.query.rules).Verdicts())
}
