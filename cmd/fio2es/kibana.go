package main

import (
	"github.com/spf13/cobra"

	"github.com/fio2es/fio2es/kibana"
	"github.com/fio2es/fio2es/mapping"
)

func kibanaCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "kibana COMMAND", Short: "Export the dashboards for Kibana",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(kibanaExportCommand(e))
	return cmd
}

func kibanaExportCommand(e *env) *cobra.Command {
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
				space = e.cfg.Kibana.Space
			}
			bundle, err := kibana.New(kibana.Options{Prefix: e.cfg.Prefix, Space: space})
			if err != nil {
				return usageError{Err: err}
			}
			return e.writeOutput(output, bundle.WriteNDJSON)
		},
	}
	fl := cmd.Flags()
	fl.StringVarP(&output, "output", "o", output, "`file` to write; - is stdout")
	fl.StringVar(&space, "space", "", "`space`, by its identifier (default the default one)")
	fl.String("prefix", mapping.DefaultPrefix, "index name `prefix`")
	return cmd
}
