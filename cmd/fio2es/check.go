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
many documents each run has and how many it should have, and documents of
interrupted ingests. It prints what is wrong and what to do.

--repair removes documents that cannot be read or belong to no run, finishes
interrupted replacements, and names the runs whose files you have to ingest again.
No ingest may run meanwhile.

Exit codes: 0 all well, or repaired; 3 there is something for you to do.`,
		Example: `  fio2es check
  fio2es check --repair
  fio2es check --elasticsearch https://es.example.com:9200`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.checkHistory(cmd.Context(), repair) },
	}
	addClusterFlags(cmd.Flags())
	cmd.Flags().BoolVar(&repair, "repair", false, "remove documents that cannot be read or belong to no run")
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

// openToCheck opens the history for reading, or to repair it. It creates nothing.
func (a *app) openToCheck(ctx context.Context, repair bool) (history.Store, func() error, error) {
	if !repair || !a.historyExists() {
		return a.openHistory(ctx)
	}
	if a.cfg.Elasticsearch.Enabled() {
		return a.openCluster(ctx)
	}
	store, err := a.openEmbedded(ctx)
	return store, store.Close, err
}
