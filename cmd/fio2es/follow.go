package main

import (
	"context"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/follow"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/mapping"
)

func (a *app) followCommand() *cobra.Command {
	how := followFlags{}
	f := &format{table.Text, []string{table.Text, table.CSV, table.CSVExact, table.JSON}}
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
in it. "runs" calls it live until it is over; then what its files say replaces it.

Rules, from --rule or the settings (see sla), are checked in each window of a live
run: stderr says when one begins to be broken, and when it is met again. A run that
is over is checked as by sla; if it breaks a rule, the exit code is 4.

stdout has a line for each window of a live run. After an interrupt (Ctrl-C), what
was read is stored, and the exit code is 0.`,
		Example: `  fio2es follow /data/cbt
  fio2es follow --elasticsearch https://es:9200 /data/cbt
  fio2es follow --rule 'p99 <= 20ms' --rule 'write.iops >= 5k' .
  fio2es follow --idle 10m --format json . | jq .p99_us`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			how.format = f.string
			how.rules = "sla:"
			if cmd.Flags().Changed("rule") {
				how.rules = "--rule"
			}
			return a.follow(cmd.Context(), args, how)
		},
	}
	addReadingFlags(cmd.Flags())
	addLevelsFlag(cmd.Flags())
	addClusterFlags(cmd.Flags())
	fl := cmd.Flags()
	fl.DurationVar(&how.every, "every", 5*time.Second, "time between two looks for files, and between two updates of a live run")
	fl.DurationVar(&how.quiet, "quiet", 10*time.Second, "a run is over when its files have not changed for so long")
	fl.DurationVar(&how.idle, "idle", 0, "end when nothing has changed for so long (default: run until interrupted)")
	addPickFlags(fl, &how.pick)
	fl.StringArray("rule", nil, "a rule, such as 'p99 <= 10ms' (repeatable)")
	fl.Var(f, "format", "of the windows: table, csv, or json (an object per line)")
	return cmd
}

// followFlags are the flags of follow that are not settings.
type followFlags struct {
	every, quiet, idle time.Duration
	pick               query.Pick
	format             string
	rules              string // where they come from
}

// leastEvery is the shortest time between two looks.
const leastEvery = 100 * time.Millisecond

func (how *followFlags) check() error {
	switch {
	case how.every < leastEvery:
		return usagef("--every %v: want at least %v", how.every, leastEvery)
	case how.quiet < how.every:
		return usagef("--quiet %v: want at least --every, %v", how.quiet, how.every)
	case how.idle < 0 || how.idle > 0 && how.idle < how.quiet:
		return usagef("--idle %v: want at least --quiet, %v", how.idle, how.quiet)
	}
	return nil
}

// canFollow is an error if a path can be read only once.
func canFollow(paths []string) error {
	for _, path := range paths {
		if path == "-" {
			return usagef("-: stdin can be read only once: name a folder")
		}
		if info, err := os.Stat(path); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			return usagef("%s: a pipe or device can be read only once: name a folder or a file", path)
		}
	}
	return nil
}

func (a *app) follow(ctx context.Context, paths []string, how followFlags) error {
	if err := how.check(); err != nil {
		return err
	}
	if err := canFollow(paths); err != nil {
		return err
	}
	opt, err := a.cfg.Options()
	if err != nil {
		return usageError{err}
	}
	options := follow.Options{
		Ingest: ingest.Options{Pipeline: opt, Log: a.log}, Paths: paths,
		Every: how.every, Quiet: how.quiet, Idle: how.idle,
		Window: newFollowWriter(a.stdout, how.format).window,
	}
	if options.Wanted, err = how.pick.Compile(); err != nil {
		return err
	}
	if len(a.cfg.SLA) > 0 {
		if options.Rules, err = parseRules(how.rules, a.cfg.SLA); err != nil {
			return err
		}
		if !slices.Contains(opt.Levels, mapping.Cluster) {
			return usagef("--levels: rules are checked against documents of level cluster: add it")
		}
	}
	to, closeStore, err := a.openTarget(ctx)
	if err != nil {
		return err
	}
	result, err := follow.Follow(ctx, to, options)
	leftOut, err := closed(closeStore, err)
	switch {
	case err != nil:
		return err
	case result.Broken:
		return errMet
	case leftOut || result.LeftOut:
		return errLeftOut
	}
	return nil
}
