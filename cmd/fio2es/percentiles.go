package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/source"
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

Logs given by name are merged, whatever wrote them. Percentiles are computed from
merged histograms: requests of a bin are taken as evenly spread within it, so that
the error is less than the bin's width (1.6 % at coarseness 0). --method fio gives
the value that fio prints for the bin instead.

--compat prints what scripts expect that read one of fio's own tools: its header, rows,
columns and units, with the percentiles that it has by default, of reads, writes and
trims together. The numbers are those of fio2es. Runs come one after another, each with
its header.`,
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
				return a.percentiles(cmd.Context(), args, newCompatWriter(a.stdout, as.string))
			}
			return a.percentiles(cmd.Context(), args, newPercentileWriter(a.stdout, f.string, method, total))
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

func (a *app) percentiles(ctx context.Context, args []string, out percentileOutput) error {
	leftOut := false
	paths := args
	if len(args) == 1 && !isPath(args[0]) {
		if err := a.percentilesOfRun(ctx, args[0], out); err != nil {
			return err
		}
		paths = nil
	}
	if len(paths) > 0 {
		var err error
		if leftOut, err = a.percentilesOfPaths(ctx, paths, out); err != nil {
			return err
		}
	}
	if err := out.flush(); err != nil {
		return err
	}
	if leftOut {
		return errLeftOut
	}
	return nil
}

// isPath tells a path from the name of a run: it exists, or can be nothing else.
func isPath(arg string) bool {
	if _, err := os.Lstat(arg); err == nil || arg == "-" {
		return true
	}
	return strings.ContainsAny(arg, `/\*?[.`)
}

func (a *app) percentilesOfPaths(ctx context.Context, paths []string, out percentileOutput) (leftOut bool, err error) {
	opt, err := a.cfg.Options()
	if err != nil {
		return false, usageError{err}
	}
	archive, err := pipeline.Open(ctx, paths, a.stdin, func(p source.Progress) {
		a.progress.Show("looking: %d files", p.Files)
	})
	if err != nil {
		return false, err
	}
	defer archive.Close()
	leftOut = a.tellProblems(archive)
	runs := archive.Runs
	if allFiles(paths) {
		runs, opt.Alone = pipeline.Together(runs), true
	}
	if len(runs) == 0 {
		return false, fmt.Errorf("no histogram logs of fio (*_clat_hist.*.log) under %s", strings.Join(paths, ", "))
	}
	for _, run := range runs {
		out.begin(run.Name(), len(runs) > 1)
		res, err := pipeline.Read(ctx, run, opt, out.interval)
		if err != nil {
			return false, err
		}
		a.progress.Clear()
		a.tellResult(res)
		leftOut = leftOut || len(res.Lost) > 0
		if res.Run != nil {
			if err := out.total(res.Run); err != nil {
				return false, err
			}
		}
	}
	return leftOut, nil
}

// allFiles tells whether all paths are single files, which the user wants merged.
func allFiles(paths []string) bool {
	for _, p := range paths {
		info, err := os.Stat(p)
		if err != nil && !strings.ContainsAny(p, "*?[") || err == nil && !info.Mode().IsRegular() {
			return false
		}
	}
	return true
}

func (a *app) percentilesOfRun(ctx context.Context, id string, out percentileOutput) error {
	store, closeStore, err := a.openHistory(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	run, err := findRun(ctx, store, id)
	if err != nil {
		return err
	}
	out.begin(run.Run.Name, false)
	for _, name := range a.cfg.Levels {
		level, err := mapping.ParseLevel(name)
		if err != nil {
			return usageError{err}
		}
		wanted := history.Selection{Runs: []string{run.Run.ID}, Level: level, Light: !out.needsBins()}
		for d, err := range store.Intervals(ctx, wanted) {
			if err != nil {
				return err
			}
			if err := out.interval(d); err != nil {
				return err
			}
		}
	}
	return out.total(run)
}

// findRun is the run of an id, the beginning of one, or the newest.
func findRun(ctx context.Context, store history.Store, id string) (*mapping.Run, error) {
	if id != "latest" {
		run, err := store.Run(ctx, id)
		if errors.Is(err, history.ErrNotFound) {
			return nil, fmt.Errorf("%s: neither a path nor a run: %w", id, err)
		}
		return run, err
	}
	for run, err := range store.Runs(ctx, history.RunFilter{Limit: 1}) {
		return run, err
	}
	return nil, errors.New("no runs in the history yet: store some with fio2es ingest PATH")
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
