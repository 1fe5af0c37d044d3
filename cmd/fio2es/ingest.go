package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/facts"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/ndjson"
	"github.com/fio2es/fio2es/internal/history/sqlite"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/nightly"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/table"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/internal/where"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/assign"
	"github.com/fio2es/fio2es/pipeline/source"
)

func ingestCommand(e *env) *cobra.Command {
	how := ingestCall{env: e, format: table.Text}
	cmd := &cobra.Command{
		Use: "ingest PATH...", SuggestFor: []string{"import", "add"},
		Short: "Store the runs found in archives, folders and logs",
		Long: `Finds all runs under the paths, makes interval documents and a run document of
each, and stores them in the history. A path is a CBT or pbench-fio archive, a
folder of fio logs, a log or report of any name, or - for stdin. All of these may be
in tar or zip files, and compressed (gzip, zstd, xz, bzip2). fio's report is found
beside its logs.

Hosts are known from the names of CBT, pbench-fio and fio --client. Otherwise pass
--one-run: the arguments are HOST=PATH, or folders with the names of their hosts, and
all are one run. A note names the call where folders look like hosts of one run.

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
files reads only what changed. It counts the documents of their runs, and stores again
what is missing. With --verify it reads all of the files. Files that are damaged are
reported by each ingest, with exit code 3, until they change, or --exclude leaves out
their run.

stdout has a table of the runs that are new, the newest first. With --output, documents go to a file
(or with - to stdout) and not to the history, as NDJSON for the _bulk request of
Elasticsearch.`,
		Example: `  fio2es ingest results/
  fio2es ingest --labels osd=bluestore cbt-2026-11-21.tar.zst
  fio2es ingest --one-run node01=/tmp/a node02=/tmp/b
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
	addSettings(fl, "reading", "archive", "labels", "levels", "coarsen", "confidence", "cluster")
	fl.StringVar(&how.output, "output", "", "write NDJSON to this `file`, or - for stdout, and not to the history")
	fl.BoolVar(&how.force, "force", false, "store unchanged runs again, and replace runs even if the history has more of their files")
	fl.BoolVar(&how.restore, "restore", false, "also store runs that were removed from the history (fio2es rm)")
	fl.BoolVar(&how.dryRun, "dry-run", false, "list what would be stored, what would not, and why")
	fl.BoolVar(&how.verify, "verify", false, "read all files again, even if their sizes, times and inodes did not change")
	fl.BoolVar(&how.quiet, "quiet", false, "print only new runs and warnings, nothing if there are none")
	addPickFlags(fl, &how.pick)
	addOneRunFlag(fl)
	addChoice(fl, &how.format, "format", "of the list of runs: table, csv, markdown, json (an object a line), or document (a run document a line)", runFormats)
	return cmd
}

type ingestCall struct {
	*env
	output        string // a file; empty: the history
	force, dryRun bool
	restore       bool // also store runs that people removed
	verify, quiet bool // read all files; print only what is new
	pick          query.Pick
	format        string
}

func (g *ingestCall) ingest(ctx context.Context, args []string) error {
	paths, hosts, err := g.oneRun(args)
	if err != nil {
		return err
	}
	began, opt := time.Now(), g.options()
	opt.Force = g.force
	wanted := g.pick.Compile()
	if !g.dryRun && g.output == "" {
		if err := g.finishInterrupted(ctx); err != nil {
			return err
		}
	}
	if g.quiet {
		g.setLog(slog.LevelWarn)
	}
	night, memory, closeNight, err := g.night(ctx, paths, hosts, opt)
	defer closeNight()
	if err != nil {
		return err
	}
	if _, err := g.rules(); err != nil { // before any file is read
		return err
	}
	if opt.Coarseness > 0 {
		g.log.Info("note: coarsen " + g.cfg.Coarsen + ": " + config.Coarsened(opt.Coarseness))
	}
	known, ok, err := night.Unchanged(ctx)
	if err != nil {
		return err
	}
	if ok {
		return g.printNews(&ingest.Result{}, known, time.Since(began))
	}
	archive, err := pipeline.Open(ctx, paths, g.stdin, func(p source.Progress) {
		g.progress.Show("looking: %s, %s", unit.Plural(p.Files, "file"), unit.Bytes(p.Bytes))
	}, hosts...)
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
		night.Skipped(nil, p)
	}
	g.logLeft(archive)
	if len(archive.Runs) == 0 {
		return pipeline.NoRuns(paths)
	}
	runs := slices.DeleteFunc(slices.Clone(archive.Runs), func(r *assign.Run) bool { return !wanted(opt.ArchiveOf(r), r.Path) })
	if g.dryRun {
		return g.plan(ctx, opt, archive, runs, g.restore)
	}
	read := func(runs []*assign.Run) (ingest.Result, error) {
		return g.store(ctx, runs, ingest.Options{
			Pipeline: opt, Log: g.log, Restore: g.restore, Progress: progressOf(g.progress, runs),
			Skipped: night.Skipped,
		})
	}
	result, known, err := night.Ingest(ctx, runs, read)
	if err != nil {
		return err
	}
	g.progress.Clear()
	if err := g.printNews(&result, known, time.Since(began)); err != nil {
		return err
	}
	if memory != "" {
		g.remember(ctx, night, memory, runs)
	}
	return nil
}

// store stores runs in the history in the settings, or in a file.
func (g *ingestCall) store(ctx context.Context, runs []*assign.Run, options ingest.Options) (result ingest.Result, err error) {
	rules, err := g.rules()
	if err != nil || len(runs) == 0 && g.output == "" {
		return result, err
	}
	open := func() (ingest.Target, error) { return g.target(ctx, rules) }
	err = g.storeIn(g.output, open, func(to ingest.Target) (err error) {
		result, err = ingest.Runs(ctx, to, runs, options)
		return err
	})
	if g.output == "" && errors.Is(err, context.Canceled) {
		g.log.Info(fmt.Sprintf("note: %d of %s were read, and are stored; the same command stores the rest",
			len(result.Stored), unit.Plural(len(runs), "run")))
	}
	return result, err
}

// storeIn stores runs in a file, as NDJSON, or, without its name, in the history that open opens.
func (e *env) storeIn(file string, open func() (ingest.Target, error), store func(ingest.Target) error) error {
	if file != "" {
		return e.writeOutput(file, func(w io.Writer) error { return store(ingest.Target{Sink: ndjson.New(w, e.cfg.Prefix)}) })
	}
	to, err := open()
	if err != nil {
		return err
	}
	return errors.Join(store(to), to.Store.Close())
}

// printNews prints the new runs, how much was stored, where, and what to do next. known are the runs that were not read.
func (g *ingestCall) printNews(result *ingest.Result, known history.Seen, took time.Duration) error {
	ingest.LogRemoved(g.log, len(known.Removed))
	news := result.News()
	new(where.Order).Sort(news, false) // as runs lists them: the newest first
	facts.KeepTogether(news)
	to := g.stdout
	if g.output != "" {
		to = g.stderr
	}
	if len(news) > 0 || g.format != table.Text && !g.quiet {
		if err := writeRuns(to, news, nil, g.format); err != nil {
			return err
		}
	}
	if g.format != table.Text || g.quiet {
		return nil
	}
	documents, unchanged := result.Count()
	text := unit.Plural(len(news), "run") + " stored"
	if g.cfg.Elasticsearch.Enabled() || g.output != "" {
		text += " as " + unit.Plural(documents, "document")
	}
	text += " in " + unit.Elapsed(took)
	if len(news) > 0 {
		requests := int64(0)
		for _, r := range news {
			if r.All != nil {
				requests += r.All.Requests
			}
		}
		if text = "\n" + text; requests > 0 {
			text += ": " + unit.Count(requests) + " requests"
		}
	}
	if unchanged += len(known.Runs); unchanged > 0 {
		text += "; " + unit.Count(int64(unchanged)) + " unchanged"
	}
	if g.verify {
		text += ", all files read"
	}
	fmt.Fprintln(g.stderr, text)
	if g.output == "" {
		term.Line(g.stderr, "history: %s", g.historyName())
		if len(news) > 0 {
			fmt.Fprint(g.stderr, "next:    fio2es runs\n         fio2es show latest\n")
		}
	}
	return nil
}

// night begins an ingest with what earlier ones remembered, in the history or, if that is in a cluster, in a file of the
// user. memory is its name, or "" if this ingest is not remembered. The returned function closes what was opened.
func (g *ingestCall) night(
	ctx context.Context, paths []string, hosts []assign.HostPath, opt pipeline.Options,
) (n *nightly.Night, memory string, closeAll func(), _ error) {
	n, memory, closeAll = &nightly.Night{
		Settings: fmt.Sprintf("%s %s %q", thisBuild(), opt.Fingerprint(), hosts), Call: fmt.Sprintf("%q %q", paths, g.pick), Restore: g.restore,
		Verify: g.verify, Say: g.leaveOut,
	}, g.cfg.History, func() {}
	cluster := g.cfg.Elasticsearch
	if cluster.Enabled() {
		name := sha256.Sum256(fmt.Appendf(nil, "%q %q", cluster.Addresses, g.cfg.Prefix))
		memory = filepath.Join(config.StateFolder(), fmt.Sprintf("ingests-%x.db", name[:8]))
	}
	if g.output != "" || g.dryRun || g.force || cluster.Enabled() && config.StateFolder() == "" || n.Begin(ctx, paths, time.Now()) != nil {
		return n, "", closeAll, nil
	}
	store, err := sqlite.OpenReadOnly(ctx, memory)
	if err != nil { // opening it for writing reports what is wrong
		return n, memory, closeAll, nil
	}
	n.Memory, n.Store, closeAll = store, store, func() { store.Close() }
	if cluster.Enabled() {
		to, err := g.cluster(ctx)
		if err != nil {
			return n, memory, closeAll, err
		}
		n.Store, closeAll = to, func() { store.Close(); to.Close() }
	}
	return n, memory, closeAll, nil
}

// remember stores what the next ingest needs to know of this one. runs are those that it found.
func (g *ingestCall) remember(ctx context.Context, night *nightly.Night, memory string, runs []*assign.Run) {
	to, err := sqlite.Open(ctx, memory)
	if err == nil {
		err = errors.Join(night.Save(ctx, to, runs), to.Close())
	}
	if err != nil {
		g.log.Info(fmt.Sprintf("note: remember what was read: %v; the next ingest reads all files again", err))
	}
}

// progressOf returns a function that shows how many runs are done, and their share by the size of their files.
func progressOf(p *term.Progress, runs []*assign.Run) func(done int) {
	// work before each run and of all runs, in bytes, with some bytes for each file
	began, work := time.Now(), []int64{0}
	for i, r := range runs {
		work = append(work, work[i]+size(r)+int64(len(r.Files()))*16<<10)
	}
	return func(done int) {
		share := float64(work[done]) / float64(max(work[len(runs)], 1))
		left := ""
		if elapsed := time.Since(began); share > 0.01 && elapsed > time.Second {
			left = ", " + unit.Elapsed(time.Duration(float64(elapsed)*(1-share)/share)) + " left"
		}
		p.Show("%s %3.0f %%  run %d of %d%s", term.Bar(share, 24), share*100, done+1, len(runs), left)
	}
}
