package main

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/follow"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/window"
)

func followCommand(e *env) *cobra.Command {
	opt, pick, format, restore, name := follow.Options{}, query.Pick{}, table.Text, false, ""
	cmd := &cobra.Command{
		Use:   "follow PATH...",
		Short: "Store runs while fio runs",
		Long: `Watches folders, such as the archive that CBT writes to, and stores their runs until
you interrupt it. It begins with the runs that are there already.

A run is over when its files have not changed for --quiet. It is stored then, as by
ingest. fio keeps its logs in memory until a job ends, but with

  fio --status-interval=1 --output-format=json+ --output=FILE ...

it writes a report each second. A run with such reports is stored while fio runs:
each window some 20 seconds later, when no request to come can have been in flight
in it, or when the next stage (stonewall) begins, which is a run of its own. "runs"
calls it live until it is over; then what its files say replaces it.

Rules, from --rule or the settings (see sla), are checked while a run is live: stderr,
and Alertmanager if alerts.alertmanager is set, get what begins to be broken and what is
met again (docs/live.md). A run that is over is checked as by sla; if it breaks a rule,
the exit code is 4.

With --run NAME, what fio does here is a part of the run NAME. Other hosts send the other
parts: see run.

stdout has a line for each window of a live run. After an interrupt (Ctrl-C), what
was read is stored, and the exit code is 0.`,
		Example: `  fio2es follow /data/cbt
  fio2es follow --elasticsearch https://es:9200 /data/cbt
  fio2es follow --rule 'p99 <= 20ms' --rule 'write.iops >= 5k' .
  fio2es follow --run night7 /data/fio     on each host: one run of all
  fio2es follow --idle 10m --format json . | jq .p99_us`,
		Args: arguments(1, many),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			opt.Paths, opt.Window = args, windowLines(e.stdout, format)
			opt.Ingest = ingest.Options{Pipeline: e.options(), Log: e.log, Restore: restore}
			if err := errors.Join(checkFollow(&opt, cmd.Flags().Changed("idle")), e.checkShared(name)); err != nil {
				return err
			}
			opt.Wanted = pick.Compile()
			if opt.Rules, err = e.liveRules(); err != nil {
				return err
			}
			if err := e.finishInterrupted(cmd.Context()); err != nil {
				return err
			}
			to, err := e.target(cmd.Context(), opt.Rules)
			if err != nil {
				return err
			}
			if store, ok := to.Store.(shared.Store).Store.(*clusterStore); ok {
				opt.Stored = func(ctx context.Context) bool { return e.markNews(ctx, store.Store) != nil }
			}
			if name != "" {
				opt.Shared = &follow.Shared{To: to, Options: opt.Ingest, Member: shared.Member{Name: name, Host: e.cfg.HostName()}, Every: opt.Every}
				opt.Host = e.cfg.HostName()
			}
			opt.Alerts = e.alerts(e.log)
			result, err := follow.Follow(cmd.Context(), to, opt)
			opt.Alerts.Close()
			e.leftOut = e.leftOut || result.LeftOut
			if err = errors.Join(err, to.Store.Close()); err == nil && result.Broken {
				return errMet
			}
			return err
		},
	}
	fl := cmd.Flags()
	addSettings(fl, "reading", "archive", "labels", "levels", "coarsen", "confidence", "cluster")
	opt.Every, opt.Quiet = 5*time.Second, 10*time.Second
	fl.Var((*expr.DurationFlag)(&opt.Every), "every", "`time` between two looks for files, and between two updates of a live run")
	fl.Var((*expr.DurationFlag)(&opt.Quiet), "quiet", "a run is over when its files have not changed for this `time`")
	fl.Var((*expr.DurationFlag)(&opt.Idle), "idle", "end when nothing has changed for this `time` (default: run until interrupted)")
	fl.BoolVar(&restore, "restore", false, "also store runs that were removed from the history (fio2es rm)")
	addPickFlags(fl, &pick)
	addRunFlag(fl, &name)
	addSettings(fl, "rule")
	addChoice(fl, &format, "format", "of the windows: table, csv, or json (an object a line)",
		[]string{table.Text, table.CSV, table.JSON})
	return cmd
}

// leastEvery is the shortest time between two looks.
const leastEvery = 100 * time.Millisecond

// checkFollow fails if times contradict one another, or if a path can be read only once. hasIdle reports whether --idle
// is given.
func checkFollow(opt *follow.Options, hasIdle bool) error {
	switch {
	case opt.Every < leastEvery:
		return usagef("--every %v: want at least %v", opt.Every, leastEvery)
	case opt.Quiet < opt.Every:
		return usagef("--quiet %v: want at least --every, %v", opt.Quiet, opt.Every)
	case hasIdle && opt.Idle < opt.Quiet:
		return usagef("--idle %v: want at least --quiet, %v", opt.Idle, opt.Quiet)
	}
	for _, path := range opt.Paths {
		if path == "-" {
			return usagef("-: stdin can be read only once: name a folder")
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return usagef("%s: a pipe or device can be read only once: name a folder or a file", path)
		}
	}
	return nil
}

// windowLines returns a function that writes windows of live runs as they come. A table for people never ends, so the widths of
// its columns are fixed.
func windowLines(to io.Writer, format string) func(*window.Window) error {
	if format != table.Text {
		lines := newPercentiles(to, format, "", 0, &query.Query{})
		return func(w *window.Window) error {
			if err := lines.window(w); err != nil {
				return err
			}
			return lines.to.End()
		}
	}
	const form = "%-*s  %-8s  %-5s  %11s  %8s  %7s  %7s  %7s  %7s  %7s  %7s"
	started := false
	return func(w *window.Window) error {
		end := unit.Heading("TO")
		if !started {
			started = true
			if err := term.Line(to, form, len(end), end, "RUN", "DIR", "REQUESTS", "IOPS", "MEAN", "P50", "P95", "P99", "P99.9", "MAX"); err != nil {
				return err
			}
		}
		a := facts.LatenciesOfWindow(&w.Latency, w.Bounds)
		return term.Line(to, form, len(end), unit.Time(w.End, unit.OfDay), facts.ShortID(w.Run.ID), w.Direction,
			unit.Count(w.Completed), unit.Rate(w.KnownIOPS()),
			a.Text("mean"), a.Text("p50"), a.Text("p95"), a.Text("p99"), a.Text("p99_9"), a.Text("max"))
	}
}
