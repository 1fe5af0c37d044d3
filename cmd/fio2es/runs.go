package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

func runsCommand(e *env) *cobra.Command {
	l := listing{env: e, filter: history.RunFilter{Light: true}, format: table.Text}
	var since, until, sorted, condition string
	cmd := &cobra.Command{
		Use:   "runs [TEXT | RUN...]",
		Short: "List the runs in the history",
		Long: `Lists the runs in the history, the newest first: all, or those with TEXT in their
id, name, archive, path, benchmark, mode, a label or the note; or RUNs in the order in
which they are named: latest, latest~1 (the one before), last:5 (the five newest),
same-as:RUN (all with its settings), several ids, or a condition as for --where. Each
direction of a run has a line; latencies are of the whole run (≥: or more, *: computed by
fio). REC: requests recovered from fio's JSON report, which the logs lack. MISS: requests
that are in no window. Notes (fio2es note) have a column where a run has one.`,
		Example: `  fio2es runs
  fio2es runs randwrite --since 2026-01-01 --sort p99
  fio2es runs --where 'bs=4k and write.p99 > 5ms and start >= 7d'
  fio2es runs same-as:latest --where 'start >= 30d'
  fio2es runs --format json | jq -r .run`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if l.filter.Text, l.selectors, err = parseTextOrRuns(args); err != nil {
				return err
			}
			if l.filter.From, err = query.ParseTime("since", since); err != nil {
				return err
			}
			if l.filter.To, err = query.ParseTime("until", until); err != nil {
				return err
			}
			if l.filter.Where, err = parseWhere(condition); err != nil {
				return err
			}
			if l.order, err = facts.OrderOf(sorted); err != nil {
				return usagef("--sort %s: %w", sorted, err)
			}
			if len(args) > 0 && l.filter.Text == "" && !cmd.Flags().Changed("sort") {
				l.order = nil
			}
			return l.list(cmd.Context())
		},
	}
	fl := cmd.Flags()
	addClusterFlags(fl)
	addWhereFlag(fl, &condition)
	fl.StringVar(&l.filter.Benchmark, "benchmark", "", "only of this benchmark, such as librbdfio")
	fl.StringVar(&l.filter.Mode, "mode", "", "only of this mode, such as randwrite")
	fl.StringToStringVar(&l.filter.Labels, "label", nil, "only with this label, NAME=VALUE")
	fl.StringVar(&since, "since", "", "only that began at or after this time")
	fl.StringVar(&until, "until", "", "only that began before this time")
	fl.IntVar(&l.filter.Limit, "limit", 0, "so many at most")
	fl.StringVar(&sorted, "sort", "start", "start, requests, iops, p50, p95, p99, p99.9 or max: the highest first")
	addChoice(fl, &l.format, "format", "table, csv, markdown, json: an object a line; document: a run's whole document a line", runFormats)
	return cmd
}

// listing is a list of runs.
type listing struct {
	*env
	filter    history.RunFilter
	selectors []*query.Selector // of runs among those of the filter; none: all of them
	order     *facts.Order      // nil: that of the selectors
	format    string
}

// list prints the runs that the filter selects. A run that cannot be read is skipped, with a warning.
func (l *listing) list(ctx context.Context) error {
	store, closeStore, err := l.history().open(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	l.filter.Brief = l.format != documentFormat
	runs, skipped, err := l.read(ctx, store)
	if err != nil {
		return err
	}
	if len(runs) == 0 && !skipped {
		if err := l.printNoRuns(ctx, store); err != nil || l.format == table.Text {
			return err
		}
	}
	if l.order != nil {
		l.order.Sort(runs, false)
	}
	return leftOutIf(writeRuns(l.stdout, runs, l.format), skipped)
}

// read reads the runs that are listed.
func (l *listing) read(ctx context.Context, store history.Store) (runs []*mapping.Run, skipped bool, err error) {
	if len(l.selectors) == 0 {
		return l.readRuns(ctx, store, l.filter)
	}
	among := l.filter
	among.Limit = 0
	runs, skipped, err = l.selectRuns(ctx, store, among, l.selectors)
	if l.filter.Limit > 0 {
		runs = runs[:min(len(runs), l.filter.Limit)]
	}
	return runs, skipped, err
}

// readRuns reads the runs that a filter selects. skipped reports whether one cannot be read: it is left out, with a
// warning.
func (e *env) readRuns(ctx context.Context, store history.Store, filter history.RunFilter) (runs []*mapping.Run, skipped bool, err error) {
	for r, err := range store.Runs(ctx, filter) {
		switch {
		case history.IsSkipped(err):
			e.log.Warn(err.Error())
			skipped = true
		case err != nil:
			return nil, skipped, err
		default:
			runs = append(runs, r)
		}
	}
	return runs, skipped, nil
}

// printNoRuns says on stderr that no run matches, and what the history has.
func (e *env) printNoRuns(ctx context.Context, store history.Store) error {
	runs, lines, err := query.Contents(ctx, store)
	if err != nil {
		return err
	}
	if runs == 0 {
		term.Line(e.stderr, "no runs in %s; store some with: fio2es ingest PATH", e.history().name())
		return nil
	}
	term.Line(e.stderr, "no runs match; %s has %s:", e.history().name(), unit.Plural(runs, "run"))
	for _, line := range lines {
		term.Line(e.stderr, "  %s", line)
	}
	return nil
}
