package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/export"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

func percentilesCommand(e *env) *cobra.Command {
	format, tool, method, total := table.Text, "", "interpolated", false
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
			parts := [][]string{args}
			if tool != "" {
				if err := checkCompat(tool, e, total, method); err != nil {
					return err
				}
				return compat(cmd.Context(), e, parts, tool)
			}
			q := &query.Query{Light: method != "fio"} // fio's values are not in documents, but in histograms
			if e.flags.Changed("levels") {
				q.Levels = e.options().Levels
			}
			r, p := newReading(e), newPercentiles(e.stdout, format, method)
			p.note = r.logOnlyTotals
			a := answer{begin: p.begin, window: p.window, end: p.end, flush: p.to.Flush}
			if total {
				a.window, p.note = nil, func(*query.Run, *mapping.Run) {}
			}
			return r.answer(cmd.Context(), parts, q, a)
		},
	}
	fl := cmd.Flags()
	addReadingFlags(fl)
	addLevelsFlag(fl)
	addClusterFlags(fl)
	addChoice(fl, &format, "format", tableUsage, table.Formats)
	addChoice(fl, &tool, "compat", "the layout of one of fio's own tools, in place of --format",
		[]string{export.FiologparserHist, export.FioHistoLogPctiles})
	fl.StringVar(&method, "method", method, "interpolated within bins, or as fio prints them")
	fl.BoolVar(&total, "total", false, "of the whole run only")
	return cmd
}

// checkCompat is an error where other settings contradict the layout of one of fio's tools.
func checkCompat(tool string, e *env, total bool, method string) error {
	switch {
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
func compat(ctx context.Context, e *env, parts [][]string, tool string) error {
	if e.cfg.Interval == 0 { // the tools' default for all logs
		e.cfg.Interval = config.Interval(time.Second)
	}
	r, c := newReading(e), export.NewCompat(e.stdout, tool)
	r.logsAlone = true  // as the tools do
	q := &query.Query{} // with histograms: directions can be added up only so
	return r.answer(ctx, parts, q, answer{
		begin:  func(*query.Run, bool) error { c.Begin(); return nil },
		window: c.Add,
		end: func(_ *query.Run, doc *mapping.Run) error {
			hasRows, err := c.End(doc)
			if err == nil && !hasRows {
				err = emptyError{fmt.Errorf("%s: no windows: %s", doc.Run.Name, cmp.Or(query.NoWindows(doc), query.NothingInTime))}
			}
			return err
		},
		flush: func() error { return nil },
	})
}
