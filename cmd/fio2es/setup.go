package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/setup"
	"github.com/fio2es/fio2es/internal/term"
)

func (a *app) setupCommand() *cobra.Command {
	dryRun, print := false, false
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Prepare an Elasticsearch cluster for the history, and Kibana to show it",
		Long: `Installs the index templates and the lifecycle policy that the history needs, and
updates those of an older version. It refuses to replace what a newer version of
fio2es or somebody else installed. Data stays. Run it before the first ingest into
a cluster.

With --kibana it also imports the dashboards into Kibana 8.3 or later, in place of
those of an older version; copies under other names stay. With --kibana alone it
does not touch the cluster. Kibana gets the credentials of the cluster, unless it
has its own (kibana.api_key and the like).

--dry-run shows what would be done to the cluster and to Kibana. --print shows all
requests that setup can send to a cluster, without connecting to one. Both are for
Kibana's console. docs/elasticsearch.md and docs/kibana.md list the privileges that
setup needs.`,
		Example: `  fio2es setup --elasticsearch https://es.example.com:9200 --ca ca.crt
  fio2es setup --kibana https://kibana.example.com:5601 --kibana-space lab
  fio2es setup --print | less`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case print:
				plan, err := setup.Offline(a.cfg.Templates())
				if err != nil {
					return usageError{err}
				}
				return plan.Print(a.stdout)
			case !a.cfg.Elasticsearch.Enabled() && !a.cfg.Kibana.Enabled():
				return usagef("no cluster and no Kibana: give --elasticsearch URL or --kibana URL, or set elasticsearch.addresses or kibana.url")
			}
			return a.setup(cmd.Context(), dryRun)
		},
	}
	addClusterFlags(cmd.Flags())
	addKibanaFlags(cmd.Flags())
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "show what would be done, and change nothing")
	cmd.Flags().BoolVar(&print, "print", false, "show all requests, without a connection")
	return cmd
}

// setup prepares what the settings name. It changes nothing before both have answered.
func (a *app) setup(ctx context.Context, dryRun bool) error {
	var dashboards *dashboards
	if a.cfg.Kibana.Enabled() {
		d, err := a.openKibana(ctx)
		if err != nil {
			return err
		}
		defer d.close()
		dashboards = d
	}
	if a.cfg.Elasticsearch.Enabled() {
		if err := a.setupCluster(ctx, dryRun); err != nil {
			return err
		}
	}
	switch {
	case dashboards == nil:
		return nil
	case dryRun:
		return dashboards.print(ctx, a.stdout)
	}
	return dashboards.install(ctx, a.stdout)
}

func (a *app) setupCluster(ctx context.Context, dryRun bool) error {
	client, err := a.connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	plan, err := setup.Prepare(ctx, client, a.cfg.Templates())
	if err != nil {
		return err
	}
	if dryRun {
		if err := plan.Print(a.stdout); err != nil {
			return err
		}
		return plan.Err()
	}
	if err := plan.Apply(ctx, client); err != nil {
		return err
	}
	for _, step := range plan.Steps {
		if err := term.Line(a.stdout, "%s", step); err != nil {
			return err
		}
	}
	return nil
}
