package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/query"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

func pushCommand(e *env) *cobra.Command {
	p := pushCall{env: e}
	cmd := &cobra.Command{
		Use:   "push [TEXT | RUN...]",
		Short: "Copy runs from one history into another: a cluster, a file",
		Long: `Copies runs of the embedded history into the cluster: all, or those with TEXT in
their id, name, archive, path, benchmark, mode, a label or the note, or RUNs as for
runs: latest, last:5, same-as:RUN, several ids, or a condition; --where limits the
choice. It skips runs that are there in the same version with all documents, so an
interrupted push can be repeated. The history that runs come from does not change.

With --into FILE, it merges the history into another embedded one. The history is then
the embedded one (--history), or the cluster if the settings name one (--elasticsearch).

If both have a run in different versions, the better one stays, and a note says so
(docs/history.md). Labels and notes are copied; those made in the other history take
precedence. Runs that were removed there (fio2es rm) are left out, unless --restore takes
them back.

With --output, documents go to a file (or with - to stdout), as NDJSON for the _bulk
request of Elasticsearch.`,
		Example: `  fio2es push --elasticsearch https://es:9200
  fio2es push last:20 --where label.release=reef --elasticsearch https://es:9200
  fio2es push --history laptop.db --into /srv/fio2es/history.db
  fio2es push --output - | gzip > history.ndjson.gz`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if p.into != "" && p.output != "" {
				return usagef("--into and --output exclude one another: give one")
			}
			among, selectors, err := p.textOrRuns(args)
			if err != nil {
				return err
			}
			return p.push(cmd.Context(), among, selectors)
		},
	}
	fl := cmd.Flags()
	addSettings(fl, "cluster")
	addWhereFlag(fl)
	fl.StringVar(&p.into, "into", "", "copy into the embedded history in this `file`; it is made if it does not exist")
	fl.StringVar(&p.output, "output", "", "write NDJSON to this `file`, or - for stdout, and not to a cluster")
	fl.BoolVar(&p.restore, "restore", false, "also push runs that were removed from the other history (fio2es rm)")
	return cmd
}

type pushCall struct {
	*env
	into, output string // paths of files
	restore      bool   // also push runs that people removed from the other history
}

// push copies the runs that a filter selects. With selectors, it copies only those of them that the selectors name.
func (p *pushCall) push(ctx context.Context, among history.RunFilter, selectors []*query.Selector) error {
	if p.into == "" && p.output == "" && !p.cfg.Elasticsearch.Enabled() {
		return usagef("no cluster: give --elasticsearch URL, or set elasticsearch.addresses; or the file of another history with --into")
	}
	from, err := p.source(ctx)
	if err != nil {
		return err
	}
	defer from.Close()
	if len(selectors) > 0 {
		var runs []*mapping.Run
		among.Light = true
		if runs, err = p.selectRuns(ctx, from, among, selectors); err != nil {
			return err
		}
		among = history.RunFilter{Where: query.OneOf(runs)}
	}
	opt := ingest.PushOptions{
		Filter: among, Restore: p.restore, Log: p.log,
		Progress: func(n int, name string) { p.progress.Show("run %d: %s", n, name) },
	}
	var pushed ingest.Pushed
	err = p.storeIn(p.output, func() (ingest.Target, error) { return p.target(ctx) }, func(to ingest.Target) (err error) {
		pushed, err = ingest.Push(ctx, from, to, opt)
		return err
	})
	if err != nil {
		return err
	}
	p.progress.Clear()
	p.leftOut = p.leftOut || pushed.LeftOut
	fmt.Fprintf(p.stderr, "%s with %s pushed; %s there already\n",
		unit.Plural(pushed.Runs, "run"), unit.Plural(pushed.Documents, "document"), unit.Count(int64(pushed.Unchanged)))
	return nil
}

// source opens the history to copy from: with --into the one in the settings, otherwise the embedded one.
func (p *pushCall) source(ctx context.Context) (history.Store, error) {
	if p.into != "" {
		return p.openHistory(ctx)
	}
	return p.readEmbedded(ctx)
}

// target opens the history to copy to. Copied runs keep their verdicts on rules.
func (p *pushCall) target(ctx context.Context) (ingest.Target, error) {
	if p.into == "" {
		store, err := p.cluster(ctx)
		return ingest.Target{Sink: store, Store: store, IsCluster: true}, err
	}
	here, err := os.Stat(p.cfg.History)
	there, errThere := os.Stat(p.into)
	if err == nil && errThere == nil && !p.cfg.Elasticsearch.Enabled() && os.SameFile(here, there) {
		return ingest.Target{}, usagef("--into %s is the history itself: name another file, or the history to copy from with --history", shortHome(p.into))
	}
	other := *p.env
	other.cfg.History, other.cfg.Elasticsearch = p.into, config.Elasticsearch{}
	store, err := other.writeEmbedded(ctx)
	return ingest.Target{Sink: store, Store: store}, err
}
