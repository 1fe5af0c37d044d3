package main

import (
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/mapping"
)

func (a *app) percentilesCommand() *cobra.Command {
	f, as := &format{"table"}, &compat{}
	method, total := "interpolated", false
	cmd := &cobra.Command{
		Use:   "percentiles X...",
		Short: "Percentiles over time, of logs or of a run in the history",
		Long: `Prints percentiles of latency for each window of time and direction, and of the
whole run. X is a path, as for ingest (nothing is stored), or a run in the history:
its id, the beginning of it, or "latest".

Logs given by name are merged, whatever wrote them; fio's report is found beside them. Files
of any name are read by their content. Percentiles are computed from merged histograms: requests of a bin are taken as evenly spread within it, so that
the error is less than the bin's width (1.6 % at coarseness 0). --method fio gives
the value that fio prints for the bin instead.

--compat prints what scripts expect that read one of fio's own tools: its header, rows,
columns and units, with the percentiles that it has by default, of reads, writes and
trims together. The numbers are those of fio2es. Runs come one after another, each with
its header. Of logs given by name it reads these alone, as the tools do.`,
		Example: `  fio2es percentiles latest
  fio2es percentiles --interval 10s output.*_clat_hist.*.log.*
  fio2es percentiles --levels host --format csv results/
  fio2es percentiles --compat fiologparser_hist *_clat_hist*.log`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if method != "interpolated" && method != "fio" {
				return usagef("--method %s: want interpolated or fio", method)
			}
			if !cmd.Flags().Changed("levels") {
				a.cfg.Levels = []string{"cluster"}
			}
			if as.string != "" {
				if err := as.check(cmd.Flags().Changed("format"), total, method, &a.cfg); err != nil {
					return err
				}
				if a.cfg.Interval == 0 { // the tools' default, whatever the logs have
					a.cfg.Interval = config.Interval(time.Second)
				}
				return a.windows(cmd.Context(), args, newCompatWriter(a.stdout, as.string))
			}
			return a.windows(cmd.Context(), args, newPercentileWriter(a.stdout, f.string, method, total))
		},
	}
	addReadingFlags(cmd.Flags())
	addClusterFlags(cmd.Flags())
	cmd.Flags().Var(f, "format", "table, csv, or json: an object a line")
	cmd.Flags().Var(as, "compat", "the layout of one of fio's own tools, in place of --format")
	cmd.Flags().StringVar(&method, "method", method, "interpolated within bins, or as fio prints them")
	cmd.Flags().BoolVar(&total, "total", false, "of the whole run only")
	return cmd
}

// answers are the percentiles of one line, microseconds; NaN where nothing is known.
type answers struct{ min, mean, p50, p75, p90, p95, p99, p999, p9999, max float64 }

// answersOf takes what the document says or, with fio's method, asks its histogram.
func answersOf(l *mapping.Latency, method string) (answers, error) {
	a := answers{l.Min, l.Mean, l.P50, l.P75, l.P90, l.P95, l.P99, l.P999, l.P9999, l.Max}
	if l.Layout == "" { // of averages, or of nothing
		none := math.NaN()
		a = answers{none, none, none, none, none, none, none, none, none, none}
		if l.Mean > 0 {
			a.mean = l.Mean
		}
		return a, nil
	}
	if method != "fio" {
		return a, nil
	}
	h, err := l.Hist()
	if err != nil {
		return a, err
	}
	for to, f := range map[*float64]float64{
		&a.p50: 50, &a.p75: 75, &a.p90: 90, &a.p95: 95, &a.p99: 99, &a.p999: 99.9, &a.p9999: 99.99, &a.max: 100,
	} {
		*to = fioValue(h, f)
	}
	return a, nil
}

func fioValue(h *hist.Histogram, f float64) float64 {
	ns, ok := h.FioPercentile(f)
	if !ok {
		return 0
	}
	return float64(ns) / 1000
}
