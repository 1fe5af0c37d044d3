package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/source"
)

func ingestCommand(e *env) *cobra.Command {
	how := ingesting{env: e, format: table.Text}
	cmd := &cobra.Command{
		Use:   "ingest PATH...",
		Short: "Store the runs found in archives, folders and logs",
		Long: `Finds all runs under the paths, makes interval documents and a run document of
each, and stores them in the history. A path is a CBT or pbench-fio archive, a
folder of fio logs, a log or report of any name, or - for stdin. All of these may be
in tar or zip files, and compressed (gzip, zstd, xz, bzip2). fio's report is found
beside its logs.

fio does not log the end of each job. It is recovered from fio's JSON report, if
that was written with --output-format=json+.

A run is identified by the contents of its files: neither their folder nor how
they are packed matters. A run that the history has is left as it is. If its files,
its labels or the settings changed, the new version replaces the old one when all of
it is stored. A part of a run, such as the folder of one host, replaces the whole
only with --force. The same job run again is another run. Labels stay until you
change them; --labels NAME= removes one. Labels and notes of fio2es label and note stay.
A run that was removed (fio2es rm) is left out, unless --restore takes it back.

An ingest remembers the sizes, times and inodes of files, so the next one of the same
files reads only what changed. With --verify it reads all of them, counts the
documents of all runs, and stores again what is missing. Files that are damaged are
reported by each ingest, with exit code 3, until they change or --acknowledge is given.

stdout has a table of the runs that are new. With --output, documents go to a file
(or with - to stdout) and not to the history, as NDJSON for the _bulk request of
Elasticsearch.`,
		Example: `  fio2es ingest results/
  fio2es ingest --labels osd=bluestore cbt-2026-11-21.tar.zst
  fio2es ingest --quiet /data/cbt              every night, from cron
  ssh lab tar c -C /data/cbt . | fio2es ingest --archive cbt -
  fio2es ingest --output - results/ | gzip > results.ndjson.gz`,
		Args: arguments(1, many),
		RunE: func(cmd *cobra.Command, args []string) error {
			if how.dryRun && how.format != table.Text {
				return usagef("--format %s: --dry-run prints tables for people only: leave out --format", how.format)
			}
			return how.ingest(cmd.Context(), args)
		},
	}
	fl := cmd.Flags()
	addReadingFlags(fl, "archive", "interval", "labels")
	addLevelsFlag(fl)
	addClusterFlags(fl)
	fl.StringVar(&how.output, "output", "", "write NDJSON to this `file`, or - for stdout, and not to the history")
	fl.BoolVar(&how.force, "force", false, "store unchanged runs again, and replace runs even if the history has more of their files")
	fl.BoolVar(&how.restore, "restore", false, "also store runs that were removed from the history (fio2es rm)")
	fl.BoolVar(&how.dryRun, "dry-run", false, "list what would be stored, what would not, and why")
	how.addFlags(fl)
	addPickFlags(fl, &how.pick)
	fl.StringVar(&how.pick.Shard, "shard", "", "`I/N`: the I-th of N parts of the runs, to share them among machines")
	addChoice(fl, &how.format, "format", "of the list of runs: table, csv, csv-exact, markdown, json (an object a line), or document (a run document a line)", runFormats)
	return cmd
}

type ingesting struct {
	*env
	output        string // a file; empty: the history
	force, dryRun bool
	restore       bool // also store runs that people removed
	pick          query.Pick
	format        string
	remembering
}

func (g *ingesting) ingest(ctx context.Context, paths []string) error {
	began, opt := time.Now(), g.options()
	opt.Force = g.force
	wanted, err := g.pick.Compile()
	if err != nil {
		return err
	}
	night, closeStore, err := g.night(ctx, paths, opt)
	if err != nil {
		return err
	}
	defer closeStore()
	if ok, err := g.unchanged(ctx, night, began); ok || err != nil {
		return err
	}
	archive, err := pipeline.OpenToStore(ctx, paths, g.stdin, func(p source.Progress) {
		g.progress.Show("looking: %s, %s", unit.Plural(p.Files, "file"), unit.Bytes(p.Bytes))
	})
	if err != nil {
		return err
	}
	archive.Until(ctx)
	defer archive.Close()
	g.progress.Clear()
	if err := archive.CheckHosts(opt.Offsets); err != nil && len(archive.Runs) > 0 {
		return usageError{Err: err}
	}
	for _, p := range archive.Problems {
		night.Problem(p)
	}
	g.logLeft(archive, night.IsNews)
	if len(archive.Runs) == 0 {
		return pipeline.NoRuns(paths)
	}
	runs := slices.DeleteFunc(slices.Clone(archive.Runs), func(r *cbt.Run) bool { return !wanted(opt.ArchiveOf(r), r.Path) })
	if g.dryRun {
		return g.plan(ctx, opt, archive, runs)
	}
	rejected := false
	read := func(runs []*cbt.Run) (ingest.Result, error) {
		result, some, err := g.store(ctx, runs, ingest.Options{
			Pipeline: opt, Log: g.log, Restore: g.restore, Progress: progressOf(g.progress, runs), Skipped: night.Skipped,
		})
		rejected = rejected || some
		return result, err
	}
	result, known, err := night.Ingest(ctx, runs, g.verify, read)
	if rejected {
		night.Forget()
	}
	if err != nil {
		return errors.Join(err, night.Save(nil))
	}
	g.progress.Clear()
	if err := g.printNews(&result, known, time.Since(began)); err != nil {
		return err
	}
	for _, name := range night.Wrong {
		g.log.Warn(name + ": its content changed, but not the sizes, times and inodes of its files: ingests without --verify did not notice")
	}
	return g.endNight(night, runs, rejected || len(night.Wrong) > 0)
}
