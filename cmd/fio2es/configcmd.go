package main

import (
	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/fio2es/fio2es/config"
)

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Show the settings that hold, as a fio2es.yaml",
		Long: `Shows the settings that hold: a flag, else FIO2ES_* in the environment, else
fio2es.yaml, else the default. The output is a fio2es.yaml.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			enc := yaml.NewEncoder(a.stdout)
			enc.SetIndent(2)
			if err := enc.Encode(config.Settings(a.cfg)); err != nil {
				return err
			}
			return enc.Close()
		},
	}
	addReadingFlags(cmd.Flags())
	addClusterFlags(cmd.Flags())
	addKibanaFlags(cmd.Flags())
	return cmd
}
