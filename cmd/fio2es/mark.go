package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/history/elastic"
	"github.com/fio2es/fio2es/internal/tidy"
	"github.com/fio2es/fio2es/internal/unit"
)

// markTrend finds the changes in all workloads, and stores each with the first run after it.
func markTrend(cmd *cobra.Command, e *env) error {
	for _, name := range []string{"where", "metrics", "least", "all", "fail-last", "format"} {
		if cmd.Flags().Changed(name) {
			return usagef("--%s: --mark stores the changes in all runs, and prints none: leave out --%s", name, name)
		}
	}
	ctx := cmd.Context()
	if !e.cfg.Elasticsearch.Enabled() {
		return usagef("--mark is for a cluster, whose changes Kibana shows (--elasticsearch URL); serve finds those of the embedded history itself")
	}
	store, err := e.history().cluster(ctx)
	if err != nil {
		return err
	}
	m, err := tidy.Mark(ctx, store)
	for _, one := range m.Skipped {
		e.log.Warn(one.Error())
	}
	leftOut, err := closed(store, err)
	if err == nil {
		fmt.Fprintf(e.stderr, "%s in %s; %s\n", unit.Plural(m.Changes, "change"), unit.Plural(m.Runs, "run"), unit.Plural(m.Updated, "run")+" marked differently than before")
	}
	return leftOutIf(err, leftOut || len(m.Skipped) > 0)
}

// markNews finds the changes again if runs were stored or removed. Otherwise Kibana would show outdated changes.
func (h histories) markNews(ctx context.Context, store *elastic.Store) error {
	if ctx.Err() != nil || !store.News() {
		return nil
	}
	m, err := tidy.Mark(ctx, store)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, history.ErrNoIndex):
		return nil // there is no index yet, because every run was refused
	case err != nil:
		h.log.Warn(fmt.Sprintf("runs are stored, but changes are not marked for Kibana; fio2es trend --mark does that: %v", err))
		return errLeftOut
	}
	h.log.Debug("marked changes", "changes", m.Changes, "runs", m.Runs, "updated", m.Updated)
	return nil
}
