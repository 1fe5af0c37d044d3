package main

import (
	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/where"
)

func runsCommand(e *env) *cobra.Command {
	l := listing{env: e, filter: history.RunFilter{Light: true}, format: table.Text}
	condition, sorted, isIncomplete := "", "", false
	cmd := &cobra.Command{
		Use:   "runs [TEXT | RUN...]",
		Short: "List the runs in the history",
		Long: `Lists the runs in the history, the newest first: all, or those with TEXT in their
id, name, archive, path, settings ('4K qd16'), labels or note; or RUNs in the order in
which they are named: latest, latest~1 (the one before), last:5 (the five newest),
same-as:RUN (all with its settings), several ids, or a condition as for --where. Each
direction of a run has a line; latencies are of the whole run (≥: or more, *: computed by
fio). REC: requests recovered from fio's JSON report, which the logs lack. MISS: requests
that are in no window. Notes (fio2es note) have a column where a run has one.

--columns chooses other columns: run, name, archive, start, state, all numbers, such as
bandwidth and p99.99, all settings, such as mode, op_size and pool_profile, and all other
fields of --where, such as label.release and option.ioengine. Shells complete them, and a
name that does not exist lists them. --sort sorts by any of them, or by write.p99.`,
		Example: `  fio2es runs
  fio2es runs randwrite --where 'start >= 2026-01-01' --sort p99
  fio2es runs --where 'bs=4k and write.p99 > 5ms and start >= 7d'
  fio2es runs same-as:latest --where 'start >= 30d'
  fio2es runs --columns run,name,label.release,bandwidth --sort bandwidth
  fio2es runs --format json | jq -r .run`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if l.limit < 0 {
				return usagef("--limit %d: want 0, for all runs, or more", l.limit)
			}
			if l.filter.Text, l.selectors, err = parseTextOrRuns(args); err != nil {
				return err
			}
			met, err := parseWhere(condition)
			if err != nil {
				return err
			}
			if isIncomplete {
				incomplete, _ := parseWhere("state=incomplete")
				met = where.All(met, incomplete)
			}
			l.filter.Where = met
			if l.names != nil {
				if l.columns, l.filter.Also, err = where.Columns(l.names); err != nil {
					return usagef("--columns: %w", err)
				}
			}
			order, beyond, err := where.OrderOf(sorted)
			if err != nil {
				return usagef("--sort %s: %w", sorted, err)
			}
			l.order, l.filter.Also = order, append(l.filter.Also, beyond...)
			if len(args) > 0 && l.filter.Text == "" && !cmd.Flags().Changed("sort") {
				l.order = nil
			}
			return l.list(cmd.Context())
		},
	}
	fl := cmd.Flags()
	addClusterFlags(fl)
	addWhereFlag(fl, &condition)
	fl.BoolVar(&isIncomplete, "incomplete", false, "only runs that lack something: state=incomplete in --where")
	fl.IntVar(&l.limit, "limit", 0, "at most `N` runs, the first in order")
	fl.StringVar(&sorted, "sort", "start", "sort by a `column`: the latest or highest first, texts from A to Z")
	fl.BoolVar(&l.isReversed, "reverse", false, "reverse the order")
	fl.StringSliceVar(&l.names, "columns", nil, "show these `columns`, such as run,name,p99,pool_profile")
	addChoice(fl, &l.format, "format", "table, csv, csv-exact, markdown, json (an object a line), or document (a run's whole document a line)", runFormats)
	return cmd
}
