package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/history"
	"github.com/fio2es/fio2es/internal/unit"
)

func checkCommand(e *env) *cobra.Command {
	repair := false
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Verify that the history is complete and can be read",
		Long: `Reads all of the history, and prints what is wrong and what to do: the file of the
embedded history is damaged, a document cannot be read, a run lacks documents, lists
show a run otherwise than its document is, or an ingest was interrupted.

--repair removes run documents that cannot be read, and documents that belong to no run.
It finishes interrupted replacements, and names the runs whose files you have to ingest
again.
No ingest may run meanwhile.

Exit codes: 0 all well, or repaired; 3 there is something for you to do.`,
		Example: `  fio2es check
  fio2es check --repair
  fio2es check --elasticsearch https://es.example.com:9200`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			store, err := e.toChange(cmd.Context(), repair)
			if err != nil {
				return err
			}
			defer store.Close()
			found, left := 0, 0
			checked, err := history.Check(cmd.Context(), store, repair, func(f history.Finding) {
				text := f.Problem
				if f.Run != "" {
					text = "run " + f.Run + ": " + text
				}
				if found++; f.Remedy != "" {
					text += ": " + f.Remedy
					left++
				}
				fmt.Fprintln(e.stdout, text)
			})
			if err != nil {
				return err
			}
			e.leftOut = left > 0
			fmt.Fprintf(e.stdout, "%s: %s with %s; %s\n", e.historyName(), unit.Plural(checked.Runs, "run"), unit.Plural(checked.Documents, "document"), unit.Plural(found, "problem"))
			return nil
		},
	}
	addSettings(cmd.Flags(), "cluster")
	cmd.Flags().BoolVar(&repair, "repair", false, "remove run documents that cannot be read, and documents of no run")
	return cmd
}
