package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/internal/shared"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/tidy"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

func rmCommand(e *env) *cobra.Command {
	r := &rmCall{changeCall: changeCall{env: e}}
	cmd := &cobra.Command{
		Use: "rm [RUN...]", SuggestFor: []string{"delete", "remove"},
		Short: "Remove runs from the history",
		Long: `Removes runs and all their documents from the history: RUN is ` + runHelp + `,
or a condition. --where and --older-than limit these, and without RUN choose
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
			choice, err := r.chooseRuns(args, r.olderThan)
			if err != nil {
				return err
			}
			if err := r.canAsk(); err != nil {
				return err
			}
			if r.files {
				return r.removeFiles(cmd.Context(), choice)
			}
			return r.remove(cmd.Context(), choice)
		},
	}
	cmd.Flags().BoolVar(&r.files, "files", false, "remove the files that fio2es run keeps of these runs, and keep the runs")
	r.addFlags(cmd.Flags(), "")
	return cmd
}

type rmCall struct {
	changeCall
	files bool
}

func (r *rmCall) remove(ctx context.Context, choice tidy.Choice) error {
	return r.chosen(ctx, choice, !r.dryRun, func(store history.Store, chosen *query.Chosen) error {
		if r.print(chosen.Runs); r.dryRun {
			return nil
		}
		if ok, err := r.ask(ctx, "Remove "+unit.Plural(len(chosen.Runs), "run")); err != nil || !ok {
			return err
		}
		n := 0
		removed, err := tidy.Remove(ctx, shared.Store{Store: store}, chosen.Runs, time.Now(), func(run *mapping.Run) {
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
	})
}

// print lists the first runs that will be removed. Errors are recorded by stdout.
func (r *rmCall) print(runs []*mapping.Run) {
	const most = 20
	first, last := runs[len(runs)-1], runs[0]
	text := unit.Plural(len(runs), "run") + ", started " + facts.StartedInZone(first)
	if len(runs) > 1 {
		text += " to " + facts.StartedInZone(last)
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

// removeFiles removes the folders in which fio2es run has the files of the chosen runs. The runs stay in the
// history. A folder stays if it has a log or a report that the history does not have.
func (r *rmCall) removeFiles(ctx context.Context, choice tidy.Choice) error {
	return r.chosen(ctx, choice, false, func(store history.Store, chosen *query.Chosen) error {
		var folders []string
		var bytes int64
		for _, run := range chosen.Runs {
			folder, ok := r.folders().Stored(run.Run.Archive)
			if !ok || slices.Contains(folders, folder) { // the stages of an execution share one
				continue
			}
			if err := checkStored(ctx, r.env, store, run.Run.ID, folder); err != nil {
				r.leaveOut(fmt.Sprintf("%s stays: %v", shortHome(folder), err))
				continue
			}
			size := record.Size(folder)
			folders, bytes = append(folders, folder), bytes+size
			term.Line(r.stdout, "  %s  %s  %s  %s", facts.ShortID(run.Run.ID), facts.Title(run), unit.Bytes(size), shortHome(folder))
		}
		if len(folders) == 0 {
			r.log.Info("note: " + shortHome(string(r.folders())) + " has no files of these runs that can be removed")
			return nil
		}
		what := fmt.Sprintf("the files of %s, %s", unit.Plural(len(folders), "run"), unit.Bytes(bytes))
		if r.dryRun {
			return nil
		}
		if ok, err := r.ask(ctx, "Remove "+what); err != nil || !ok {
			return err
		}
		for _, folder := range folders {
			if err := errors.Join(ctx.Err(), os.RemoveAll(folder)); err != nil {
				return err
			}
		}
		fmt.Fprintf(r.stderr, "removed %s; the runs stay in the history\n", what)
		return nil
	})
}

// checkStored fails if a folder has a log or a report from which the run with this id was not read.
func checkStored(ctx context.Context, e *env, store history.Store, id, folder string) error {
	run, err := store.Run(ctx, id)
	if err != nil {
		return err
	}
	archive, err := pipeline.Open(ctx, []string{folder}, nil, nil)
	if err != nil {
		return err
	}
	defer archive.Close()
	var all []string
	isMissing := false // a stage of one of its executions is not in the history
	for _, one := range archive.Runs {
		for stage, err := range pipeline.Stages(ctx, one, e.options(), true) {
			if err != nil {
				return err
			}
			x, err := stage.Execution(ctx)
			if err != nil {
				return err
			}
			if x == nil { // nothing of it can be read
				isMissing = true
				continue
			}
			found, err := ingest.Find(ctx, store, x)
			if err != nil {
				return err
			}
			all, isMissing = append(all, x.Source.Hashes()...), isMissing || found.Have == nil
		}
	}
	e.logProblems(archive)
	stored := run.Source.Hashes()
	if len(all) == 0 || isMissing || len(archive.Problems) > 0 || slices.ContainsFunc(all, func(hash string) bool { return !slices.Contains(stored, hash) }) {
		return fmt.Errorf("the history does not have all of it: store it with fio2es ingest, or remove it yourself: rm -r '%s'", filepath.ToSlash(folder))
	}
	return nil
}
