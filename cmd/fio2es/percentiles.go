package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

func (a *app) percentilesCommand() *cobra.Command {
	f, as := &format{table.Text, table.Formats}, &compat{}
	method, total := "interpolated", false
	cmd := &cobra.Command{
		Use:   "percentiles X...",
		Short: "Percentiles over time, of logs or of a run in the history",
		Long: `Prints percentiles of latency for each window of time and direction, and of the
whole run. X is a path, as for ingest (nothing is stored), or a run in the history:
its id, the beginning of it, or "latest".

Logs given by name are merged, and fio's report is found beside them. The content of a
file decides what it is, not its name. Percentiles come from merged histograms: the
requests of a bin count as evenly spread within it, so the error is less than the bin's
width (1.6 % at coarseness 0). --method fio prints the value that fio prints for the bin
instead. ≥ marks a latency in fio's last bin, which has
no upper end: it is that or more (the column open names them in CSV and JSON). * marks
values that fio computed, of a single job whose report has no bins.

--interval joins the stored windows of a run in the history. Options of how logs are read
(--weighting, --source, …) cannot change them.

--compat prints the layout of one of fio's own tools, for scripts that read it: header,
rows, columns and units, with the tool's default percentiles, of reads, writes and trims
together. The numbers are those of fio2es. Runs come one after another, each with its
header. Of logs given by name only these are read, as by the tools.`,
		Example: `  fio2es percentiles latest
  fio2es percentiles --interval 10s output.*_clat_hist.*.log.*
  fio2es percentiles --levels host --format csv results/
  fio2es percentiles --compat fiologparser_hist *_clat_hist*.log`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if method != "interpolated" && method != "fio" {
				return usagef("--method %s: want interpolated or fio", method)
			}
			if err := onlyPaths(args); err != nil {
				return err
			}
			r := &reading{app: a}
			if as.string != "" {
				if err := as.check(cmd.Flags(), total, method, &a.cfg); err != nil {
					return err
				}
				if a.cfg.Interval == 0 { // the tools' default for all logs
					a.cfg.Interval = config.Interval(time.Second)
				}
				r.logsAlone = true // as the tools do
				return r.end(r.compat(cmd.Context(), args, newCompatWriter(a.stdout, as.string)))
			}
			out := newPercentileWriter(a.stdout, f.string, method)
			return r.end(r.percentiles(cmd.Context(), args, out, total))
		},
	}
	addReadingFlags(cmd.Flags())
	addLevelsFlag(cmd.Flags())
	addClusterFlags(cmd.Flags())
	cmd.Flags().Var(f, "format", "table, csv, markdown, or json: an object a line")
	cmd.Flags().Var(as, "compat", "the layout of one of fio's own tools, in place of --format")
	cmd.Flags().StringVar(&method, "method", method, "interpolated within bins, or as fio prints them")
	cmd.Flags().BoolVar(&total, "total", false, "of the whole run only")
	return cmd
}

// percentiles writes the windows of the runs that args name, and the totals of each.
func (r *reading) percentiles(ctx context.Context, args []string, out *percentileWriter, totalOnly bool) error {
	q := &query.Query{Light: out.method != "fio"} // fio's values are not in documents, but in histograms
	if r.flags.Changed("levels") {
		var err error
		if q.Levels, err = parseLevels(r.cfg.Levels); err != nil {
			return err
		}
	}
	take := out.window
	if totalOnly {
		take = nil
	}
	err := r.runs(ctx, args, func(run *query.Run, many bool) error {
		out.begin(run.Name, many)
		doc, err := r.read(ctx, run, q, take)
		if err != nil || doc == nil {
			return err
		}
		if out.windows == 0 && !totalOnly {
			r.logOnlyTotals(run, doc)
		}
		return out.total(doc)
	})
	if err != nil {
		return err
	}
	return out.to.Flush()
}

// parseLevels reads the levels that the user named.
func parseLevels(names []string) ([]mapping.Level, error) {
	var levels []mapping.Level
	for _, name := range names {
		level, err := mapping.ParseLevel(name)
		if err != nil {
			return nil, usageError{err}
		}
		levels = append(levels, level)
	}
	return levels, nil
}
