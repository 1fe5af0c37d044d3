package main

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/setup"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/mapping"
)

func setupCommand(e *env) *cobra.Command {
	dryRun, print := false, false
	cmd := &cobra.Command{
		Use:   "setup",
		Short: "Prepare a cluster for the history, and Kibana to show it",
		Long: `Installs the index templates and the lifecycle policy that the history needs, and
updates those of an older version. It refuses to replace what a newer version of
fio2es or somebody else installed. Data stays. Run it before the first ingest into
a cluster.

With --kibana it also imports the dashboards into Kibana 8.3 or later, if they are
missing or of an older version; copies under other names stay. With --kibana alone it
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
				plan, err := setup.Offline(e.cfg.Templates())
				if err != nil {
					return usageError{Err: err}
				}
				return plan.Print(e.stdout)
			case !e.cfg.Elasticsearch.Enabled() && !e.cfg.Kibana.Enabled():
				return usagef("no cluster and no Kibana: give --elasticsearch URL or --kibana URL, or set elasticsearch.addresses or kibana.url")
			}
			return setUp(cmd.Context(), e, dryRun)
		},
	}
	fl := cmd.Flags()
	addSettings(fl, "cluster", "kibana")
	fl.BoolVar(&dryRun, "dry-run", false, "show what would be done, and change nothing")
	fl.BoolVar(&print, "print", false, "show all requests, without a connection")
	return cmd
}

// setUp prepares the cluster and the Kibana in the settings. It changes nothing before both have answered.
func setUp(ctx context.Context, e *env, dryRun bool) error {
	finish := func(context.Context) error { return nil }
	if e.cfg.Kibana.Enabled() {
		bundle, err := kibana.New(kibana.Options{Prefix: e.cfg.Prefix, Space: e.cfg.Kibana.Space})
		if err != nil {
			return usageError{Err: err}
		}
		cfg, err := e.cfg.KibanaClient()
		if err != nil {
			return usageError{Err: err}
		}
		cfg.Service, cfg.Waiting, cfg.Dial = "Kibana", e.logWait, e.dial
		transport, err := es.New(cfg)
		if err != nil {
			return usageError{Err: err}
		}
		defer transport.Close()
		client := kibana.NewClient(transport)
		version, err := client.Check(ctx)
		if err == nil {
			err = client.CheckSpace(ctx, bundle.Space)
		}
		if err != nil {
			return err
		}
		e.log.Debug("connected", "kibana", transport.String(), "version", version)
		plan, err := client.Prepare(ctx, bundle)
		if err != nil {
			return err
		}
		finish = func(ctx context.Context) error {
			if dryRun {
				return plan.Print(e.stdout)
			}
			return plan.Apply(ctx, e.stdout)
		}
	}
	if !e.cfg.Elasticsearch.Enabled() {
		return finish(ctx)
	}
	client, server, err := e.connect(ctx)
	if err != nil {
		return err
	}
	defer client.Close()
	opt := e.cfg.Templates()
	opt.CompressedDocValues = setup.HasCompressedDocValues(server.Version)
	plan, err := setup.Prepare(ctx, client, opt)
	if err != nil {
		return err
	}
	if dryRun {
		err = errors.Join(plan.Print(e.stdout), plan.Err())
	} else if err = plan.Apply(ctx, client); err == nil {
		for _, step := range plan.Steps {
			term.Line(e.stdout, "%s", step)
		}
	}
	if err != nil {
		return err
	}
	return finish(ctx)
}

func kibanaCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "kibana COMMAND", Short: "Export the dashboards for Kibana",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	output, space, asPackage := "-", "", false
	export := &cobra.Command{
		Use:   "export",
		Short: "Write the dashboards as a file that Kibana imports",
		Long: `Writes all dashboards, panels and data views as one NDJSON file, for Kibana 8.3 or
later: Stack Management, Saved Objects, Import, with "Automatically overwrite
conflicts". "fio2es setup --kibana URL" imports the same objects.

A file is for one space, because its ids and links have the identifier of the
space in them. In another space Kibana changes the ids, and links lead nowhere.

--package writes an integration package (zip) in place of it, for Kibana's Fleet.
It has the dashboards alone: "fio2es setup --elasticsearch" installs the templates.`,
		Example: `  fio2es kibana export --output dashboards.ndjson
  fio2es kibana export --package --output fio2es.zip
  fio2es kibana export --space lab --prefix lab > lab.ndjson`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("space") {
				space = e.cfg.Kibana.Space
			}
			bundle, err := kibana.New(kibana.Options{Prefix: e.cfg.Prefix, Space: space})
			if err != nil {
				return usageError{Err: err}
			}
			if asPackage && e.cfg.Prefix != mapping.DefaultPrefix {
				return usagef("--package: its objects are for the prefix %s alone", mapping.DefaultPrefix)
			}
			return e.writeOutput(output, func(w io.Writer) error {
				if asPackage {
					return bundle.WritePackage(w, release)
				}
				return bundle.WriteNDJSON(w)
			})
		},
	}
	fl := export.Flags()
	fl.StringVarP(&output, "output", "o", output, "`file` to write; - is stdout")
	fl.BoolVar(&asPackage, "package", false, "write an integration package (zip) in place of NDJSON")
	fl.StringVar(&space, "space", "", "`space`, by its identifier (default the default one)")
	fl.String("prefix", mapping.DefaultPrefix, "index name `prefix`")
	cmd.AddCommand(export)
	return cmd
}
