package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/table"
)

// rankQuery is what is asked: how many requests took no longer than each of within.
type rankQuery struct {
	windowQuery
	within []time.Duration
}

func (a *app) rankCommand() *cobra.Command {
	f := &format{table.Text, table.Formats}
	q := &rankQuery{}
	var within []string
	cmd := &cobra.Command{
		Use:   "rank X... --within LATENCY",
		Short: "How many requests were served within a latency",
		Long: `Prints how many requests were served within a latency, and which share of all that
is: the percentile rank. X is a path, as for ingest (nothing is stored), or a run in
the history: its id, the beginning of it, or "latest".

--from and --to bound the time: a time of day in UTC (09:12), a date and time
(2026-01-31T09:12:00Z), or a time since the run's start (+90s). Windows count whole,
those whose middle lies between the two; what they really span is printed.

SERVED is exact but for the bin that the latency falls into, whose requests are taken
as evenly spread within it: AT LEAST leaves them out, AT MOST counts them all. ≥ marks
a latency in fio's last bin, which has no upper end: SERVED counts what surely took less.`,
		Example: `  fio2es rank latest --within 100ms
  fio2es rank latest --within 1ms,10ms,100ms --from 09:12 --to 09:46
  fio2es rank results/ --within 5ms --direction read --host client01`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := q.parse(within); err != nil {
				return err
			}
			if cmd.Flags().Changed("levels") {
				return usagef("--levels: which documents are asked follows from --host and --job")
			}
			a.cfg.Levels = []string{q.level().String()}
			return a.windows(cmd.Context(), args, newRankWriter(a.stdout, f.string, q))
		},
	}
	addReadingFlags(cmd.Flags())
	addClusterFlags(cmd.Flags())
	fl := cmd.Flags()
	_ = fl.MarkHidden("levels") // it is there
	fl.StringSliceVar(&within, "within", nil, "latencies, such as 500us,10ms,1s")
	q.addFlags(fl)
	fl.Var(f, "format", "table, csv, markdown, or json: an object a line")
	return cmd
}

// parse checks what was asked; within are the latencies as they were written.
func (q *rankQuery) parse(within []string) error {
	for _, text := range within {
		d, err := time.ParseDuration(strings.TrimSpace(text))
		if err != nil || d < 0 {
			return usagef("--within %s: want a latency such as 500us, 10ms or 1s", text)
		}
		q.within = append(q.within, d)
	}
	if len(q.within) == 0 {
		return usagef("--within: want a latency such as 100ms")
	}
	return q.check()
}
