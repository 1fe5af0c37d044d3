package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

func (a *app) runsCommand() *cobra.Command {
	f := &format{table.Text, runFormats}
	filter := history.RunFilter{Light: true}
	var since, until, sorted string
	var labels map[string]string
	cmd := &cobra.Command{
		Use:   "runs [TEXT]",
		Short: "List the runs in the history",
		Long: `Lists the runs in the history, the newest first: all, or those with TEXT in their
id, name, archive, path, benchmark, mode or a label. A line for each direction of
a run; latencies are of the whole run (≥: or more, *: computed by fio). REC are requests that fio did not log but
its JSON report has; MISS are requests that are in no window.`,
		Example: `  fio2es runs
  fio2es runs randwrite --since 2026-01-01 --sort p99
  fio2es runs --format json | jq -r .run`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			filter.Text, filter.Labels = strings.Join(args, ""), labels
			var err error
			if filter.From, err = parseTime("since", since); err != nil {
				return err
			}
			if filter.To, err = parseTime("until", until); err != nil {
				return err
			}
			return a.runs(cmd.Context(), filter, sorted, f.string)
		},
	}
	fl := cmd.Flags()
	addClusterFlags(fl)
	fl.StringVar(&filter.Benchmark, "benchmark", "", "only of this benchmark, such as librbdfio")
	fl.StringVar(&filter.Mode, "mode", "", "only of this mode, such as randwrite")
	fl.StringToStringVar(&labels, "label", nil, "only with this label, NAME=VALUE")
	fl.StringVar(&since, "since", "", "only that began at or after this time")
	fl.StringVar(&until, "until", "", "only that began before this time")
	fl.IntVar(&filter.Limit, "limit", 0, "so many at most")
	fl.StringVar(&sorted, "sort", "start", "start, requests, iops, p50, p95, p99, p99.9 or max: the highest first")
	fl.Var(f, "format", "table, csv, markdown, json: an object a line; document: a run's whole document a line")
	return cmd
}

func (a *app) runs(ctx context.Context, filter history.RunFilter, sorted, format string) error {
	order, err := facts.OrderOf(sorted)
	if err != nil {
		return usagef("--sort %s: %w", sorted, err)
	}
	store, closeStore, err := a.openHistory(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	var runs []*mapping.Run
	skipped := false
	for r, err := range store.Runs(ctx, filter) {
		if a.skips(err, &skipped) {
			continue
		}
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	if len(runs) == 0 && !skipped {
		if err := a.tellNoRuns(ctx, store, filter); err != nil || format == "table" {
			return err
		}
	}
	order.Sort(runs, false)
	if err := writeRuns(a.stdout, runs, format); err != nil || !skipped {
		return err
	}
	return errLeftOut
}

// skips reports whether err is of a run that cannot be read, which is skipped. It warns, and
// notes that in skipped.
func (a *app) skips(err error, skipped *bool) bool {
	if !history.IsSkipped(err) {
		return false
	}
	a.log.Warn(err.Error())
	*skipped = true
	return true
}

func parseTime(flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, usagef("--%s %s: want a time such as 2026-01-31 or 2026-01-31T09:12:00Z", flag, text)
}
