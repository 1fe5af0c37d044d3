package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// settingsTopic is the help on flags that many commands share: fio2es help settings.
func settingsTopic(*env) *cobra.Command {
	var b strings.Builder
	b.WriteString(`A setting is a flag, else FIO2ES_* in the environment, else an entry of fio2es.yaml, else its default. ` +
		`"fio2es config" shows the effective ones, their names and where each is from; "fio2es config --help" says which files are read.

Passwords and keys are no flags, because other users of a machine can see these. docs/elasticsearch.md lists their settings.`)
	for _, part := range []struct {
		heading string
		add     func(*pflag.FlagSet)
	}{
		{"How logs are read", func(f *pflag.FlagSet) { addReadingFlags(f) }},
		{"Elasticsearch", addClusterFlags}, {"Kibana", addKibanaFlags}, {"Every command", addGlobalFlags},
	} {
		flags := pflag.NewFlagSet("", pflag.ContinueOnError)
		part.add(flags)
		var list []*pflag.Flag
		flags.VisitAll(func(f *pflag.Flag) { list = append(list, f) })
		fmt.Fprintf(&b, "\n\n%s:\n%s", part.heading, strings.TrimRight(flagLines(list), "\n"))
	}
	return &cobra.Command{Use: "settings", Short: "Settings that many commands share", Long: b.String()}
}
