package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/fio2es/fio2es/internal/es"
	"github.com/fio2es/fio2es/internal/term"
	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/mapping"
)

// addKibanaFlags adds the settings of the connection to Kibana.
func addKibanaFlags(f *pflag.FlagSet) {
	f.String("kibana", "", "URL of the Kibana to import the dashboards into, with its base path if it has one")
	f.String("kibana-space", "", "identifier of the space in Kibana (default the default one)")
	f.String("kibana-ca", "", "PEM file of the authorities to trust for Kibana's https")
}

func (a *app) kibanaCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "kibana", Short: "Export the dashboards for Kibana",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.kibanaExportCommand())
	return cmd
}

func (a *app) kibanaExportCommand() *cobra.Command {
	output, space := "-", ""
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write the dashboards as a file that Kibana imports",
		Long: `Writes all dashboards, panels and data views as one NDJSON file, for Kibana 8.3 or
later: Stack Management, Saved Objects, Import, with "Automatically overwrite
conflicts". "fio2es setup --kibana URL" imports the same objects.

A file is for one space, because its ids and links have the identifier of the
space in them. In another space Kibana changes the ids, and links lead nowhere.`,
		Example: `  fio2es kibana export --output dashboards.ndjson
  fio2es kibana export --space lab --prefix lab > lab.ndjson`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !cmd.Flags().Changed("space") {
				space = a.cfg.Kibana.Space
			}
			bundle, err := kibana.New(kibana.Options{Prefix: a.cfg.Prefix, Space: space})
			if err != nil {
				return usageError{err}
			}
			if output == "-" {
				return bundle.WriteNDJSON(a.stdout)
			}
			return writeFile(output, bundle.WriteNDJSON)
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", output, "file to write; - is stdout")
	cmd.Flags().StringVar(&space, "space", "", "identifier of the space (default the default one)")
	cmd.Flags().String("prefix", mapping.DefaultPrefix, "index name prefix")
	return cmd
}

// dashboards are the objects and the Kibana to import them into.
type dashboards struct {
	bundle    *kibana.Bundle
	client    *kibana.Client
	transport *es.Client
}

// openKibana connects to the Kibana of the settings, and checks that it is new enough and has the space.
func (a *app) openKibana(ctx context.Context) (*dashboards, error) {
	bundle, err := kibana.New(kibana.Options{Prefix: a.cfg.Prefix, Space: a.cfg.Kibana.Space})
	if err != nil {
		return nil, usageError{err}
	}
	cfg, err := a.cfg.KibanaClient()
	if err != nil {
		return nil, usageError{err}
	}
	cfg.Service, cfg.Waiting, cfg.Dial = "Kibana", a.logWait, a.dial
	transport, err := es.New(cfg)
	if err != nil {
		return nil, usageError{err}
	}
	d := &dashboards{bundle, kibana.NewClient(transport), transport}
	version, err := d.client.Check(ctx)
	if err == nil {
		err = d.client.CheckSpace(ctx, bundle.Space)
	}
	if err != nil {
		d.close()
		return nil, err
	}
	a.log.Debug("connected", "kibana", transport.String(), "version", version)
	return d, nil
}

func (d *dashboards) close() { d.transport.Close() }

// print shows what install does.
func (d *dashboards) print(ctx context.Context, w io.Writer) error {
	missing, err := d.client.Missing(ctx, d.bundle)
	if err != nil {
		return err
	}
	for _, o := range d.bundle.Objects {
		action := "replace"
		if slices.ContainsFunc(missing, func(m kibana.Object) bool { return m.Type == o.Type && m.ID == o.ID }) {
			action = "create"
		}
		if _, err := fmt.Fprintf(w, "# %s %s %s in Kibana: %s\n", action, o.Type, o.ID, o.Title()); err != nil {
			return err
		}
	}
	return nil
}

// install imports all objects, and prints the addresses of the dashboards.
func (d *dashboards) install(ctx context.Context, w io.Writer) error {
	if err := d.client.Import(ctx, d.bundle); err != nil {
		return err
	}
	address := strings.TrimRight(d.transport.String(), "/")
	if d.bundle.Space != "" && d.bundle.Space != kibana.DefaultSpace {
		address += "/s/" + d.bundle.Space
	}
	if _, err := fmt.Fprintf(w, "import %d saved objects into Kibana\n", len(d.bundle.Objects)); err != nil {
		return err
	}
	for _, o := range d.bundle.Objects {
		if o.Type != "dashboard" {
			continue
		}
		if err := term.Line(w, "dashboard %q: %s/app/dashboards#/view/%s", o.Title(), address, o.ID); err != nil {
			return err
		}
	}
	return nil
}
