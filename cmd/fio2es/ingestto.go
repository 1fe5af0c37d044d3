package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fio2es/fio2es/internal/history/ndjson"
	"github.com/fio2es/fio2es/internal/ingest"
	"github.com/fio2es/fio2es/internal/unit"
	"github.com/fio2es/fio2es/pipeline/cbt"
)

// store stores runs in the history in the settings, or in a file. rejected reports whether the cluster rejected
// documents.
func (g *ingesting) store(ctx context.Context, runs []*cbt.Run, options ingest.Options) (result ingest.Result, rejected bool, err error) {
	if g.output != "" {
		err = g.toFile(g.output, func(to ingest.Target) (err error) {
			result, err = ingest.Runs(ctx, to, runs, options)
			return err
		})
		return result, false, err
	}
	rules, err := g.rules()
	if err != nil || len(runs) == 0 {
		return result, false, err
	}
	to, err := g.history().target(ctx, rules)
	if err != nil {
		return result, false, err
	}
	result, err = ingest.Runs(ctx, to, runs, options)
	rejected, err = closed(to.Store, err)
	if errors.Is(err, context.Canceled) {
		g.log.Info(fmt.Sprintf("note: %d of %s were read, and are stored; the same command stores the rest",
			len(result.Stored), unit.Plural(len(runs), "run")))
	}
	return result, rejected, err
}

// toFile writes the documents that write stores into its target to a file, as NDJSON.
func (e *env) toFile(name string, write func(to ingest.Target) error) error {
	return e.writeOutput(name, func(w io.Writer) error { return write(ingest.Target{Sink: ndjson.New(w, e.cfg.Prefix)}) })
}
