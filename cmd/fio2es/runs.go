package main

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline/cbt"
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
	fl.StringVar(&sorted, "sort", "start", "start, p50, p99, max, iops or requests: the highest first")
	fl.Var(f, "format", "table, csv, markdown, json: an object a line; document: a run's whole document a line")
	return cmd
}

func (a *app) runs(ctx context.Context, filter history.RunFilter, sorted, format string) error {
	key, ok := runKeys[sorted]
	if !ok {
		return usagef("--sort %s: want one of start, p50, p99, max, iops, requests", sorted)
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
	if key != nil {
		slices.SortStableFunc(runs, func(x, y *mapping.Run) int { return cmp.Compare(key(y), key(x)) })
	}
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

// runKeys are what runs can be sorted by.
var runKeys = map[string]func(*mapping.Run) float64{
	"start":    nil,
	"p50":      func(r *mapping.Run) float64 { return highest(r, "p50") },
	"p99":      func(r *mapping.Run) float64 { return highest(r, "p99") },
	"max":      func(r *mapping.Run) float64 { return highest(r, "max") },
	"iops":     func(r *mapping.Run) float64 { return all(r).IOPS },
	"requests": func(r *mapping.Run) float64 { return float64(all(r).Requests) },
}

// highest is a latency of all requests of a run or, where these were not merged, the highest
// of its directions; 0 where none is known.
func highest(r *mapping.Run, name string) float64 {
	list := []mapping.DirectionTotals{{Totals: all(r)}}
	if all(r).Latency.Layout == "" {
		list = r.ByDirection()
	}
	most := 0.0
	for _, d := range list {
		if a, err := answersOfTotal(d.Totals, ""); err == nil && a.of(name) > most {
			most = a.of(name)
		}
	}
	return most
}

func all(r *mapping.Run) *mapping.Totals {
	if r.All == nil {
		return &mapping.Totals{}
	}
	return r.All
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

// describe is a run's name with what most distinguishes it.
func describe(r *mapping.Run) string {
	parts := []string{r.Run.Archive + ":" + shortName(r)}
	if r.CBT.Mode != "" {
		parts = append(parts, r.CBT.Mode)
	}
	if r.CBT.OpSize > 0 {
		parts = append(parts, strings.TrimSuffix(strings.Replace(unit.Bytes(r.CBT.OpSize), ".00", "", 1), "iB"))
	}
	if r.CBT.IODepth > 0 {
		parts = append(parts, "qd"+strconv.Itoa(r.CBT.IODepth))
	}
	return strings.Join(parts, " ")
}

// shortName leaves out folders of CBT whose names repeat the settings.
func shortName(r *mapping.Run) string {
	parts := strings.SplitN(r.Run.Name, "/", 3)
	if r.CBT.Benchmark == "" || r.CBT.Benchmark == cbt.Pbench || len(parts) < 3 {
		return r.Run.Name
	}
	name := parts[0] + "/" + parts[1]
	if r.CBT.Workload != "" {
		name += "/" + r.CBT.Workload
	}
	return name
}

// state says what is not as it should be with a run.
func state(r *mapping.Run) string {
	words, _ := r.State()
	return strings.Join(words, ", ")
}

// count is a number of requests, or nothing for none.
func count(n int64) string {
	if n == 0 {
		return ""
	}
	return unit.Count(n)
}
