package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/tidy"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

func rmCommand(e *env) *cobra.Command {
	r := &removing{changing: changing{env: e}}
	cmd := &cobra.Command{
		Use:   "rm [RUN...]",
		Short: "Remove runs from the history",
		Long: `Removes runs and all their documents from the history: RUN is an id or its beginning,
latest, latest~1 (the one before), last:5 (the five newest), same-as:RUN (all with its
settings), or a condition. --where and --older-than limit these, and without them choose
all runs that match. It shows what it
will remove and asks, or with --yes does not ask.

The next ingest of the same files leaves removed runs out; ingest --restore takes them
back. follow and push do the same. Runs are removed one at a time: after an interrupt
the same command removes the rest. A run that is being followed is not removed.

--files removes files and keeps the runs in the history: of the runs chosen, the folders
that fio2es run made beside the history, in runs/. A folder with logs or reports that the
history does not have stays.`,
		Example: `  fio2es rm 4f1d2c3a
  fio2es rm --where 'label.purpose=test' --older-than 90d --dry-run
  fio2es rm --older-than 2y --yes
  fio2es rm --files --older-than 30d`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			choice, err := chooseRuns(args, r.condition, r.olderThan)
			if err != nil {
				return err
			}
			if err := r.canAsk("remove", "removed"); err != nil {
				return err
			}
			if r.files {
				return r.removeFiles(cmd.Context(), choice)
			}
			return r.remove(cmd.Context(), choice)
		},
	}
	cmd.Flags().BoolVar(&r.files, "files", false, "remove the files that fio2es run keeps of these runs, and keep the runs")
	r.addFlags(cmd.Flags(), "", "show what would be removed, and remove nothing")
	return cmd
}

type removing struct {
	changing
	files bool
}

func (r *removing) remove(ctx context.Context, choice tidy.Choice) error {
	return r.chosen(ctx, choice, !r.dryRun, func(store history.Store, chosen *tidy.Chosen) error {
		if r.print(chosen.Runs); r.dryRun {
			return nil
		}
		if ok, err := r.ask(ctx, "Remove "+unit.Plural(len(chosen.Runs), "run")); err != nil || !ok {
			return err
		}
		return r.removeAll(ctx, store, chosen)
	})
}

// print lists the first runs that will be removed. Errors are recorded by stdout.
func (r *removing) print(runs []*mapping.Run) {
	const most = 20
	first, last := runs[len(runs)-1], runs[0]
	text := unit.Plural(len(runs), "run") + ", started " + facts.StartedUTC(first)
	if len(runs) > 1 {
		text += " to " + facts.StartedUTC(last)
	}
	term.Line(r.stdout, "%s:", text)
	for _, run := range runs[:min(len(runs), most)] {
		line := fmt.Sprintf("  %s  %s  %s", facts.ShortID(run.Run.ID), facts.Started(run), facts.Title(run))
		if run.Run.Note != "" {
			line += "  (" + run.Run.Note + ")"
		}
		term.Line(r.stdout, "%s", line)
	}
	if n := len(runs) - most; n > 0 {
		term.Line(r.stdout, "  and %s more", unit.Count(int64(n)))
	}
}

func (r *removing) removeAll(ctx context.Context, store history.Store, chosen *tidy.Chosen) error {
	n := 0
	removed, err := chosen.Remove(ctx, store, time.Now(), func(run *mapping.Run) {
		n++
		r.progress.Show("removing %d of %d: %s", n, len(chosen.Runs), facts.Title(run))
	})
	r.progress.Clear()
	if err != nil {
		r.log.Info(fmt.Sprintf("note: removed %s of %s; the same command removes the rest", unit.Count(int64(removed)), unit.Plural(len(chosen.Runs), "run")))
		return err
	}
	fmt.Fprintf(r.stderr, "removed %s; fio2es ingest --restore stores them again from their files\n", unit.Plural(removed, "run"))
	return nil
}
