package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/ndjson"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/mapping"
)

func (a *app) pushCommand() *cobra.Command {
	output, rejects := "", ""
	cmd := &cobra.Command{
		Use:   "push [TEXT]",
		Short: "Move the embedded history into an Elasticsearch cluster",
		Long: `Sends the runs of the embedded history, all or those with TEXT in their id, name,
archive, path, benchmark, mode or a label, into the cluster. Runs that are there
in the same version with all of their documents are left alone, so that a push can
be repeated, and goes on where it was interrupted. The embedded history stays as it is.

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
	p := &pushing{app: a, ends: newFinishing(1)}
	if p.from, err = a.readEmbedded(ctx); err != nil {
		return err
	}
	defer p.from.Close()
	closeTo, err := p.open(ctx, output)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeTo(err)) }()
	if err := p.all(ctx, history.RunFilter{Text: text}); err != nil {
		return err
	}
	a.progress.Clear()
	fmt.Fprintf(a.stderr, "%s with %s pushed; %s there already\n", unit.Plural(p.runs, "run"), unit.Plural(p.documents, "document"), unit.Count(int64(p.same)))
	if p.leftOut {
		return errLeftOut
	}
	return nil
}

// open opens what is written to. The function returned closes it; what failed keeps a file
// from taking the place of an old one.
func (p *pushing) open(ctx context.Context, output string) (func(failed error) error, error) {
	switch output {
	case "":
		to, closeTo, err := p.openCluster(ctx)
		if err != nil {
			return nil, err
		}
		p.to, p.there, p.ends = to, to, newFinishing(mostFinishing)
		return func(error) error { return closeTo() }, nil
	case "-":
		p.to = ndjson.New(p.stdout, p.cfg.Prefix)
		return func(error) error { return nil }, nil
	}
	f, err := createFile(output)
	if err != nil {
		return nil, err
	}
	p.to = ndjson.New(f, p.cfg.Prefix)
	return f.close, nil
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
