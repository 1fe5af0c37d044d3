package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

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
		Long: `Finds all runs under the paths, makes their interval and run documents, and stores
them in the history. A path is a CBT or pbench-fio archive, a folder of fio logs, a
log or report of any name, a tar or zip of them, compressed or not (gzip, zstd, xz,
bzip2), or - for stdin. Of logs, fio's report is found beside them.

What fio did not log at the end of each job is recovered from its JSON output if
that was written with --output-format=json+.

A run is known by the contents of its files, whatever folder is named and however
it is packed. One that is in the history already is left as it is, if all of its
documents are there, which are counted; missing ones are stored again. If its files,
its labels or the settings changed, it is replaced when all of its new documents
are stored. What has fewer files than the history has, such as the folder of one
host, replaces nothing, unless --force is given. The same job run again is another
run. Labels stay until they are changed; --labels NAME= removes one.

The result on stdout is a table of the runs. With --output, documents go to a
file (or with - to stdout) instead of the history, as NDJSON ready for the _bulk
request of Elasticsearch.`,
		Example: `  fio2es ingest results/
  fio2es ingest --labels osd=bluestore cbt-2026-11-21.tar.zst
  ssh lab tar c -C /data/cbt . | fio2es ingest --archive cbt -
  fio2es ingest --output - results/ | curl -H 'Content-Type: application/x-ndjson' --data-binary @- localhost:9200/_bulk`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			how.format = f.string
			if how.dryRun && how.format != table.Text {
				return usagef("--format %s: --dry-run has tables for people alone: leave --format out", how.format)
			}
			return a.ingest(cmd.Context(), args, how)
		},
	}
	addReadingFlags(cmd.Flags())
	addClusterFlags(cmd.Flags())
	fl := cmd.Flags()
	fl.StringVar(&how.output, "output", "", "write NDJSON to this file, - for stdout, instead of the history")
	fl.BoolVar(&how.force, "force", false, "store runs again, even unchanged ones, and those of which the history has more files")
	fl.BoolVar(&how.dryRun, "dry-run", false, "list what would be ingested, what not, and why")
	fl.StringSliceVar(&how.pick.include, "include", nil, "only runs whose archive:path has this in it; * stands for anything")
	fl.StringSliceVar(&how.pick.exclude, "exclude", nil, "not the runs whose archive:path has this in it")
	fl.StringVar(&how.pick.shard, "shard", "", "I/N: the I-th of N parts of the runs, for several machines")
	fl.Var(f, "format", "of the table of runs: table, csv, markdown, json: an object a line; document: a run's whole document a line")
	return cmd
}

// ingestFlags are the flags of ingest that are no settings.
type ingestFlags struct {
	output        string
	force, dryRun bool
	pick          pick
	format        string
}

func (a *app) ingest(ctx context.Context, paths []string, how ingestFlags) error {
	opt, err := a.cfg.Options()
	if err != nil {
		return usageError{err}
	}
	wanted, err := how.pick.compile()
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
	opt.Force = how.force
	in := &ingesting{app: a, opt: opt, began: time.Now(), ends: newFinishing(1)}
	in.leftOut = a.tellProblems(archive)
	if len(archive.Runs) == 0 {
		return fmt.Errorf("no histogram logs of fio (*_clat_hist.*.log), nor others, under %s", strings.Join(paths, ", "))
	}
	runs := slices.DeleteFunc(slices.Clone(archive.Runs), func(r *cbt.Run) bool { return !wanted(archiveName(opt, r), r.Path) })
	if how.dryRun {
		return a.dryRun(ctx, opt, archive, runs)
	}
	table := a.stdout
	if how.output != "" {
		if err := in.openOutput(how.output); err != nil {
			return err
		}
		table = a.stderr
	} else if err := in.openStore(ctx); err != nil {
		return err
	}
	if err := in.finish(in.all(ctx, runs)); err != nil {
		if errors.Is(err, context.Canceled) && in.store != nil {
			a.log.Info(fmt.Sprintf("note: %d of %s were read; what is stored stays, and the same command stores the rest", len(in.runs), unit.Plural(len(runs), "run")))
		}
		return err
	}
	if err := writeRuns(table, in.runs, how.format); err != nil {
		return err
	}
	if how.format == "table" {
		in.tellNext()
	}
	if in.leftOut {
		return errLeftOut
	}
	return nil
}

func archiveName(opt pipeline.Options, r *cbt.Run) string { return cmp.Or(opt.Archive, r.Archive) }

// tellProblems says what could not be looked into, and what belongs to no run.
func (a *app) tellProblems(archive *pipeline.Archive) bool {
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

// andMore is the end of a message that stands for others, too.
func andMore(n int) string {
	if n == 0 {
		return ""
	}
	return " (and " + unit.Count(int64(n)) + " more like this)"
}

func (a *app) tellResult(res *pipeline.Result) {
	for _, err := range res.Lost {
		a.log.Warn(err.Error())
	}
	for _, err := range res.Notes {
		a.log.Info("note: " + err.Error())
	}
	for _, text := range res.Why {
		a.log.Debug(text)
	}
}

// tellNext says where the documents are and what can be asked now.
func (in *ingesting) tellNext() {
	w, requests := in.stderr, int64(0)
	for _, r := range in.runs {
		if r.All != nil {
			requests += r.All.Requests
		}
	}
	fmt.Fprintf(w, "\n%s stored %s in %s", unit.Plural(len(in.runs), "run"), unit.Plural(in.documents, "document"), unit.Elapsed(time.Since(in.began)))
	fmt.Fprintf(w, ": %s requests", unit.Count(requests))
	if in.unchanged > 0 {
		fmt.Fprintf(w, "; %s unchanged", unit.Count(int64(in.unchanged)))
	}
	if in.store == nil {
		fmt.Fprintln(w)
		return
	}
	fmt.Fprintln(w)
	term.Line(w, "history: %s", in.historyName())
	fmt.Fprint(w, "next:    fio2es runs\n         fio2es percentiles latest\n")
}
