package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/fio2es/fio2es/config"
	"github.com/fio2es/fio2es/internal/term"
)

func configCommand(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use: "config", Short: "Show the effective settings, as a fio2es.yaml",
		Long: `Shows the effective settings: a flag, else FIO2ES_* in the environment, else
fio2es.yaml, else the default. The output is a fio2es.yaml. A comment says where
each setting that is not the default was taken from.

Two files are read. fio2es.yaml in the user's configuration folder
(` + shortHome(cmp.Or(config.OwnFile(), "fio2es/fio2es.yaml")) + `) may set everything. fio2es.yaml in the
current folder has precedence, but an unpacked archive may have such a file. So it
may set only how runs are analysed ("fio2es help settings" lists these settings). A file given with --config or FIO2ES_CONFIG is read in place of both, and may set
everything.`,
		Example: `  fio2es config
  fio2es config | grep '#'                 the settings that are not the default
  fio2es config --config lab.yaml          with the settings of this file`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var text bytes.Buffer // a buffer, because the encoder does not return errors of stdout
			enc := yaml.NewEncoder(&text)
			enc.SetIndent(2)
			var settings yaml.Node
			if err := settings.Encode(config.Settings(e.cfg)); err != nil {
				return err
			}
			annotate(&settings, "", e.cfg.Origins)
			if err := errors.Join(enc.Encode(&settings), enc.Close()); err != nil {
				return err
			}
			_, err := e.stdout.Write(text.Bytes())
			return err
		},
	}
	fl := cmd.Flags()
	addSettings(fl, "reading", "archive", "labels", "levels", "cluster", "kibana")
	return cmd
}

// annotate adds comments that say where settings come from. prefix is that of the section.
func annotate(section *yaml.Node, prefix string, origins map[string]string) {
	for i := 0; i+1 < len(section.Content); i += 2 {
		key, value := section.Content[i], section.Content[i+1]
		where := term.Clean(origins[prefix+key.Value])
		switch {
		case where != "" && value.Kind == yaml.ScalarNode:
			value.LineComment = where
		case where != "":
			key.HeadComment = where
		case value.Kind == yaml.MappingNode && prefix == "":
			annotate(value, key.Value+".", origins)
		}
	}
}

func versionCommand(e *env) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version, the commit and its date",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(e.stdout, "fio2es "+cmd.Root().Version)
			return err
		},
	}
}
