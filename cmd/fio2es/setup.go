package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/setup"
)

func (a *app) setupCommand() *cobra.Command {
	dryRun, print := false, false
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Prepare an Elasticsearch cluster for the history",
		Long: `Installs the index templates and the lifecycle policy that the history needs, and
brings those of an older version up to date. What is there already stays; what a
newer version of fio2es or somebody else has installed is refused. Ingest writes
only where setup has been.

--dry-run shows what would be done to the cluster, --print all that setup ever
sends, without asking a cluster: both for Kibana's console. docs/elasticsearch.md
has the privileges that it takes.`,
		Example: `  fio2es setup --elasticsearch https://es.example.com:9200 --ca ca.crt
  fio2es setup --print | less`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if print {
				plan, err := setup.Offline(a.cfg.Templates())
				if err != nil {
					return usageError{err}
				}
				return plan.Print(a.stdout)
			}
			if !a.cfg.Elasticsearch.Enabled() {
				return usagef("no cluster is named: say --elasticsearch URL, or set elasticsearch.addresses")
			}
			client, err := a.connect(cmd.Context())
			if err != nil {
				return err
			}
			defer client.Close()
			plan, err := setup.Prepare(cmd.Context(), client, a.cfg.Templates())
			if err != nil {
				return err
			}
			if dryRun {
				if err := plan.Print(a.stdout); err != nil {
					return err
				}
				return plan.Err()
			}
			if err := plan.Apply(cmd.Context(), client); err != nil {
				return err
			}
			for _, step := range plan.Steps {
				if _, err := fmt.Fprintln(a.stdout, step); err != nil {
					return err
				}
			}
			return nil
		},
	}
	addClusterFlags(cmd.Flags())
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be done, and do nothing")
	cmd.Flags().BoolVar(&print, "print", false, "show all requests, without a cluster")
	return cmd
}
