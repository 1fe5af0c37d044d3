package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
)

func (a *app) checkCommand() *cobra.Command {
	repair := false
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Verify that the history is complete and can be read",
		Long: `Reads all of the history: the file itself (the embedded one), every document, how
many documents each run has against how many it should have, and documents that an
interrupted ingest left. It prints what is wrong and what to do.

--repair removes documents that cannot be read and those that belong to no run, makes
dashboards show what an interrupted ingest left out, and names the runs whose files are
to be ingested again. No ingest may run meanwhile.

Exit codes: 0 all well, or repaired; 3 something is left to do.`,
		Example: `  fio2es check
  fio2es check --repair
  fio2es check --elasticsearch https://es.example.com:9200`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.checkHistory(cmd.Context(), repair) },
	}
	addClusterFlags(cmd.Flags())
	cmd.Flags().BoolVar(&repair, "repair", false, "remove what cannot be read and what belongs to no run")
	return cmd
}

func (a *app) checkHistory(ctx context.Context, repair bool) error {
	store, closeStore, err := a.openToCheck(ctx, repair)
	if err != nil {
		return err
	}
	defer closeStore()
	found, left := 0, 0
	checked, err := history.Check(ctx, store, repair, func(f history.Finding) {
		text := f.Problem
		if f.Run != "" {
			text = "run " + f.Run + ": " + text
		}
		if found++; f.Remedy != "" {
			text += ": " + f.Remedy
			left++
		}
		fmt.Fprintln(a.stdout, text)
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s: %s with %s; %s\n", a.historyName(), unit.Plural(checked.Runs, "run"), unit.Plural(checked.Documents, "document"), unit.Plural(found, "problem"))
	if left > 0 {
		return errLeftOut
	}
	return nil
}

// openToCheck opens the history for reading, or to repair it.
func (a *app) openToCheck(ctx context.Context, repair bool) (history.Store, func() error, error) {
	store, closeStore, err := a.openHistory(ctx) // a missing one is not created
	if err != nil || !repair {
		return store, closeStore, err
	}
	if err := closeStore(); err != nil {
		return nil, nil, err
	}
	if a.cfg.Elasticsearch.Enabled() {
		cluster, closeCluster, err := a.openCluster(ctx)
		return cluster, closeCluster, err
	}
	embedded, err := a.openEmbedded(ctx)
	if err != nil {
		return nil, nil, err
	}
	return embedded, embedded.Close, nil
}
