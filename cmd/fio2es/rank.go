package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/mapping"
)

// rankQuery is what is asked: how many requests took no longer than each of within, of
// the windows that lie between two times, and of some directions, hosts or jobs alone.
type rankQuery struct {
	within            []time.Duration
	from, to          string // as the user wrote them; empty is no bound
	directions, hosts []string
	jobs              []string
}

func (a *app) rankCommand() *cobra.Command {
	f := &format{"table"}
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
as evenly spread within it: AT LEAST leaves them out, AT MOST counts them all.`,
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
	fl.StringVar(&q.from, "from", "", "the first time: 09:12, 2026-01-31T09:12:00Z or +90s")
	fl.StringVar(&q.to, "to", "", "the time after the last")
	fl.StringSliceVar(&q.directions, "direction", nil, "read, write or trim alone")
	fl.StringSliceVar(&q.hosts, "host", nil, "these hosts alone")
	fl.StringSliceVar(&q.jobs, "job", nil, "these jobs alone: documents of jobs must be there (--levels job at ingest)")
	fl.Var(f, "format", "table, csv, or json: an object a line")
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
	for _, d := range q.directions {
		if d != "read" && d != "write" && d != "trim" {
			return usagef("--direction %s: want read, write or trim", d)
		}
	}
	for flag, text := range map[string]string{"from": q.from, "to": q.to} {
		if _, err := runTime(flag, text, time.Unix(0, 0)); err != nil {
			return err
		}
	}
	return nil
}

// level is the highest one whose documents tell.
func (q *rankQuery) level() mapping.Level {
	switch {
	case len(q.jobs) > 0:
		return mapping.Job
	case len(q.hosts) > 0:
		return mapping.Host
	}
	return mapping.Cluster
}

// whole tells whether the run's own document tells, without any windows.
func (q *rankQuery) whole() bool {
	return q.from == "" && q.to == "" && q.level() == mapping.Cluster
}

// selection is what of a run's documents in the history has a part in the answer. It may
// be a little more than that: the bounds are for the middles of windows.
func (q *rankQuery) selection(run *mapping.Run) (history.Selection, error) {
	sel := history.Selection{Directions: q.directions, Hosts: q.hosts, Jobs: q.jobs}
	from, to, err := q.bounds(run.Run.Name, run.Run.Start)
	if !from.IsZero() {
		const half = 150 // intervals of the longest window that can have been joined
		sel.From = from.Add(-half * time.Duration(run.IntervalMS) * time.Millisecond)
	}
	sel.To = to
	return sel, err
}

// bounds are the times between which windows count, of a run that began at start; a zero
// time is no bound.
func (q *rankQuery) bounds(run string, start time.Time) (from, to time.Time, err error) {
	known := func(text string) bool { return text == "" || strings.HasPrefix(text, "+") }
	if start.Year() < 1970 && !(known(q.from) && known(q.to)) {
		return from, to, fmt.Errorf("%s: when it started is not known: count from its start (--from +90s), or say when that was (--start)", run)
	}
	if from, err = runTime("from", q.from, start); err != nil {
		return from, to, err
	}
	to, err = runTime("to", q.to, start)
	return from, to, err
}

// runTime reads a time of a run that began at start: since its start (+90s), of day (that
// of the start, or the next one where it would be over half a day before the start), or
// with its date. The empty text is the zero time.
func runTime(flag, text string, start time.Time) (time.Time, error) {
	if since, ok := strings.CutPrefix(text, "+"); ok {
		d, err := time.ParseDuration(since)
		if err != nil {
			return time.Time{}, usagef("--%s %s: want a time such as +90s or +1h30m", flag, text)
		}
		return start.Add(d), nil
	}
	for _, layout := range []string{"15:04", "15:04:05"} {
		clock, err := time.Parse(layout, text)
		if err != nil {
			continue
		}
		day := start.UTC().Truncate(24 * time.Hour)
		at := day.Add(time.Duration(clock.Hour())*time.Hour + time.Duration(clock.Minute())*time.Minute + time.Duration(clock.Second())*time.Second)
		if start.Sub(at) > 12*time.Hour {
			at = at.Add(24 * time.Hour)
		}
		return at, nil
	}
	at, err := parseTime(flag, text)
	if err != nil {
		err = usagef("--%s %s: want a time such as 09:12, 2026-01-31T09:12:00Z or +90s", flag, text)
	}
	return at, err
}

// takes tells whether a window has a part in the answer, of those between two times.
func (q *rankQuery) takes(d *mapping.Interval, from, to time.Time) bool {
	middle := d.Time.Add(time.Duration(d.Window.MS) * time.Millisecond / 2)
	return d.Level == q.level() && (from.IsZero() || !middle.Before(from)) && (to.IsZero() || middle.Before(to)) &&
		isWanted(q.directions, d.Fio.Direction) && isWanted(q.hosts, d.Host.Name) && isWanted(q.jobs, d.Fio.Job)
}

// isWanted tells whether a name is one of those that are wanted; none at all are all.
func isWanted(wanted []string, name string) bool {
	return len(wanted) == 0 || slices.Contains(wanted, name)
}
