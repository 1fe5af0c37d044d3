package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/export"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

func percentilesCommand(e *env) *cobra.Command {
	format, tool, method, total, q := table.Text, "", "interpolated", false, &query.Query{}
	cmd := &cobra.Command{
		Use:   "percentiles X...",
		Short: "Percentiles over time, of logs or of a run in the history",
		Long: `Prints percentiles of latency for each window of time and direction, and of the
whole run.

` + chooseHelp + `

Logs given by name are merged, and fio's report is found beside them. The content of a
file decides what it is, not its name. Percentiles come from merged histograms: the
requests of a bin count as evenly spread within it, so the error is less than the bin's
width (1.6 % at coarseness 0). --method fio prints the value that fio prints for the bin
instead. ≥ marks a latency in fio's last bin, which has
no upper end: it is that or more (the column open names them in CSV and JSON). * marks
values that fio computed, of a single job whose report has no bins.

--from, --to, --direction, --host and --job choose windows as for rank. The last rows are
then the sums of these windows (level "chosen" in CSV and JSON), else those of the whole
run. A run that has several directions has one more row for all together.

--interval joins the stored windows of a run in the history. Options of how logs are read
(--weighting, --source, …) cannot change them.

--compat prints the layout of one of fio's own tools, for scripts that read it: header,
rows, columns and units, with the tool's default percentiles, of reads, writes and trims
together. The numbers are those of fio2es. Runs come one after another, each with its
header. Logs given by name are read without the report beside them, as the tools do.`,
		Example: `  fio2es percentiles latest
  fio2es percentiles latest --from +30s --to +90s --direction write
  fio2es percentiles last:5 --where 'bs=4k' --total
  fio2es percentiles --interval 10s output.*_clat_hist.*.log.*
  fio2es percentiles --levels host --format csv results/
  fio2es percentiles --compat fiologparser_hist *_clat_hist*.log`,
		Args: someRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.Check(); err != nil {
				return err
			}
			if tool != "" {
				if err := checkCompat(tool, e, q, total, method); err != nil {
					return err
				}
				return compat(cmd.Context(), e, args, tool)
			}
			if e.flags.Changed("levels") {
				if err := setLevels(q, e); err != nil {
					return err
				}
			}
			q.Light = q.WantsAll() && method != "fio" // sums and fio's values need histograms
			r, p := &reading{env: e}, newPercentiles(e.stdout, format, method, q)
			p.note, p.totalOnly = r.logOnlyTotals, total
			a := answer{begin: p.begin, window: p.window, end: p.end}
			if total && q.WantsAll() {
				a.window = nil
			}
			return r.answerFor(cmd.Context(), args, q, a)
		},
	}
	fl := cmd.Flags()
	addAnswerFlags(fl, q, "interval")
	addLevelsFlag(fl)
	addChoice(fl, &format, "format", tableUsage, table.Formats)
	addChoice(fl, &tool, "compat", "layout of this `tool` of fio, in place of --format",
		[]string{export.FiologparserHist, export.FioHistoLogPctiles})
	addChoice(fl, &method, "method", "`method`: interpolated within bins, or as fio prints them", []string{"interpolated", "fio"})
	fl.BoolVar(&total, "total", false, "only the totals: of the whole run, or of the windows that --from, --to, --host and --job choose")
	return cmd
}

// setLevels sets the levels of windows that the user named.
func setLevels(q *query.Query, e *env) error {
	least, levels := q.Level(), e.options().Levels
	for _, level := range levels {
		if level < least {
			return usagef("--levels %s: --host and --job choose among documents of level %s", strings.Join(e.cfg.Levels, ","), least)
		}
	}
	q.Levels = levels
	return nil
}

// checkCompat fails if other settings contradict the layout of one of fio's tools.
func checkCompat(tool string, e *env, q *query.Query, total bool, method string) error {
	switch {
	case q.String() != "":
		return usagef("--compat %s prints whole runs, as the tool does: leave out%s", tool, q)
	case e.flags.Changed("format"):
		return usagef("--compat %s has its own format: leave out --format", tool)
	case method == "fio":
		return usagef("--compat %s interpolates, as the tool does: leave out --method fio", tool)
	case total:
		return usagef("--compat %s has windows only: leave out --total", tool)
	case e.flags.Changed("levels") && !slices.Equal(e.cfg.Levels, []string{"cluster"}):
		return usagef("--compat %s adds up all logs: --levels can be cluster only", tool)
	case e.cfg.Interval == config.Auto:
		return usagef("--compat %s has windows of one length: --interval cannot be auto", tool)
	}
	return nil
}

// compat prints runs as one of fio's tools does.
func compat(ctx context.Context, e *env, args []string, tool string) error {
	if e.cfg.Interval == 0 { // the tools' default for all logs
		e.cfg.Interval = config.Interval(time.Second)
	}
	r, c := &reading{env: e}, export.NewCompat(e.stdout, tool)
	r.logsAlone = true  // as the tools do
	q := &query.Query{} // with histograms, because adding up directions needs them
	return r.answerFor(ctx, args, q, answer{
		begin:  func(*query.Run, bool) error { c.Begin(); return nil },
		window: c.Add,
		end: func(_ *query.Run, doc *mapping.Run) error {
			hasRows, err := c.End(doc)
			if err == nil && !hasRows {
				err = query.RunError{Err: fmt.Errorf("%s: no windows: %s", doc.Run.Name, cmp.Or(query.NoWindows(doc), query.NothingInTime))}
			}
			return err
		},
	})
}
