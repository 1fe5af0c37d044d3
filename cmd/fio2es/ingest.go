package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/history/ndjson"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/cbt"
	"github.com/fio2es/fio2es/pipeline/source"
)

func (a *app) ingestCommand() *cobra.Command {
	f := &format{table.Text, runFormats}
	how := ingestFlags{}
	cmd := &cobra.Command{
		Use:   "ingest PATH...",
		Short: "Store the runs found in archives, folders and logs",
		Long: `Finds all runs under the paths, makes interval documents and a run document of
each, and stores them in the history. A path is a CBT or pbench-fio archive, a
folder of fio logs, a log or report of any name, a tar or zip file of them,
compressed or not (gzip, zstd, xz, bzip2), or - for stdin. fio's report is found
beside its logs.

fio does not log the end of each job. It is recovered from fio's JSON report, if
that was written with --output-format=json+.

A run is identified by the contents of its files: neither their folder nor how
they are packed matters. A run that the history has is left as it is. Its documents
are counted, and stored again if some are missing. If its files, its labels or the
settings changed, the new version replaces the old one when all of it is stored. A
part of a run, such as the folder of one host, replaces the whole only with --force.
The same job run again is another run. Labels stay until you change them;
--labels NAME= removes one.

stdout has a table of the runs. With --output, documents go to a file (or with - to
stdout) and not to the history, as NDJSON for the _bulk request of Elasticsearch.`,
		Example: `  fio2es ingest results/
  fio2es ingest --labels osd=bluestore cbt-2026-11-21.tar.zst
  ssh lab tar c -C /data/cbt . | fio2es ingest --archive cbt -
  fio2es ingest --output - results/ | curl -H 'Content-Type: application/x-ndjson' --data-binary @- localhost:9200/_bulk`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			how.format = f.string
			if how.dryRun && how.format != table.Text {
				return usagef("--format %s: --dry-run prints tables for people only: leave out --format", how.format)
			}
			return a.ingest(cmd.Context(), args, how)
		},
	}
	addReadingFlags(cmd.Flags())
	addLevelsFlag(cmd.Flags())
	addClusterFlags(cmd.Flags())
	fl := cmd.Flags()
	fl.StringVar(&how.output, "output", "", "write NDJSON to this file, or - for stdout, and not to the history")
	fl.BoolVar(&how.force, "force", false, "store unchanged runs again, and replace runs of which the history has more files")
	fl.BoolVar(&how.dryRun, "dry-run", false, "list what would be stored, what would not, and why")
	addPickFlags(fl, &how.pick)
	fl.StringVar(&how.pick.Shard, "shard", "", "I/N: the I-th of N parts of the runs, to share them among machines")
	fl.Var(f, "format", "of the list of runs: table, csv, markdown, json (an object per line), or document (a run document per line)")
	return cmd
}

// ingestFlags are the flags of ingest that are not settings.
type ingestFlags struct {
	output        string
	force, dryRun bool
	pick          query.Pick
	format        string
}

func (a *app) ingest(ctx context.Context, paths []string, how ingestFlags) error {
	opt, err := a.cfg.Options()
	if err != nil {
		return usageError{err}
	}
	opt.Force = how.force
	wanted, err := how.pick.Compile()
	if err != nil {
		return err
	}
	archive, err := pipeline.Open(ctx, paths, a.stdin, func(p source.Progress) {
		a.progress.Show("looking: %s files, %s", unit.Count(int64(p.Files)), unit.Bytes(p.Bytes))
	})
	if err != nil {
		return err
	}
	archive.Until(ctx)
	defer archive.Close()
	a.progress.Clear()
	if err := archive.CheckHosts(opt.Offsets); err != nil && len(archive.Runs) > 0 {
		return usageError{err}
	}
	leftOut := a.logProblems(archive)
	if len(archive.Runs) == 0 {
		return pipeline.NoRuns(paths)
	}
	runs := slices.DeleteFunc(slices.Clone(archive.Runs), func(r *cbt.Run) bool { return !wanted(opt.ArchiveOf(r), r.Path) })
	if how.dryRun {
		return a.dryRun(ctx, opt, archive, runs)
	}
	began := time.Now()
	options := ingest.Options{Pipeline: opt, Log: a.log, Progress: newBar(a.progress, runs).show}
	var result ingest.Result
	if how.output == "" {
		result, err = a.ingestIntoHistory(ctx, runs, options)
	} else {
		err = a.writeOutput(how.output, func(w io.Writer) (err error) {
			result, err = ingest.Runs(ctx, ingest.Target{Sink: ndjson.New(w, a.cfg.Prefix)}, runs, options)
			return err
		})
	}
	if err != nil {
		return err
	}
	a.progress.Clear()
	to := a.stdout
	if how.output != "" {
		to = a.stderr
	}
	if err := writeRuns(to, result.Runs(), how.format); err != nil {
		return err
	}
	if how.format == table.Text {
		a.printIngested(&result, time.Since(began), how.output == "")
	}
	if leftOut || result.LeftOut {
		return errLeftOut
	}
	return nil
}

// ingestIntoHistory stores runs in the history that the settings name.
func (a *app) ingestIntoHistory(ctx context.Context, runs []*cbt.Run, options ingest.Options) (ingest.Result, error) {
	to, closeStore, err := a.openTarget(ctx)
	if err != nil {
		return ingest.Result{}, err
	}
	result, err := ingest.Runs(ctx, to, runs, options)
	leftOut, err := closed(closeStore, err)
	result.LeftOut = result.LeftOut || leftOut
	if errors.Is(err, context.Canceled) {
		a.log.Info(fmt.Sprintf("note: %d of %s were read, and are stored; the same command stores the rest",
			len(result.Stored), unit.Plural(len(runs), "run")))
	}
	return result, err
}

// logProblems reports files that cannot be read and files that belong to no run. It returns whether
// there are files that cannot be read.
func (a *app) logProblems(archive *pipeline.Archive) bool {
	for _, p := range archive.Problems {
		a.log.Warn(p.Error())
	}
	for _, l := range archive.Left {
		if l.Notable {
			a.log.Info("note: " + l.File.Name() + ": " + l.Reason + andMore(l.More))
			continue
		}
		a.log.Debug("belongs to no run: "+l.Reason+andMore(l.More), "file", l.File.Name())
	}
	for _, s := range archive.Skipped {
		a.log.Info("note: skipped " + s.Path + ": " + s.Reason)
	}
	return len(archive.Problems) > 0
}

// andMore is the end of a message that stands for others like it.
func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return " (and " + unit.Count(int64(n)) + " more like this)"
}

// printIngested prints how much was stored, where, and what to do next.
func (a *app) printIngested(result *ingest.Result, took time.Duration, isHistory bool) {
	runs, requests := result.Runs(), int64(0)
	for _, r := range runs {
		if r.All != nil {
			requests += r.All.Requests
		}
	}
	documents, unchanged := result.Count()
	fmt.Fprintf(a.stderr, "\n%s stored %s in %s: %s requests",
		unit.Plural(len(runs), "run"), unit.Plural(documents, "document"), unit.Elapsed(took), unit.Count(requests))
	if unchanged > 0 {
		fmt.Fprintf(a.stderr, "; %s unchanged", unit.Count(int64(unchanged)))
	}
	fmt.Fprintln(a.stderr)
	if isHistory {
		term.Line(a.stderr, "history: %s", a.historyName())
		fmt.Fprint(a.stderr, "next:    fio2es runs\n         fio2es percentiles latest\n")
	}
}
