package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/junit"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/slo"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
)

func slaCommand(e *env) *cobra.Command {
	format, q := table.Text, &query.Query{}
	cmd := &cobra.Command{
		Use: "sla X...", SuggestFor: []string{"slo"},
		Short: "Check runs against SLA rules: met, broken or unknown",
		Long: `Checks runs against rules, separately for reads, writes, trims and syncs: met,
broken or unknown. Each run is checked by itself.

` + chooseHelp + `

Rules come from --rule, else from sla in fio2es.yaml (a list) or FIO2ES_SLA (joined by
commas):

  p99 <= 10ms                    a percentile of latency; also min, mean, max
  write.p99.9 <= 20ms            of reads, writes, trims or syncs alone
  within 100ms >= 99.9%          the share of requests served within a latency
  iops >= 5000                   requests per second
  requests >= 1e6                the number of requests
  p99 <= 10ms in 99% of windows  in windows that are that share of the time
  iops >= 5k in every window
  p99 <= 10ms for 30s            broken if all windows of 30 s break it
  iops > 0 for 5s                broken if nothing completes for 5 s

Operators are <, <=, > and >=, units ns, us, ms and s.

A rule without a direction is about each that the run has. iops and requests are without
syncs (fsync, fdatasync, sync_file_range), and latencies are not.

A rule without windows is about all requests together. A rule in windows (of --interval,
for paths) comes with the share of the time in which it was met, its worst window, and
the longest time in which it was broken. BUDGET is how much of the error budget is used:
of the 1 % that "in 99% of windows" leaves. A time without requests has no latency, and
0 iops. docs/compare.md has the details.

Of several runs, those that broke a rule come first, then those with an unknown one, and the
last line says how many there are of each. Of more than 20, those that met all are only
counted: CSV and JSON have every run.

The exit code is 4 if a rule is broken, else 3 if a rule is unknown, such as one about a
direction without requests. NOTE says why, and where the limit lies within the error of the
histogram's bins. With CSV, JSON and JUnit, stderr has it.

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
			out, format := c.table(e.stdout)
			to := table.NewNarrow(out, format, slo.Columns(), []string{"NOTE", "RULE"}, []string{unit.Heading("AT"), "LONGEST", "BUDGET"})
			j := &slaCall{runReader: &runReader{env: e}, query: q, rules: rules, checks: c, out: out, to: to}
			j.isPeople = format == table.Text || format == table.Markdown
			return j.end(j.judge(cmd.Context(), args))
		},
	}
	fl := cmd.Flags()
	addAnswerFlags(fl, q)
	addSettings(fl, "rule")
	addChoice(fl, &format, "format", checkUsage, checkFormats)
	return cmd
}

type slaCall struct {
	*runReader
	query    *query.Query
	rules    []slo.Rule
	checks   *checks
	out      io.Writer // of to
	to       *table.Writer[*slo.Row]
	isPeople bool       // the format is for people
	isBroken bool       // a rule is broken
	tables   []slaTable // of each run
}

// slaTable is the table of a run.
type slaTable struct {
	heading string
	state   slo.State // broken if any of its rules is, else unknown if any is
	rows    []*slo.Row
}

// mostMet is of how many runs those that met all rules have a table, too.
const mostMet = 20

// judge checks the runs that args name, and writes the verdicts. Neighbouring paths are read together, because they
// may be logs of one run.
func (j *slaCall) judge(ctx context.Context, args []string) error {
	j.skips = true
	inputs, err := j.choose(ctx, args, query.IsPath)
	if err == nil {
		err = j.each(ctx, inputs, func(run *query.Run) error { return j.skip(j.one(ctx, run)) })
	}
	err = errors.Join(err, j.write())
	if err == nil && (len(j.skipped) == 0 || j.answered) {
		err = j.checks.write(j.stdout)
	}
	if err == nil && j.isBroken {
		return errMet
	}
	return err
}

func (j *slaCall) one(ctx context.Context, run *query.Run) error {
	judgement, err := query.Judge(ctx, run, j.query, j.rules)
	j.logRun(run)
	if err != nil {
		return err
	}
	j.answered = true
	log := j.log
	if j.isPeople { // the table says it
		log = slog.New(slog.DiscardHandler)
	}
	broken, unknown := slo.Log(log, &judgement.Run, judgement.Verdicts)
	j.isBroken, j.leftOut = j.isBroken || broken, j.leftOut || unknown
	title := run.Name
	if run.IsAlone || run.Stored == nil {
		title = strings.TrimPrefix(judgement.Run.Archive+":"+judgement.Run.Name, ":")
	}
	heading := title
	if checked := judgement.Checked; !checked.IsZero() {
		heading += ", " + unit.Span(checked.Start, checked.End)
	}
	t := slaTable{heading: heading, state: slo.Met}
	for i := range judgement.Verdicts {
		row := &slo.Row{Run: &judgement.Run, Checked: judgement.Checked, Verdict: &judgement.Verdicts[i]}
		j.checks.Cases = append(j.checks.Cases, row.TestCase(title))
		if t.rows = append(t.rows, row); row.State == slo.Broken || t.state == slo.Met {
			t.state = row.State
		}
	}
	if j.tables = append(j.tables, t); j.isPeople {
		return nil
	}
	return j.write()
}

// write writes the tables of the runs that were judged, for people the broken ones first.
func (j *slaCall) write() error {
	counts := map[slo.State]int{}
	all := len(j.tables)
	states := []slo.State{slo.Broken, slo.Unknown, slo.Met}
	if j.isPeople {
		slices.SortStableFunc(j.tables, func(a, b slaTable) int {
			return cmp.Compare(slices.Index(states, a.state), slices.Index(states, b.state))
		})
	}
	for _, t := range j.tables {
		if counts[t.state]++; j.isPeople && t.state == slo.Met && all > mostMet {
			continue
		}
		j.to.Begin(t.heading)
		var verdicts []slo.Verdict
		for _, row := range t.rows {
			verdicts = append(verdicts, *row.Verdict)
			if err := j.to.Write(row); err != nil {
				return err
			}
		}
		if err := j.to.End(slo.Notes(verdicts, t.rows[0].Run.Start, all == 1 || len(t.rows) > 1)...); err != nil {
			return err
		}
	}
	if j.tables = nil; j.isPeople && all > 1 {
		fmt.Fprintf(j.out, "\n%s: %d broke a rule, %d have an unknown one, %d met all\n", unit.Plural(all, "run"), counts[slo.Broken], counts[slo.Unknown], counts[slo.Met])
	}
	return nil
}
