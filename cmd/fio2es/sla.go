package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/window"
	"github.com/fio2es/fio2es/mapping"
)

func slaCommand(e *env) *cobra.Command {
	format, q := table.Text, &query.Query{}
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
			rules, err := e.rules()
			if err != nil {
				return err
			}
			if len(rules) == 0 {
				return usagef("no rules: give some, such as --rule 'p99 <= 10ms', or set them in fio2es.yaml, " +
					"such as sla: [p99 <= 10ms in 99%% of windows, iops >= 5000]")
			}
			j := &judge{reading: newReading(e), query: q, rules: rules, to: newSLATable(e.stdout, format)}
			a := answer{begin: j.begin, window: j.window, end: j.end, none: j.none, flush: j.flush}
			if q.WantsAll() && !slices.ContainsFunc(rules, slo.Rule.InWindows) { // the totals of runs are enough
				a.window = nil
			}
			// Paths that follow one another are taken together, because they may be logs of one run.
			err = j.answer(cmd.Context(), query.Group(args, query.IsPath), q, a)
			return errors.Join(err, j.to.Flush())
		},
	}
	fl := cmd.Flags()
	addReadingFlags(fl)
	addClusterFlags(fl)
	fl.StringArray("rule", nil, "an objective, such as 'p99 <= 10ms' (repeatable)")
	addQueryFlags(fl, q)
	addChoice(fl, &format, "format", tableUsage, table.Formats)
	return cmd
}

// judge checks runs against rules.
type judge struct {
	*reading
	query    *query.Query
	rules    []slo.Rule
	to       *table.Writer[*slaRow]
	isBroken bool // a rule

	run     *slo.Evaluator
	checked window.Span // of the run
}

func (j *judge) begin(*query.Run, bool) error {
	j.run, j.checked = slo.New(j.rules), window.Span{}
	return nil
}

func (j *judge) window(w *window.Window) error {
	j.checked.Add(w)
	return j.run.Merge(w)
}

// none judges a run that has no requests.
func (j *judge) none(run *query.Run) error {
	return j.conclude(&slaRun{RunInfo: mapping.RunInfo{Name: run.Name}}, j.run.Verdicts())
}

// end judges a run.
func (j *judge) end(run *query.Run, doc *mapping.Run) error {
	isEmpty := j.checked.IsZero()
	if j.query.WantsAll() {
		j.checked = window.Span{Start: doc.Run.Start, End: doc.Run.End}
		if err := j.run.SetRun(doc, j.query.Directions); err != nil {
			return err
		}
	} else {
		j.run.SetEnd(doc)
	}
	verdicts := j.run.Verdicts()
	if isEmpty {
		j.explain(run, doc, verdicts)
	}
	return j.conclude(&slaRun{doc.Run, j.checked}, verdicts)
}

// explain says why rules about windows could not be judged: the run has no windows, or none that
// is wanted.
func (j *judge) explain(run *query.Run, doc *mapping.Run, verdicts []slo.Verdict) {
	short := "no requests match"
	if query.NoWindows(doc) != "" {
		short = "the run has no windows"
	}
	isAbout := func(v slo.Verdict) bool { return v.Rule.InWindows() || !j.query.WantsAll() }
	if slices.ContainsFunc(verdicts, isAbout) {
		j.log.Warn(run.NoMatch(doc).Error())
	}
	for i := range verdicts {
		if v := &verdicts[i]; v.State == slo.Unknown && isAbout(*v) {
			v.Why = short
		}
	}
}

// conclude writes the verdicts on a run, and says on stderr which rules are broken or unknown.
func (j *judge) conclude(run *slaRun, verdicts []slo.Verdict) error {
	broken, unknown := slo.Log(j.log, &run.RunInfo, verdicts)
	j.isBroken, j.leftOut = j.isBroken || broken, j.leftOut || unknown
	j.to.Begin(run.heading())
	for i := range verdicts {
		if err := j.to.Write(&slaRow{run, &verdicts[i]}); err != nil {
			return err
		}
	}
	return j.to.End()
}

func (j *judge) flush() error {
	if err := j.to.Flush(); err != nil || !j.isBroken {
		return err
	}
	return errMet
}
