package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/compact"
	"github.com/fio2es/fio2es/internal/expr"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/tidy"
	"github.com/fio2es/fio2es/internal/unit"
)

func compactCommand(e *env) *cobra.Command {
	c := &compactCall{changeCall: changeCall{env: e}}
	cmd := &cobra.Command{
		Use:   "compact [RUN...]",
		Short: "Make old runs smaller: join their windows to longer ones",
		Long: `Joins the windows of old runs to longer ones: seconds become minutes. Counts add up
bin by bin, so percentiles of the longer windows are exact, and so are those of whole
runs, which do not change. Lists, percentiles, heat maps, reports and dashboards show
such runs in the longer windows. What happened within a minute is gone, but "ingest
--force" stores the shorter windows again while the files are there.

It takes the runs that are older than --older-than and meet --where, or those that are
named. It shows what it will do and asks, or with --yes does not ask. One run at a
time, it stores the longer windows, compares them with the shorter ones, and only then
removes these. After an interrupt the same command does the rest. Live and incomplete
runs and those of "--interval auto" stay as they are. The next ingest of the same files
finds them unchanged.

The settings compact.older_than and compact.to are the defaults. No ingest of the same
runs may run meanwhile.`,
		Example: `  fio2es compact --dry-run
  fio2es compact --older-than 90d --to 1m --yes
  fio2es compact --where 'label.purpose=nightly' --older-than 1y --to 10m`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			choice, err := c.choose(args)
			if err != nil {
				return err
			}
			if err := c.canAsk(); err != nil {
				return err
			}
			return c.run(cmd.Context(), choice)
		},
	}
	fl := cmd.Flags()
	c.addFlags(fl, " (default: the setting, 90d)")
	fl.Var((*expr.DurationFlag)(&c.to), "to", "`length` of the windows, a multiple of their own (default: the setting, 1m)")
	return cmd
}

type compactCall struct {
	changeCall
	to time.Duration
}

// choose returns the choice of runs by arguments, flags and settings.
func (c *compactCall) choose(names []string) (tidy.Choice, error) {
	if !c.flags.Changed("to") {
		c.to = c.cfg.Compact.To
	}
	if c.to < time.Millisecond || c.to%time.Millisecond != 0 {
		return tidy.Choice{}, usagef("--to %v (compact.to): want a length such as 1m", c.to)
	}
	if c.olderThan == "" && len(names) == 0 {
		c.olderThan = c.cfg.Compact.OlderThan
	}
	return c.chooseRuns(names, c.olderThan)
}

func (c *compactCall) run(ctx context.Context, choice tidy.Choice) error {
	return c.chosen(ctx, choice, !c.dryRun, func(store history.Store, chosen *query.Chosen) error {
		plan := compact.NewPlan(chosen.Runs, c.to)
		if plan.Print(c.stdout, c.to); c.dryRun {
			return nil
		}
		done, err := compact.Resume(ctx, store, plan.Last)
		if done && err == nil {
			c.log.Info(fmt.Sprintf("note: finished replacing %s %s: the compaction was interrupted", facts.ShortID(plan.Last.Run.ID), facts.Title(plan.Last)))
		}
		if err != nil || len(plan.Runs) == 0 {
			return err
		}
		if ok, err := c.ask(ctx, "Join the windows of "+unit.Plural(len(plan.Runs), "run")); err != nil || !ok {
			return err
		}
		return c.all(ctx, store, plan)
	})
}

// all compacts the runs, one after the other. It continues after a run that cannot be compacted.
func (c *compactCall) all(ctx context.Context, store history.Store, plan *compact.Plan) error {
	runs, before, after := 0, 0, 0
	var uneven []compact.LeftOut
	for i, r := range plan.Runs {
		c.progress.Show("run %d of %d: %s", i+1, len(plan.Runs), facts.Title(r))
		old, now, err := compact.Run(ctx, store, r.Run.ID, c.to, time.Now())
		switch {
		case err == nil:
			runs, before, after = runs+1, before+old.Documents.All(), after+now.Documents.All()
		case errors.Is(err, compact.ErrUneven): // it stays so, and must not make every nightly job fail
			uneven = append(uneven, compact.LeftOut{Run: r, Reason: err.Error()})
		case errors.Is(err, compact.ErrLacking), errors.Is(err, compact.ErrVerify), errors.Is(err, history.ErrReplaced), errors.Is(err, history.ErrRejected),
			errors.Is(err, history.ErrNotFound), history.IsSkipped(err): // it is only about this run
			c.leaveOut(fmt.Sprintf("run %s (%s): left as it is: %v", facts.ShortID(r.Run.ID), facts.Title(r), err))
		default:
			c.progress.Clear()
			c.log.Info(fmt.Sprintf("note: compacted %s of %s; the same command does the rest", unit.Count(int64(runs)), unit.Plural(len(plan.Runs), "run")))
			return err
		}
	}
	c.progress.Clear()
	fmt.Fprintf(c.stderr, "compacted %s: %s became %s\n", unit.Plural(runs, "run"), unit.Plural(before, "document"), unit.Count(int64(after)))
	for _, line := range compact.ByReason(uneven) {
		c.log.Info("note: left out: " + line)
	}
	if runs > 0 {
		c.reclaim(ctx, store)
	}
	return nil
}

// reclaim returns the space of removed documents to the file system. A cluster does this itself.
func (e *env) reclaim(ctx context.Context, store history.Store) {
	s, ok := store.(interface {
		Reclaim(ctx context.Context) (int64, error)
	})
	if !ok {
		e.log.Info("note: Elasticsearch frees the room of the removed documents when it merges segments")
		return
	}
	e.progress.Show("making the file smaller")
	freed, err := s.Reclaim(ctx)
	e.progress.Clear()
	switch {
	case err != nil:
		e.log.Warn(fmt.Sprintf("the file did not become smaller, but the next runs use its free room: %v", err))
	case freed > 0:
		fmt.Fprintf(e.stderr, "%s is %s smaller\n", e.historyName(), unit.Bytes(freed))
	default:
		e.log.Info("note: less than a quarter of the file is free: the next runs use that")
	}
}
