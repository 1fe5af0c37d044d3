package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/record"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/tidy"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
)

// removeFiles removes the folders in which fio2es run has the files of the chosen runs. The runs stay in the
// history. A folder stays if it has a log or a report that the history does not have.
func (r *removing) removeFiles(ctx context.Context, choice tidy.Choice) error {
	return r.chosen(ctx, choice, false, func(store history.Store, chosen *tidy.Chosen) error {
		var folders []string
		var bytes int64
		leftOut := false
		for _, run := range chosen.Runs {
			folder, ok := r.history().folders().Stored(run.Run.Archive)
			if !ok {
				continue
			}
			if err := checkStored(ctx, r.env, store, run.Run.ID, folder); err != nil {
				r.log.Warn(fmt.Sprintf("%s stays: %v", shortHome(folder), err))
				leftOut = true
				continue
			}
			size := record.Size(folder)
			folders, bytes = append(folders, folder), bytes+size
			term.Line(r.stdout, "  %s  %s  %s  %s", facts.ShortID(run.Run.ID), facts.Title(run), unit.Bytes(size), shortHome(folder))
		}
		if len(folders) == 0 {
			r.log.Info("note: " + shortHome(string(r.history().folders())) + " has no files of these runs that can be removed")
			return leftOutIf(nil, leftOut)
		}
		what := fmt.Sprintf("the files of %s, %s", unit.Plural(len(folders), "run"), unit.Bytes(bytes))
		if r.dryRun {
			return leftOutIf(nil, leftOut)
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
		return leftOutIf(nil, leftOut)
	})
}

// errSeen ends the reading of a run when its files are known.
var errSeen = errors.New("its files are known")

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
	for _, one := range archive.Runs {
		_, err := pipeline.Ingest(ctx, one, e.options(), nil, func(_ context.Context, x *pipeline.Execution) (string, *mapping.Run, error) {
			all = append(all, x.Source.Hashes()...)
			return "", nil, errSeen
		})
		if !errors.Is(err, errSeen) {
			return err
		}
	}
	stored := run.Source.Hashes()
	if len(all) == 0 || e.logProblems(archive) || slices.ContainsFunc(all, func(hash string) bool { return !slices.Contains(stored, hash) }) {
		return fmt.Errorf("the history does not have all of it: store it with fio2es ingest, or remove it yourself: rm -r '%s'", filepath.ToSlash(folder))
	}
	return nil
}
