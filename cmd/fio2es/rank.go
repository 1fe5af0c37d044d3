package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/hist"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
)

func (a *app) rankCommand() *cobra.Command {
	f := &format{table.Text, table.Formats}
	q := &query.Query{}
	var texts []string
	cmd := &cobra.Command{
		Use:   "rank X... --within LATENCY",
		Short: "How many requests were served within a latency",
		Long: `Prints how many requests were served within a latency, and their share: the percentile
rank. X is a path, as for ingest (nothing is stored), or a run in the history: its id,
the beginning of it, or "latest".

--from and --to bound the time: a time of day in UTC (09:12), a date and time
(2026-01-31T09:12:00Z), or a time since the run's start (+90s). A window counts if its
midpoint is in range; the actual span is printed.

SERVED is exact except for the bin of the latency, whose requests count as evenly spread
within it: AT LEAST leaves them out, AT MOST counts them all. ≥ marks a latency in fio's
last bin, which has no upper end: SERVED counts the requests below that bin.`,
		Example: `  fio2es rank latest --within 100ms
  fio2es rank latest --within 1ms,10ms,100ms --from 09:12 --to 09:46
  fio2es rank results/ --within 5ms --direction read --host client01`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			within, err := parseWithin(texts)
			if err == nil {
				err = q.Check()
			}
			if err == nil {
				err = onlyPaths(args)
			}
			if err != nil {
				return err
			}
			r := &reading{app: a}
			return r.end(r.rank(cmd.Context(), args, q, within, table.New(a.stdout, f.string, rankColumns)))
		},
	}
	addReadingFlags(cmd.Flags())
	addClusterFlags(cmd.Flags())
	fl := cmd.Flags()
	fl.StringSliceVar(&texts, "within", nil, "latencies, such as 500us,10ms,1s")
	addQueryFlags(fl, q)
	fl.Var(f, "format", "table, csv, markdown, or json: an object a line")
	return cmd
}

// parseWithin reads latencies.
func parseWithin(texts []string) (within []time.Duration, err error) {
	for _, text := range texts {
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil || d < 0 {
			return nil, usagef("--within %s: want a latency such as 500us, 10ms or 1s", text)
		}
		within = append(within, d)
	}
	if len(within) == 0 {
		return nil, usagef("--within: want a latency such as 100ms")
	}
	return within, nil
}

// rank counts, in the runs that args name, how many requests took no longer than each of within.
func (r *reading) rank(ctx context.Context, args []string, q *query.Query, within []time.Duration, to *table.Writer[*rankRow]) error {
	q.Totals = q.WantsAll()
	var empty []error // runs without matching windows
	err := r.runs(ctx, args, func(run *query.Run, _ bool) error {
		sums := &rankSums{run: run.Name, sums: map[string]*hist.Histogram{}}
		doc, err := r.read(ctx, run, q, sums.add)
		if err != nil || doc == nil {
			return err
		}
		if len(sums.sums) == 0 {
			empty = append(empty, run.NoMatch(doc))
			return nil
		}
		return sums.write(to, &doc.Run, within)
	})
	if err != nil {
		return err
	}
	return errors.Join(append(empty, to.Flush())...)
}
