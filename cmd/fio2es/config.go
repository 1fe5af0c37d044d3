package main

import (
	"bytes"
	"os"
	"path/filepath"

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

Two files are read: fio2es.yaml in the user's configuration folder
(` + shortHome(ownSettings()) + `), which may set everything, and fio2es.yaml in the
current folder, which wins, but may set only how runs are analysed: source,
interval, precision, weighting, inflight, tolerance, align, levels, archive,
labels, start, offset, jobs, sla. An unpacked archive may have such a file, so
addresses, credentials and files are refused there. A file given with --config
or FIO2ES_CONFIG is read in place of both, and may set everything.`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			var text bytes.Buffer // the encoder does not return the errors of stdout
			enc := yaml.NewEncoder(&text)
			enc.SetIndent(2)
			settings, err := annotated(config.Settings(e.cfg), e.cfg.Origins)
			if err != nil {
				return err
			}
			if err := enc.Encode(settings); err != nil {
				return err
			}
			if err := enc.Close(); err != nil {
				return err
			}
			_, err = e.stdout.Write(text.Bytes())
			return err
		},
	}
	addReadingFlags(cmd.Flags())
	addLevelsFlag(cmd.Flags())
	addClusterFlags(cmd.Flags())
	addKibanaFlags(cmd.Flags())
	return cmd
}

// ownSettings is the settings file in the user's configuration folder.
func ownSettings() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return "fio2es/fio2es.yaml"
	}
	return filepath.Join(dir, "fio2es", "fio2es.yaml")
}

// annotated are settings as YAML, with comments that say where they were taken from.
func annotated(settings map[string]any, origins map[string]string) (*yaml.Node, error) {
	var root yaml.Node
	if err := root.Encode(settings); err != nil {
		return nil, err
	}
	annotate(&root, "", origins)
	return &root, nil
}

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
