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

func ingestCommand(e *env) *cobra.Command {
	how := ingesting{env: e, format: table.Text}
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
--labels NAME= removes one. Labels and notes of fio2es label and note stay, too.
A run that was removed (fio2es rm) is left out, unless --restore takes it back.

stdout has a table of the runs. With --output, documents go to a file (or with - to
stdout) and not to the history, as NDJSON for the _bulk request of Elasticsearch.`,
		Example: `  fio2es ingest results/
  fio2es ingest --labels osd=bluestore cbt-2026-11-21.tar.zst
  ssh lab tar c -C /data/cbt . | fio2es ingest --archive cbt -
  fio2es ingest --output - results/ | gzip > results.ndjson.gz`,
		Args: cobra.MinimumNArgs(1),
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
	fl.BoolVar(&how.force, "force", false, "store unchanged runs again, and replace runs of which the history has more files")
	fl.BoolVar(&how.restore, "restore", false, "also store runs that were removed from the history (fio2es rm)")
	fl.BoolVar(&how.dryRun, "dry-run", false, "list what would be stored, what would not, and why")
	addPickFlags(fl, &how.pick)
	fl.StringVar(&how.pick.Shard, "shard", "", "`I/N`: the I-th of N parts of the runs, to share them among machines")
	addChoice(fl, &how.format, "format", "of the list of runs: table, csv, csv-exact, markdown, json (an object a line), or document (a run document a line)", runFormats)
	return cmd
}

// ingesting is one ingest.
type ingesting struct {
	*env
	output        string // a file; empty: the history
	force, dryRun bool
	restore       bool // also runs that people removed
	pick          query.Pick
	format        string
}

func (g *ingesting) ingest(ctx context.Context, paths []string) error {
	opt := g.options()
	opt.Force = g.force
	wanted, err := g.pick.Compile()
	if err != nil {
		return err
	}
	archive, err := pipeline.Open(ctx, paths, g.stdin, func(p source.Progress) {
		g.progress.Show("looking: %s files, %s", unit.Count(int64(p.Files)), unit.Bytes(p.Bytes))
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
	leftOut := g.logProblems(archive)
	if len(archive.Runs) == 0 {
		return pipeline.NoRuns(paths)
	}
	runs := slices.DeleteFunc(slices.Clone(archive.Runs), func(r *cbt.Run) bool { return !wanted(opt.ArchiveOf(r), r.Path) })
	if g.dryRun {
		return g.plan(ctx, opt, archive, runs)
	}
	began := time.Now()
	result, err := g.store(ctx, runs, ingest.Options{Pipeline: opt, Log: g.log, Restore: g.restore, Progress: newBar(g.progress, runs).show})
	if err != nil {
		return err
	}
	g.progress.Clear()
	to := g.stdout
	if g.output != "" {
		to = g.stderr
	}
	if err := writeRuns(to, result.Runs(), nil, g.format); err != nil {
		return err
	}
	if g.format == table.Text {
		g.printSums(&result, time.Since(began))
	}
	return leftOutIf(nil, leftOut || result.LeftOut)
}

// store stores runs in the history that the settings name, or in a file.
func (g *ingesting) store(ctx context.Context, runs []*cbt.Run, options ingest.Options) (result ingest.Result, err error) {
	if g.output != "" {
		err = g.writeOutput(g.output, func(w io.Writer) (err error) {
			result, err = ingest.Runs(ctx, ingest.Target{Sink: ndjson.New(w, g.cfg.Prefix)}, runs, options)
			return err
		})
		return result, err
	}
	rules, err := g.rules()
	if err != nil {
		return result, err
	}
	to, closeStore, err := g.history().target(ctx, rules)
	if err != nil {
		return result, err
	}
	result, err = ingest.Runs(ctx, to, runs, options)
	leftOut, err := closed(closeStore, err)
	result.LeftOut = result.LeftOut || leftOut
	if errors.Is(err, context.Canceled) {
		g.log.Info(fmt.Sprintf("note: %d of %s were read, and are stored; the same command stores the rest",
			len(result.Stored), unit.Plural(len(runs), "run")))
	}
	return result, err
}

// printSums prints how much was stored, where, and what to do next.
func (g *ingesting) printSums(result *ingest.Result, took time.Duration) {
	runs, requests := result.Runs(), int64(0)
	for _, r := range runs {
		if r.All != nil {
			requests += r.All.Requests
		}
	}
	documents, unchanged := result.Count()
	fmt.Fprintf(g.stderr, "\n%s stored %s in %s: %s requests",
		unit.Plural(len(runs), "run"), unit.Plural(documents, "document"), unit.Elapsed(took), unit.Count(requests))
	if unchanged > 0 {
		fmt.Fprintf(g.stderr, "; %s unchanged", unit.Count(int64(unchanged)))
	}
	fmt.Fprintln(g.stderr)
	if g.output == "" {
		term.Line(g.stderr, "history: %s", g.history().name())
		fmt.Fprint(g.stderr, "next:    fio2es runs\n         fio2es percentiles latest\n")
	}
}
