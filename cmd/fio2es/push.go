package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
	"github.com/fio2es/fio2es/pipeline"
	"github.com/fio2es/fio2es/pipeline/sink"
)

func (a *app) pushCommand() *cobra.Command {
	output, rejects := "", ""
	cmd := &cobra.Command{
		Use:   "push [TEXT]",
		Short: "Move the embedded history into an Elasticsearch cluster",
		Long: `Sends the runs of the embedded history, all or those with TEXT in their id, name,
archive, path, benchmark, mode or a label, into the cluster. Runs that are there
in the same version are left alone, so that a push can be repeated, and goes on
where it was interrupted. The embedded history stays as it is.

With --rejects, the documents in a reject file are sent once more, after what they
were refused for was mended; elasticsearch.rejects names the file that ingest and
push write. Those that are refused again go into that file again.

With --output, documents go to a file (or with - to stdout) as NDJSON, ready for
the _bulk request of Elasticsearch.`,
		Example: `  fio2es push --elasticsearch https://es.example.com:9200
  fio2es push --output - | gzip > history.ndjson.gz`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if rejects != "" {
				return a.pushRejects(cmd.Context(), rejects)
			}
			return a.push(cmd.Context(), strings.Join(args, ""), output)
		},
	}
	addClusterFlags(cmd.Flags())
	cmd.Flags().StringVar(&output, "output", "", "write NDJSON to this file, - for stdout, instead of a cluster")
	cmd.Flags().StringVar(&rejects, "rejects", "", "send the documents of this reject file once more")
	return cmd
}

func (a *app) push(ctx context.Context, text, output string) (err error) {
	if output == "" && !a.cfg.Elasticsearch.Enabled() {
		return usagef("no cluster is named: say --elasticsearch URL, or set elasticsearch.addresses")
	}
	from, err := history.OpenSQLite(ctx, a.cfg.History)
	if err != nil {
		return err
	}
	defer from.Close()
	var to pipeline.Sink
	var there history.Store
	switch output {
	case "":
		store, closeStore, err := a.openHistory(ctx, true)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closeStore()) }()
		to, there = store, store
	case "-":
		to = sink.NewNDJSON(a.stdout, a.cfg.Prefix)
	default:
		f, err := os.Create(output)
		if err != nil {
			return err
		}
		defer f.Close()
		to = sink.NewNDJSON(f, a.cfg.Prefix)
	}
	runs, documents, same := 0, 0, 0
	for r, err := range from.Runs(ctx, history.RunFilter{Text: text}) {
		if err != nil {
			return err
		}
		a.progress.Show("run %d: %s", runs+same+1, describe(r))
		if have, err := inStore(ctx, there, r.Run.ID); err != nil {
			return err
		} else if have != nil && have.Run.Ingest == r.Run.Ingest {
			same++
			continue
		}
		n, err := pushRun(ctx, from, to, r)
		if err != nil {
			return fmt.Errorf("push %s: %w", describe(r), err)
		}
		runs, documents = runs+1, documents+n
	}
	a.progress.Clear()
	fmt.Fprintf(a.stderr, "%s with %s pushed; %s there already\n", plural(runs, "run"), plural(documents, "document"), unit.Count(int64(same)))
	return nil
}

// inStore is what a store has of a run; nil for nothing.
func inStore(ctx context.Context, store history.Store, id string) (*mapping.Run, error) {
	if store == nil {
		return nil, nil
	}
	have, err := store.Run(ctx, id)
	if errors.Is(err, history.ErrNotFound) || errors.Is(err, history.ErrNoIndex) {
		return nil, nil
	}
	return have, err
}

// pushBatch is how many documents are handed over at once.
const pushBatch = 500

// pushRun sends one run with all its documents.
func pushRun(ctx context.Context, from history.Store, to pipeline.Sink, r *mapping.Run) (int, error) {
	n := 0
	for _, level := range []mapping.Level{mapping.Cluster, mapping.Host, mapping.Job} {
		var docs []*mapping.Interval
		for d, err := range from.Intervals(ctx, history.Selection{Runs: []string{r.Run.ID}, Level: level}) {
			if err != nil {
				return n, err
			}
			docs = append(docs, d)
			if n++; len(docs) == pushBatch {
				if err := to.Put(ctx, docs); err != nil {
					return n, err
				}
				docs = nil
			}
		}
		if len(docs) > 0 {
			if err := to.Put(ctx, docs); err != nil {
				return n, err
			}
		}
	}
	return n, to.Finish(ctx, r)
}
